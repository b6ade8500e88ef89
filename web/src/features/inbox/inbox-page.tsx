import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  Bell,
  BellOff,
  Check,
  CircleX,
  GitPullRequest,
  Hand,
  Inbox,
  type LucideIcon,
  Wallet,
} from "lucide-react";
import { Suspense, useState } from "react";
import type { Order } from "@/api/client";
import { approvalsQuery, diffQuery, evidenceQuery, stepsQuery } from "@/api/queries";
import { Empty, SkeletonRows } from "@/components/feedback";
import { ForgeLink } from "@/components/forge-link";
import { Card, Page } from "@/components/page";
import { Prose } from "@/components/prose";
import { Button } from "@/components/ui/button";
import { toast } from "@/components/ui/toast";
import { ApprovalBox } from "@/features/order/approval";
import { cn } from "@/lib/cn";
import { ago, repositoryName } from "@/lib/format";
import { useNow } from "@/lib/now";
import { patient } from "@/lib/patient";
import { useStored } from "@/lib/stored";
import { type Entry, type Reason, useInbox } from "./use-inbox";
import { askForNotices, REASONS } from "./use-notices";

const DiffView = patient(() => import("@/components/diff/diff-view"));

const SIGNS: Record<Reason, { icon: LucideIcon; look: string }> = {
  approval: { icon: Hand, look: "text-warning" },
  budget: { icon: Wallet, look: "text-warning" },
  failure: { icon: CircleX, look: "text-destructive" },
  review: { icon: GitPullRequest, look: "text-success" },
};
const ORDER: Reason[] = ["approval", "budget", "failure", "review"];

export function InboxPage() {
  const { entries, isLoading, putAway } = useInbox();
  return (
    <Page title="Inbox" note="What waits for you" actions={<NoticeSwitch />}>
      {isLoading && !entries.length && <SkeletonRows rows={3} />}
      {!isLoading && !entries.length && (
        <Card>
          <Empty icon={Inbox} title="Nothing waits for you">
            Approvals, failures and pull requests that are ready stand here.
          </Empty>
        </Card>
      )}
      {ORDER.map((reason) => {
        const group = entries.filter((entry) => entry.reason === reason);
        if (!group.length) return null;
        return (
          <section key={reason} className="mb-8">
            <h2 className="mb-2 text-xs font-medium tracking-wide text-muted-foreground uppercase">
              {REASONS[reason]}
            </h2>
            <div className="flex flex-col gap-2">
              {group.map((entry) => (
                <EntryView
                  key={entry.order.agent_work_order_id}
                  entry={entry}
                  onAway={() => putAway(entry.order)}
                />
              ))}
            </div>
          </section>
        );
      })}
    </Page>
  );
}

function NoticeSwitch() {
  const [wanted, setWanted] = useStored("notices", false);
  const turnOn = async () => {
    const allowed = await askForNotices();
    setWanted(allowed);
    if (!allowed) toast("The browser does not allow notices", "Allow them for this address in its settings.");
  };
  return (
    <Button size="sm" aria-pressed={wanted} onClick={() => (wanted ? setWanted(false) : void turnOn())}>
      {wanted ? <Bell /> : <BellOff />} {wanted ? "Notices on" : "Notify me"}
    </Button>
  );
}

function EntryView({ entry: { order, reason }, onAway }: { entry: Entry; onAway: () => void }) {
  const { icon: Icon, look } = SIGNS[reason];
  const now = useNow();
  return (
    <Card className="p-4">
      <div className="flex items-start gap-3">
        <Icon aria-hidden className={cn("mt-0.5 size-4 shrink-0", look)} />
        <div className="min-w-0 flex-1">
          <Link
            to="/orders/$id"
            params={{ id: order.agent_work_order_id }}
            data-row
            className="font-medium hover:underline"
          >
            {order.title}
          </Link>
          <p className="text-xs text-muted-foreground">
            {repositoryName(order.repository_url)} · {ago(order.updated_at, now)}
          </p>
          {order.error_message && reason !== "approval" && (
            <p className="mt-1 text-[13px] break-words text-muted-foreground">
              {order.error_message}
              {order.error_hint && <span className="block">{order.error_hint}</span>}
            </p>
          )}
          {reason === "review" && order.github_pull_request_url && (
            <p className="mt-1 text-[13px]">
              <ForgeLink url={order.github_pull_request_url}>Open the pull request</ForgeLink>
              <span className="ml-2 text-muted-foreground">verification: {order.verification}</span>
            </p>
          )}
        </div>
        {reason !== "approval" && (
          <Button size="sm" look="quiet" onClick={onAway}>
            <Check /> Done <span className="sr-only">with {order.title}</span>
          </Button>
        )}
      </div>
      {reason === "approval" && <Waiting order={order} />}
    </Card>
  );
}

/** What a decision rests on, side by side: the plan, what was shown, and what changed so far. */
function Waiting({ order }: { order: Order }) {
  const id = order.agent_work_order_id;
  const [open, setOpen] = useState(false);
  const approvals = useQuery(approvalsQuery(id));
  const steps = useQuery({ ...stepsQuery(id), enabled: open });
  const evidence = useQuery({ ...evidenceQuery(id), enabled: open });
  const diff = useQuery({ ...diffQuery(id), enabled: open });
  const waiting = approvals.data?.approvals.filter(({ decision }) => decision === "waiting") ?? [];
  const plan = steps.data?.steps.findLast((step) => step.kind === "plan")?.output;
  const shown = evidence.data?.evidence.at(-1);
  return (
    <div className="mt-3 flex flex-col gap-3">
      {waiting.map(({ step, commit_sha }) => (
        <ApprovalBox key={step} id={id} step={step} commitSha={commit_sha} />
      ))}
      <Button
        size="sm"
        look="quiet"
        className="self-start"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {open ? "Hide" : "Show"} plan, evidence and changes
      </Button>
      {open && (
        <div className="grid gap-4 lg:grid-cols-2">
          <div className="text-[13px]">
            <h3 className="mb-1 font-medium">Plan</h3>
            <PlanOutput output={plan ?? null} />
            <h3 className="mt-4 mb-1 font-medium">Evidence</h3>
            <p className="text-muted-foreground">{shown?.summary ?? "Nothing was checked yet."}</p>
          </div>
          <div className="min-w-0">
            <h3 className="mb-1 text-[13px] font-medium">Changes</h3>
            <Suspense fallback={<SkeletonRows rows={3} className="h-8" />}>
              {diff.data ? (
                <DiffView patch={diff.data} />
              ) : (
                <p className="text-[13px] text-muted-foreground">No file changed yet.</p>
              )}
            </Suspense>
          </div>
        </div>
      )}
    </div>
  );
}

type Subtask = { title?: string };

function PlanOutput({ output }: { output: Record<string, unknown> | null }) {
  const reasoning = typeof output?.reasoning === "string" ? output.reasoning : "";
  const subtasks = Array.isArray(output?.subtasks) ? (output.subtasks as (Subtask | string)[]) : [];
  if (!reasoning && !subtasks.length) return <p className="text-muted-foreground">There is none.</p>;
  return (
    <>
      <Prose text={reasoning} />
      <ol className="list-decimal pl-5">
        {subtasks.map((subtask, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a plan keep their places
          <li key={index}>{typeof subtask === "string" ? subtask : subtask.title}</li>
        ))}
      </ol>
    </>
  );
}
