/** The current state of an order at the end of its timeline: starting, waiting, failed, or its result. */

import { useQuery } from "@tanstack/react-query";
import type { Order } from "@/api/client";
import { approvalsQuery } from "@/api/queries";
import { runningStep } from "@/events/rows";
import type { Transcript } from "@/events/transcript";
import type { Panel } from "@/router";
import { ApprovalBox } from "./approval";
import { NetworkNotice } from "./network-notice";
import { Remedies } from "./remedies";
import { ResultCard } from "./result-card";
import { Committing, Starting, stagesOf } from "./starting";
import { allows } from "./use-control";
import { hourAndMinute, title } from "./words";

type Props = { order: Order; transcript: Transcript; onOpen: (panel: Panel) => void };

export function Now({ order, transcript, onOpen }: Props) {
  const stages = stagesOf(order, transcript.start);
  return (
    <div className="pb-6">
      {stages.length > 0 && <Starting stages={stages} from={transcript.start.queued ?? order.created_at} />}
      <NetworkNotice id={order.agent_work_order_id} />
      {hasQuestion(order, transcript) && <Approvals order={order} />}
      {order.status === "paused" && order.resume_at && (
        <p className="py-2 text-[13px] text-muted-foreground">
          Resumes automatically at {hourAndMinute(order.resume_at)}.
        </p>
      )}
      {(order.status === "failed" || (order.status === "paused" && order.error_category)) && (
        <Remedies order={order} />
      )}
      {order.status === "completed" && gaveBack(order, transcript) && (
        <ResultCard order={order} onOpen={onOpen} />
      )}
      {order.status === "running" && !stages.length && (
        <p className="flex items-center gap-2 py-2 text-xs text-muted-foreground">
          <span aria-hidden className="size-2 animate-pulse rounded-full bg-info" />
          {transcript.committing ? <Committing since={transcript.committing} /> : doing(transcript)}
        </p>
      )}
    </div>
  );
}

function doing({ items }: Transcript): string {
  const step = runningStep(items);
  if (!step) return "Working";
  return step.attempt > 1 ? `${title(step.step)}, attempt ${step.attempt}` : title(step.step);
}

/** Only work has a result; a question is answered in the timeline. */
const gaveBack = (order: Order, { items }: Transcript) =>
  order.git_commit_count > 0 && items.findLast((item) => item.kind === "prompt")?.mode !== "ask";

/** Other steps may run while one waits for approval. */
const hasQuestion = (order: Order, { items }: Transcript) =>
  allows(order, "approve") &&
  (order.status === "awaiting_approval" ||
    items.some((item) => item.kind === "approval" && item.decision === "waiting"));

function Approvals({ order }: { order: Order }) {
  const id = order.agent_work_order_id;
  const { data } = useQuery(approvalsQuery(id));
  // Only the newest request of each step counts.
  const newest = new Map((data?.approvals ?? []).map((one) => [one.step, one]));
  const waiting = [...newest.values()].filter(({ decision }) => decision === "waiting");
  return waiting.map(({ step, commit_sha }) => (
    <div key={`${step} ${commit_sha}`} className="my-3">
      <ApprovalBox id={id} step={step} commitSha={commit_sha} keys={waiting.length === 1} />
    </div>
  ));
}
