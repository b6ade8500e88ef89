/** Active time of an order, and the progress of its newest start. */

import type { EventMessage } from "@/api/client";
import { secondsBetween } from "@/lib/format";

export type Work = {
  /** Active time of intervals that are over. */
  seconds: number;
  /** Since when it is active; null while it is not. */
  since: string | null;
};
/** The times of the newest start, each null until it is reached. */
export type Start = {
  queued: string | null;
  started: string | null;
  fetched: string | null;
  active: boolean;
};

export const RESTED: Work = { seconds: 0, since: null };
export const NO_START: Start = { queued: null, started: null, fetched: null, active: false };

const RESTS = new Set<EventMessage["type"]>([
  "agent_work_order_completed",
  "agent_work_order_failed",
  "agent_work_order_paused",
  "agent_work_order_cancelled",
  "agent_work_order_awaiting_approval",
  "agent_work_order_requeued",
]);
const QUEUES = new Set<EventMessage["type"]>([
  "agent_work_order_created",
  "agent_work_order_resumed",
  "agent_work_order_retried",
  "agent_work_order_requeued",
  "approval_decided",
]);
const ACTIVE = new Set<EventMessage["type"]>([
  "agent_text",
  "agent_notice",
  "model_call_completed",
  "step_retrying",
  "tool_call_started",
  "verification_attempt_completed",
]);

/** Ends the active interval. */
export const rested = ({ seconds, since }: Work, at: string): Work => ({
  seconds: since ? seconds + secondsBetween(since, at) : seconds,
  since: null,
});

export function workAfter(work: Work, event: EventMessage): Work {
  if (event.type === "agent_work_order_started")
    return { ...rested(work, event.timestamp), since: event.timestamp };
  return RESTS.has(event.type) ? rested(work, event.timestamp) : work;
}

export function startAfter(start: Start, event: EventMessage, resting: boolean): Start {
  const at = event.timestamp;
  if (QUEUES.has(event.type) || (event.type === "prompt_accepted" && resting))
    return { ...NO_START, queued: at };
  if (ACTIVE.has(event.type)) return start.active ? start : { ...start, active: true };
  switch (event.type) {
    case "agent_work_order_started":
      return { ...NO_START, queued: start.queued ?? at, started: at };
    case "git_branch_created":
    case "step_started":
      return start.fetched ? start : { ...start, fetched: at };
    default:
      return start;
  }
}

export const workedSeconds = ({ seconds, since }: Work, now: number) =>
  seconds + (since ? secondsBetween(since, now) : 0);
