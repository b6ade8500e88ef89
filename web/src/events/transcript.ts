/**
 * Reduces an order's events to a timeline. A pure function, so that a replay shows what was seen live.
 *
 * Items are immutable and keep their keys, so that unchanged ones are not rendered again.
 */

import type { EventMessage } from "@/api/client";
import { plainText } from "@/lib/advice";
import { duration, fileSize, plural } from "@/lib/format";
import { NO_START, RESTED, type Start, startAfter, type Work, workAfter } from "./clock";
import { addRetry, change, cutOffAll, endRetry, endStep } from "./endings";
import type { Item, PromptItem, SystemItem } from "./items";
import {
  addAnswer,
  addCommit,
  addText,
  after,
  changed,
  decide,
  endPrompt,
  finishPlan,
  notice,
  pullRequest,
  sayOnce,
  startStep,
  startSubtask,
  verified,
} from "./reducers";

export type Subtask = { title: string; state: "waiting" | "running" | "done" };
export type Plan = { reasoning: string; subtasks: Subtask[] };
export type TranscriptPullRequest = { url: string; number: number; draft: boolean };

/** The indexes of open items. */
type Open = {
  calls: Record<string, number>;
  steps: Record<string, number>;
  subtasks: Record<string, number>;
  retries: Record<string, number>;
  prompt?: number;
};

export type Transcript = {
  last: number;
  lastAt: string;
  items: Item[];
  plan: Plan | null;
  pullRequest: TranscriptPullRequest | null;
  /** Prompts that wait for the running round to end. */
  queue: PromptItem[];
  open: Open;
  work: Work;
  start: Start;
  sandboxes: string[];
  /** Since when something is being committed. */
  committing: string | null;
};

export const EMPTY: Transcript = {
  last: 0,
  lastAt: "",
  items: [],
  plan: null,
  pullRequest: null,
  queue: [],
  open: { calls: {}, steps: {}, subtasks: {}, retries: {} },
  work: RESTED,
  start: NO_START,
  sandboxes: [],
  committing: null,
};

/** The transcript after these events. */
export function applyEvents(before: Transcript, events: EventMessage[]): Transcript {
  const { calls, steps, subtasks, retries, prompt } = before.open;
  const open = {
    calls: { ...calls },
    steps: { ...steps },
    subtasks: { ...subtasks },
    retries: { ...retries },
    prompt,
  };
  const transcript: Transcript = { ...before, items: [...before.items], open };
  for (const event of events) {
    transcript.start = startAfter(transcript.start, event, transcript.work.since === null);
    transcript.work = workAfter(transcript.work, event);
    transcript.committing = null;
    one(transcript, event);
    transcript.last = event.sequence;
    transcript.lastAt = event.timestamp;
  }
  return transcript;
}

function one(transcript: Transcript, event: EventMessage) {
  const at = { key: event.sequence, at: event.timestamp };
  const add = (item: Item) => transcript.items.push(item) - 1;
  const system = (sign: SystemItem["sign"], text: string, more: Partial<SystemItem> = {}) =>
    add({ ...at, kind: "system", sign, text, ...more });

  switch (event.type) {
    case "agent_text":
      return addText(transcript, event, at);
    case "agent_answered":
      return addAnswer(transcript, event, at);
    case "tool_call_started":
      transcript.open.calls[event.call_id] = add({
        ...at,
        kind: "tool",
        step: event.step,
        call: event.call_id,
        tool: event.tool,
        arguments: event.arguments,
        result: null,
        cutOff: null,
      });
      return;
    case "tool_call_completed":
      change(transcript, transcript.open.calls[event.call_id], "tool", { result: event });
      delete transcript.open.calls[event.call_id];
      return;
    case "model_call_completed":
      return endRetry(transcript, event.step);
    case "workflow_phase_started":
      // The end has a row of its own.
      if (event.phase !== "completed") add({ ...at, kind: "phase", phase: event.phase });
      return;
    case "step_started":
      return startStep(transcript, event, at);
    case "step_completed":
      return endStep(transcript, event.step, { state: "completed", seconds: event.duration_seconds });
    case "step_failed":
      return endStep(transcript, event.step, {
        state: "failed",
        seconds: event.duration_seconds,
        note: event.error_message,
      });
    case "step_skipped":
      add({
        ...at,
        kind: "step",
        step: event.step,
        stepKind: event.kind,
        attempt: 1,
        state: "skipped",
        seconds: null,
        note: event.reason,
      });
      return;
    case "step_retrying":
      return addRetry(transcript, at, {
        step: event.step,
        reason: event.error_message,
        until: after(event.timestamp, event.wait_seconds),
        whole: true,
      });
    case "plan_created":
      transcript.plan = {
        reasoning: event.reasoning,
        subtasks: event.subtasks.map((title) => ({ title, state: "waiting" })),
      };
      system("plan", `Planned ${plural(event.subtasks.length, "subtask")}`);
      return;
    case "subtask_started":
      return startSubtask(transcript, event, at);
    case "verification_attempt_completed":
      add({ ...at, kind: "checks", event });
      return;
    case "prompt_accepted":
      transcript.queue = [
        ...transcript.queue,
        {
          ...at,
          kind: "prompt",
          number: event.number,
          mode: event.mode,
          text: event.text,
          state: "queued",
          commits: [],
        },
      ];
      return;
    case "prompt_started": {
      const prompt = transcript.queue.find(({ number }) => number === event.number);
      if (prompt) transcript.open.prompt = add({ ...prompt, ...at, state: "running" });
      transcript.queue = transcript.queue.filter((one) => one !== prompt);
      return;
    }
    case "prompt_cancelled":
      transcript.queue = transcript.queue.filter(({ number }) => number !== event.number);
      return;
    case "approval_requested":
      add({
        ...at,
        kind: "approval",
        step: event.step,
        commit: event.commit_sha,
        decision: "waiting",
        comment: "",
      });
      return;
    case "approval_decided":
      return decide(transcript, event);
    case "sandbox_created":
      transcript.sandboxes = [...new Set([...transcript.sandboxes, event.sandbox_identifier])];
      return;
    case "review_completed": {
      const agreed = event.verdict === "approve";
      const asks = `Review asked for ${plural(event.findings_count, "change")}`;
      system(agreed ? "done" : "notice", agreed ? "Review approved the change" : asks, {
        detail: event.summary,
      });
      return;
    }
    case "git_branch_created":
      system("branch", `Created branch ${event.git_branch_name}`, {
        detail: `from ${event.base_branch} ${event.base_commit_sha.slice(0, 8)}`,
      });
      return;
    case "repository_files_missing":
      system("notice", `${plural(event.count, "file or submodule", "files or submodules")} missing`, {
        detail: event.files.map((file) => `${file.path}: ${file.reason}`).join("\n"),
      });
      return;
    case "git_commit_started":
      transcript.committing = event.timestamp;
      return;
    case "git_commit_created":
      return addCommit(transcript, event, at);
    case "git_files_left_out":
      // Zero means that what was left out before is committed now.
      if (event.count) add({ ...at, kind: "left_out", event });
      return;
    case "github_pull_request_created":
    case "github_pull_request_updated":
      return pullRequest(transcript, event, at);
    case "github_pull_request_merged":
    case "github_pull_request_closed":
    case "github_pull_request_reopened":
      system("pull_request", `PR #${event.number} was ${event.type.split("_").at(-1)}`, {
        href: event.github_pull_request_url,
      });
      return;
    case "git_commits_taken_in":
      system("commit", `Pulled ${plural(event.count, "commit")} pushed by others`, {
        detail: event.set_aside_commit_sha
          ? `They conflicted; the order's own version is kept at ${event.set_aside_commit_sha.slice(0, 8)}`
          : event.commit_sha.slice(0, 8),
      });
      return;
    case "git_branch_moved":
      system(
        "commit",
        event.count ? `Others pushed ${plural(event.count, "commit")}` : "Others moved the branch",
        {
          detail: event.commit_sha.slice(0, 8),
        },
      );
      return;
    case "environment_setup_started":
      system("state", `Installing ${event.ecosystems.join(", ") || "what the repository needs"}`, {
        detail: plural(event.commands.length, "command"),
      });
      return;
    case "environment_ready":
      system("done", event.reused ? "Environment ready" : "Environment installed", {
        detail: `${fileSize(event.size_bytes)} in ${duration(event.duration_seconds)}`,
      });
      return;
    case "environment_setup_failed":
      system("notice", event.reason, { detail: plainText(event.remedy) });
      return;
    case "network_denied":
      system("notice", `Denied access to ${event.host}`, { detail: event.command ?? event.reason });
      return;
    case "network_allowed":
      system("done", `Allowed access to ${event.host}`, { detail: `for this ${event.scope}` });
      return;
    case "sandbox_cleanup_failed":
      system("notice", event.error_message, { detail: plainText(event.hint) });
      return;
    case "github_issue_read":
      system("issue", `Read issue #${event.github_issue_number}`, { detail: event.title });
      return;
    case "github_issue_commented":
      system("issue", `Commented on issue #${event.github_issue_number}`, { href: event.url });
      return;
    case "repository_command_expanded":
      system("state", `Called /${event.name} ${event.arguments}`.trim(), {
        detail: `${event.path} at ${event.commit_sha.slice(0, 8)}`,
      });
      return;
    case "agent_work_order_named":
      system("state", `Named ${event.title}`, { detail: event.git_branch_name });
      return;
    case "agent_work_order_created":
      if (event.forked_from) system("branch", `Forked from ${event.forked_from}`);
      return;
    case "agent_notice":
      return notice(transcript, event, at);
    case "agent_work_order_failed":
      cutOffAll(transcript, "stopped");
      endPrompt(transcript);
      sayOnce(transcript, event.error_message);
      add({ ...at, kind: "failure", event });
      return;
    case "agent_work_order_completed":
      cutOffAll(transcript, "stopped");
      endPrompt(transcript);
      finishPlan(transcript);
      system("done", "Completed", { detail: verified(event.verification) });
      return;
    case "agent_work_order_paused":
      cutOffAll(transcript, "stopped");
      system("state", event.reason ? `Paused: ${event.reason}` : "Paused", {
        detail: "Uncommitted work is kept",
      });
      return;
    case "agent_work_order_cancelled":
      cutOffAll(transcript, "stopped");
      endPrompt(transcript);
      system("state", event.reason ? `Cancelled: ${event.reason}` : "Cancelled", {
        detail: "The branch and its commits are kept",
      });
      return;
    case "agent_work_order_resumed":
      system("state", "Resumed");
      return;
    case "agent_work_order_changed":
      system("state", changed(event));
      return;
    case "agent_work_order_requeued":
      cutOffAll(transcript, "interrupted");
      system("notice", "Interrupted, waiting to continue", { detail: event.reason });
      return;
    case "agent_work_order_retried":
      system("state", "Retrying", { detail: "Finished steps are not repeated" });
      return;
  }
}
