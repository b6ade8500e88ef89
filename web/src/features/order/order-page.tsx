import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Order } from "@/api/client";
import { approvalsQuery, orderQuery } from "@/api/queries";
import { Skeleton, Trouble } from "@/components/feedback";
import { Button } from "@/components/ui/button";
import type { Story } from "@/events/story";
import { useStory } from "@/events/use-story";
import { cn } from "@/lib/cn";
import { clock } from "@/lib/format";
import { ApprovalBox } from "./approval";
import { Remedies } from "./failure";
import { Header } from "./header";
import { PromptView } from "./item-view";
import { PanelBar, PanelView } from "./panel";
import { PromptBox } from "./prompt-box";
import { Committing, Starting, stagesOf } from "./starting";
import { Timeline } from "./timeline";

const route = getRouteApi("/orders/$id");

export function OrderPage() {
  const { id } = route.useParams();
  return <OneOrder key={id} id={id} />;
}

function OneOrder({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(orderQuery(id));
  const { story } = useStory(id);
  const { panel } = route.useSearch();
  // Small screens show either the chat or a panel: the one that the address names.
  const [chat, setChat] = useState(!panel);
  const title = data?.agent_work_order.title;
  useEffect(() => {
    if (title) document.title = `${title} · Journeyman`;
  }, [title]);

  if (error && !data) {
    return (
      <>
        <Trouble fault={error} onRetry={() => void refetch()} />
        <Button asChild className="mx-4">
          <Link to="/orders">All orders</Link>
        </Button>
      </>
    );
  }
  if (!data) return <PageSkeleton />;
  const order = data.agent_work_order;
  return (
    <div className="flex h-full flex-col">
      <Header order={order} />
      <div className="flex min-h-0 flex-1 flex-col lg:flex-row">
        <PanelBar className="lg:hidden" current={chat ? "chat" : (panel ?? "plan")} onChat={setChat} />
        <section
          aria-label="Chat"
          className={cn("flex min-h-0 min-w-0 flex-1 flex-col", !chat && "max-lg:hidden")}
        >
          <Timeline
            items={story.items}
            before={
              <div className="pt-4">
                <PromptView prompt={{ text: data.initial_prompt, mode: "work", at: order.created_at }} />
              </div>
            }
            after={<Now order={order} story={story} />}
          />
          <PromptBox order={order} queue={story.queue} />
        </section>
        <aside
          aria-label="Details"
          className={cn(
            "flex min-h-0 flex-col border-l bg-card max-lg:flex-1 lg:w-[44%] lg:max-w-3xl",
            chat && "max-lg:hidden",
          )}
        >
          <PanelBar className="max-lg:hidden" current={panel ?? "plan"} onChat={setChat} />
          <PanelView panel={panel ?? "plan"} answer={data} story={story} />
        </aside>
      </div>
    </div>
  );
}

/** What the order is about just now: how it starts, what it waits for, what helps. */
function Now({ order, story }: { order: Order; story: Story }) {
  const id = order.agent_work_order_id;
  const { data } = useQuery({ ...approvalsQuery(id), enabled: order.status === "awaiting_approval" });
  const waiting = data?.approvals.filter(({ decision }) => decision === "waiting") ?? [];
  const stages = stagesOf(order, story.items);
  return (
    <div className="pb-6">
      {stages.length > 0 && <Starting stages={stages} from={order.created_at} />}
      {order.status === "awaiting_approval" &&
        waiting.map(({ step, commit_sha }) => (
          <div key={`${step} ${commit_sha}`} className="my-3">
            <ApprovalBox id={id} step={step} commitSha={commit_sha} keys={waiting.length === 1} />
          </div>
        ))}
      {order.status === "paused" && order.resume_at && (
        <p className="py-2 text-[13px] text-muted-foreground">
          Goes on by itself at {clock(order.resume_at)}.
        </p>
      )}
      {(order.status === "failed" || (order.status === "paused" && order.error_category)) && (
        <Remedies order={order} />
      )}
      {order.status === "running" && !stages.length && (
        <p className="flex items-center gap-2 py-2 text-xs text-muted-foreground">
          <span aria-hidden className="size-2 animate-pulse rounded-full bg-info" />
          {story.committing ? <Committing since={story.committing} /> : "At work"}
        </p>
      )}
    </div>
  );
}

function PageSkeleton() {
  return (
    <div role="status" aria-label="Loading the order" className="flex h-full flex-col">
      <div className="flex flex-col gap-2 border-b bg-card px-6 py-4">
        <Skeleton className="h-5 w-72" />
        <Skeleton className="h-4 w-96 max-w-full" />
      </div>
      <div className="mx-auto flex w-full max-w-3xl flex-col gap-3 p-6">
        <Skeleton className="ml-auto h-12 w-2/3" />
        <Skeleton className="h-4 w-1/2" />
        <Skeleton className="h-4 w-2/3" />
        <Skeleton className="h-4 w-1/3" />
      </div>
    </div>
  );
}
