import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { OneOrder, Order } from "@/api/client";
import { orderQuery } from "@/api/queries";
import { ErrorMessage, Skeleton } from "@/components/feedback";
import { Button } from "@/components/ui/button";
import { Resizer } from "@/components/ui/resizer";
import { useTranscript } from "@/events/use-transcript";
import { cn } from "@/lib/cn";
import { useStored } from "@/lib/stored";
import type { Panel } from "@/router";
import { Header } from "./header";
import { PromptView } from "./item-view";
import { Now } from "./now";
import { PanelView } from "./panel";
import { PanelBar } from "./panel-bar";
import { PromptBox } from "./prompt-box";
import { Timeline } from "./timeline";

const route = getRouteApi("/orders/$id");
const PANEL_PERCENT = 44;

export function OrderPage() {
  const { id } = route.useParams();
  return <OneOrderPage key={id} id={id} />;
}

function OneOrderPage({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(orderQuery(id));
  const title = data?.agent_work_order.title;
  useEffect(() => {
    if (title) document.title = `${title} · Journeyman`;
  }, [title]);

  if (error && !data) {
    return (
      <>
        <ErrorMessage fault={error} onRetry={() => void refetch()} />
        <Button asChild className="mx-4">
          <Link to="/orders">All orders</Link>
        </Button>
      </>
    );
  }
  return data ? <Shown id={id} answer={data} /> : <PageSkeleton />;
}

function Shown({ id, answer }: { id: string; answer: OneOrder }) {
  const order = answer.agent_work_order;
  const { transcript } = useTranscript(id);
  const navigate = useNavigate();
  const { panel: chosen } = route.useSearch();
  const panel = chosen ?? panelFor(order);
  // Small screens show either the chat or a panel: the one in the URL.
  const [chat, setChat] = useState(!chosen);
  const [wide, setWide] = useState(false);
  const [percent, setPercent] = useStored("panel", PANEL_PERCENT);
  const open = (next: Panel | "chat") => {
    setChat(next === "chat");
    if (next !== "chat") void navigate({ to: ".", search: { panel: next }, replace: true });
  };
  const bar = { answer, transcript, onOpen: open };
  return (
    <div className="flex h-full flex-col">
      <Header order={order} transcript={transcript} />
      <div
        className="flex min-h-0 flex-1 flex-col lg:flex-row"
        style={{ "--panel": wide ? "100%" : `${percent}%` } as React.CSSProperties}
      >
        <PanelBar {...bar} className="lg:hidden" current={chat ? "chat" : panel} />
        <section
          aria-label="Chat"
          className={cn(
            "flex min-h-0 min-w-0 flex-1 flex-col",
            !chat && "max-lg:hidden",
            wide && "lg:hidden",
          )}
        >
          <Timeline
            id={id}
            items={transcript.items}
            before={
              <div className="pt-4">
                {answer.initial_prompt && (
                  <PromptView prompt={{ text: answer.initial_prompt, mode: "work", at: order.created_at }} />
                )}
              </div>
            }
            after={<Now order={order} transcript={transcript} onOpen={open} />}
          />
          <PromptBox order={order} queue={transcript.queue} />
        </section>
        {!wide && <Resizer label="Width of the panel" value={percent} onChange={setPercent} />}
        <aside
          aria-label="Details"
          className={cn(
            "flex min-h-0 min-w-0 flex-col bg-card max-lg:flex-1 lg:w-(--panel)",
            chat && "max-lg:hidden",
          )}
        >
          <PanelBar {...bar} className="max-lg:hidden" current={panel} wide={wide} onWide={setWide} />
          <PanelView panel={panel} answer={answer} transcript={transcript} />
        </aside>
      </div>
    </div>
  );
}

/** The default panel: the plan, and the changes once the order is completed. */
const panelFor = (order: Order): Panel =>
  order.status === "completed" && order.git_commit_count > 0 ? "changes" : "plan";

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
