/** The items of a timeline. They are immutable and keep their keys. */

import type { EventMessage } from "@/api/client";

export type Of<T extends EventMessage["type"]> = Extract<EventMessage, { type: T }>;
export type At = { key: number; at: string };

/** How something ended that did not complete. */
export type CutOff = "stopped" | "interrupted";

export type PromptItem = At & {
  kind: "prompt";
  number: number;
  mode: "work" | "ask";
  text: string;
  state: "queued" | "running" | "ended";
  /** The commits of this prompt, without Journeyman's own records. */
  commits: string[];
};
export type TextItem = At & { kind: "text"; step: string; text: string; cutOff: CutOff | null };
export type ToolItem = At & {
  kind: "tool";
  step: string;
  call: string;
  tool: string;
  arguments: Record<string, unknown>;
  result: Of<"tool_call_completed"> | null;
  cutOff: CutOff | null;
};
export type StepItem = At & {
  kind: "step";
  step: string;
  stepKind: string;
  attempt: number;
  state: "running" | "completed" | "failed" | "skipped" | CutOff;
  seconds: number | null;
  note: string;
};
export type SubtaskItem = At & {
  kind: "subtask";
  step: string;
  title: string;
  place: string;
  state: "running" | "done" | CutOff;
  commit: string | null;
};
/** A series of failed tries; only the newest of a series is shown. */
export type RetryItem = At & {
  kind: "retry";
  step: string;
  state: "waiting" | "trying" | "over" | "superseded";
  /** When the next try starts. */
  until: number;
  reasons: string[];
  /** Whether the whole step is retried, or a call inside it. */
  whole: boolean;
};
export type ApprovalItem = At & {
  kind: "approval";
  step: string;
  commit: string;
  decision: "waiting" | "approved" | "rejected" | "rework";
  comment: string;
};
export type FailureItem = At & { kind: "failure"; event: Of<"agent_work_order_failed"> };
export type ChecksItem = At & { kind: "checks"; event: Of<"verification_attempt_completed"> };
export type LeftOutItem = At & { kind: "left_out"; event: Of<"git_files_left_out"> };
export type PhaseItem = At & { kind: "phase"; phase: string };
export type SystemItem = At & {
  kind: "system";
  sign: "branch" | "commit" | "pull_request" | "issue" | "plan" | "notice" | "state" | "done";
  text: string;
  detail?: string;
  href?: string;
};
export type Item =
  | PromptItem
  | TextItem
  | ToolItem
  | StepItem
  | SubtaskItem
  | RetryItem
  | ApprovalItem
  | FailureItem
  | ChecksItem
  | LeftOutItem
  | PhaseItem
  | SystemItem;
