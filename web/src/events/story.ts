/**
 * An order's events told as a timeline: a pure fold, so that a replay shows what was seen live.
 *
 * Items are replaced, never changed, and keep their keys; what did not change is not drawn again.
 */

import type { EventMessage } from "@/api/client";
import { secondsBetween } from "@/lib/format";

type Of<T extends EventMessage["type"]> = Extract<EventMessage, { type: T }>;
type At = { key: number; at: string };

export type PromptItem = At & { kind: "prompt"; number: number; mode: "work" | "ask"; text: string };
export type TextItem = At & { kind: "text"; step: string; text: string };
export type ToolItem = At & {
  kind: "tool";
  step: string;
  call: string;
  tool: string;
  arguments: Record<string, unknown>;
  result: Of<"tool_call_completed"> | null;
};
export type StepItem = At & {
  kind: "step";
  step: string;
  stepKind: string;
  attempt: number;
  state: "running" | "completed" | "failed" | "skipped" | "stopped";
  seconds: number | null;
  note: string;
};
export type RetryItem = At & { kind: "retry"; event: Of<"step_retrying">; over: boolean };
export type ApprovalItem = At & {
  kind: "approval";
  step: string;
  commit: string;
  decision: "waiting" | "approved" | "rejected" | "rework";
  comment: string;
};
export type FailureItem = At & { kind: "failure"; event: Of<"agent_work_order_failed"> };
export type ChecksItem = At & { kind: "checks"; event: Of<"verification_attempt_completed"> };
export type PhaseItem = At & { kind: "phase"; phase: string };
export type SystemItem = At & {
  kind: "system";
  sign: "sandbox" | "branch" | "commit" | "pull_request" | "issue" | "subtask" | "notice" | "state" | "done";
  text: string;
  detail?: string;
  href?: string;
  seconds?: number;
};
export type Item =
  | PromptItem
  | TextItem
  | ToolItem
  | StepItem
  | RetryItem
  | ApprovalItem
  | FailureItem
  | ChecksItem
  | PhaseItem
  | SystemItem;

export type Subtask = { title: string; state: "waiting" | "running" | "done" };
export type Plan = { reasoning: string; subtasks: Subtask[] };
export type StoryPullRequest = { url: string; number: number; draft: boolean };

export type Story = {
  last: number;
  items: Item[];
  plan: Plan | null;
  pullRequest: StoryPullRequest | null;
  /** Prompts that wait until the round that is under way has ended. */
  queue: PromptItem[];
  /** Where the items of things that are still open stand. */
  open: { calls: Record<string, number>; steps: Record<string, number> };
  tokens: number;
  /** Since when something is being committed. */
  committing: string | null;
};

export const EMPTY: Story = {
  last: 0,
  items: [],
  plan: null,
  pullRequest: null,
  queue: [],
  open: { calls: {}, steps: {} },
  tokens: 0,
  committing: null,
};

/** The story with these events told too. */
export function tell(before: Story, events: EventMessage[]): Story {
  const story: Story = {
    ...before,
    items: [...before.items],
    open: { calls: { ...before.open.calls }, steps: { ...before.open.steps } },
  };
  for (const event of events) {
    one(story, event);
    story.last = event.sequence;
  }
  return story;
}

function change<K extends Item["kind"]>(
  story: Story,
  index: number | undefined,
  kind: K,
  changes: Partial<Extract<Item, { kind: K }>>,
) {
  const item = index === undefined ? undefined : story.items[index];
  if (index === undefined || item?.kind !== kind) return;
  story.items[index] = { ...item, ...changes } as Item;
}

function one(story: Story, event: EventMessage) {
  const committing = story.committing;
  story.committing = null;
  const at = { key: event.sequence, at: event.timestamp };
  const add = (item: Item) => story.items.push(item) - 1;
  const system = (sign: SystemItem["sign"], text: string, more: Partial<SystemItem> = {}) =>
    add({ ...at, kind: "system", sign, text, ...more });

  switch (event.type) {
    case "agent_text":
      return addText(story, event, at);
    case "agent_answered":
      return addAnswer(story, event, at);
    case "tool_call_started":
      story.open.calls[event.call_id] = add({
        ...at,
        kind: "tool",
        step: event.step,
        call: event.call_id,
        tool: event.tool,
        arguments: event.arguments,
        result: null,
      });
      return;
    case "tool_call_completed":
      change(story, story.open.calls[event.call_id], "tool", { result: event });
      delete story.open.calls[event.call_id];
      return;
    case "model_call_completed":
      story.tokens += event.tokens_in + event.tokens_out;
      return;
    case "workflow_phase_started":
      add({ ...at, kind: "phase", phase: event.phase });
      return;
    case "step_started":
      endRetries(story);
      story.open.steps[event.step] = add({
        ...at,
        kind: "step",
        step: event.step,
        stepKind: event.kind,
        attempt: event.attempt,
        state: "running",
        seconds: null,
        note: "",
      });
      return;
    case "step_completed":
      return endStep(story, event.step, { state: "completed", seconds: event.duration_seconds });
    case "step_failed":
      return endStep(story, event.step, {
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
      add({ ...at, kind: "retry", event, over: false });
      return;
    case "plan_created":
      story.plan = {
        reasoning: event.reasoning,
        subtasks: event.subtasks.map((title) => ({ title, state: "waiting" })),
      };
      return;
    case "subtask_started":
      startSubtask(story, event.number, event.title);
      system("subtask", event.title, { detail: `${event.number} of ${event.of}` });
      return;
    case "verification_attempt_completed":
      add({ ...at, kind: "checks", event });
      return;
    case "prompt_accepted":
      story.queue = [
        ...story.queue,
        { ...at, kind: "prompt", number: event.number, mode: event.mode, text: event.text },
      ];
      return;
    case "prompt_started": {
      const prompt = story.queue.find((one) => one.number === event.number);
      if (prompt) add({ ...prompt, ...at });
      story.queue = story.queue.filter((one) => one !== prompt);
      return;
    }
    case "prompt_cancelled":
      story.queue = story.queue.filter((one) => one.number !== event.number);
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
      return decide(story, event);
    case "sandbox_created":
      system("sandbox", "Created sandbox", {
        detail: `${event.sandbox_identifier} · ${event.isolation}`,
        seconds: event.duration_seconds,
      });
      return;
    case "review_completed": {
      const agreed = event.verdict === "approve";
      system(
        agreed ? "done" : "notice",
        agreed ? "The review asks for no change" : `The review asks for changes (${event.findings_count})`,
        { detail: event.summary },
      );
      return;
    }
    case "git_branch_created":
      system("branch", `Created branch ${event.git_branch_name}`, {
        detail: `from ${event.base_branch} ${event.base_commit_sha.slice(0, 8)}`,
      });
      return;
    case "git_commit_started":
      story.committing = event.timestamp;
      return;
    case "git_commit_created":
      system("commit", event.message.split("\n")[0] ?? "", {
        seconds: committing ? secondsBetween(committing, event.timestamp) : undefined,
        detail: `${event.commit_sha.slice(0, 8)} · +${event.git_lines_added} −${event.git_lines_removed} in all`,
      });
      return;
    case "github_pull_request_created":
    case "github_pull_request_updated":
      return pullRequest(story, event, at);
    case "github_pull_request_merged":
    case "github_pull_request_closed":
    case "github_pull_request_reopened": {
      const what = event.type.split("_").at(-1) ?? "";
      system("pull_request", `PR #${event.number} was ${what}`, { href: event.github_pull_request_url });
      return;
    }
    case "git_commits_taken_in":
      system(
        "commit",
        `Took in ${event.count} ${event.count === 1 ? "commit" : "commits"} that people pushed`,
        {
          detail: event.set_aside_commit_sha
            ? `clashed: the order's side is kept at ${event.set_aside_commit_sha.slice(0, 8)}`
            : event.commit_sha.slice(0, 8),
        },
      );
      return;
    case "sandbox_cleanup_failed":
      system("notice", event.error_message, { detail: event.hint });
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
      system("notice", event.text);
      return;
    case "agent_work_order_failed":
      stopOpen(story);
      add({ ...at, kind: "failure", event });
      return;
    case "agent_work_order_completed":
      finishPlan(story);
      system("done", "Completed", { detail: verified(event.verification) });
      return;
    case "agent_work_order_paused":
      stopOpen(story);
      system("state", event.reason ? `Paused: ${event.reason}` : "Paused", {
        detail: event.hint || "What was not committed is kept",
      });
      return;
    case "agent_work_order_cancelled":
      stopOpen(story);
      system("state", "Cancelled", { detail: "Branch and commits stay" });
      return;
    case "agent_work_order_resumed":
      system("state", "Resumed");
      return;
    case "agent_work_order_changed":
      system("state", changed(event));
      return;
    case "agent_work_order_requeued":
      stopOpen(story);
      system("state", "Waits for another attempt", { detail: event.reason });
      return;
    case "agent_work_order_retried":
      system("state", "Trying again", { detail: "Finished steps are not done again" });
      return;
  }
}

const changed = ({ title, model, budget_usd }: Of<"agent_work_order_changed">) =>
  [
    title && `Renamed to ${title}`,
    model && `Model is now ${model}`,
    budget_usd != null && `Budget is now $${budget_usd}`,
  ]
    .filter(Boolean)
    .join(" · ");

const verified = (verification: string) =>
  ({
    passed: "Checks passed",
    failed: "Checks did not pass",
    reviewed: "Reviewed, without checks",
    none: "No checks were run",
  })[verification] ?? verification;

function addText(story: Story, event: Of<"agent_text">, at: At) {
  const index = story.items.length - 1;
  const last = story.items[index];
  if (last?.kind === "text" && last.step === event.step) {
    story.items[index] = { ...last, text: last.text + event.text };
  } else {
    story.items.push({ ...at, kind: "text", step: event.step, text: event.text });
  }
}

/** The answer is told whole after it streamed; it is shown once. */
function addAnswer(story: Story, event: Of<"agent_answered">, at: At) {
  const streamed = story.items.findLast((item) => item.kind === "text" && item.step === event.step);
  if (streamed?.kind === "text" && streamed.text.trim().endsWith(event.text.trim())) return;
  story.items.push({ ...at, kind: "text", step: event.step, text: event.text });
}

function endStep(story: Story, step: string, changes: Partial<StepItem>) {
  change(story, story.open.steps[step], "step", changes);
  delete story.open.steps[step];
  endRetries(story);
}

function endRetries(story: Story) {
  story.items.forEach((item, index) => {
    if (item.kind === "retry" && !item.over) story.items[index] = { ...item, over: true };
  });
}

function stopOpen(story: Story) {
  for (const index of Object.values(story.open.steps)) change(story, index, "step", { state: "stopped" });
  story.open.steps = {};
  story.open.calls = {};
  endRetries(story);
}

function startSubtask(story: Story, number: number, title: string) {
  const plan = story.plan ?? { reasoning: "", subtasks: [] };
  const subtasks = plan.subtasks.length ? plan.subtasks : [{ title, state: "waiting" as const }];
  story.plan = {
    ...plan,
    subtasks: subtasks.map((subtask, index) => ({
      ...subtask,
      state: index + 1 < number ? "done" : index + 1 === number ? "running" : "waiting",
    })),
  };
}

function finishPlan(story: Story) {
  if (story.plan) {
    story.plan = { ...story.plan, subtasks: story.plan.subtasks.map((one) => ({ ...one, state: "done" })) };
  }
}

function decide(story: Story, event: Of<"approval_decided">) {
  const index = story.items.findLastIndex((item) => item.kind === "approval" && item.step === event.step);
  change(story, index, "approval", { decision: event.decision, comment: event.comment });
}

function pullRequest(
  story: Story,
  event: Of<"github_pull_request_created"> | Of<"github_pull_request_updated">,
  at: At,
) {
  const before = story.pullRequest;
  const name = `${event.draft ? "draft " : ""}PR #${event.number}`;
  story.pullRequest = { url: event.github_pull_request_url, number: event.number, draft: event.draft };
  const text =
    event.type === "github_pull_request_created"
      ? `Created ${name}`
      : before?.draft && !event.draft
        ? `PR #${event.number} is ready for review`
        : `Updated ${name}`;
  story.items.push({
    ...at,
    kind: "system",
    sign: "pull_request",
    text,
    href: event.github_pull_request_url,
  });
}
