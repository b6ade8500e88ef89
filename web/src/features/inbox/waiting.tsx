import { useQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import type { Order } from "@/api/client";
import { approvalsQuery, diffQuery, evidenceQuery, stepsQuery } from "@/api/queries";
import { Skeleton, SkeletonRows } from "@/components/feedback";
import { Prose } from "@/components/prose";
import { Button } from "@/components/ui/button";
import { ApprovalBox } from "@/features/order/approval";
import { lazyWithRetry } from "@/lib/lazy";

const DiffView = lazyWithRetry(() => import("@/components/diff/diff-view"));

/** An approval with its context: the plan, the evidence and the changes so far. */
export function Waiting({ order }: { order: Order }) {
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
      {approvals.isLoading && <Skeleton className="h-[118px]" />}
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
            <p className="text-muted-foreground">{shown?.summary ?? "Not checked yet."}</p>
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
  if (!reasoning && !subtasks.length) return <p className="text-muted-foreground">No plan.</p>;
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
