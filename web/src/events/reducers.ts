/** Reducers of single events that take more than a line. */

import { rested } from "./clock";
import { addRetry, change, cutOffAll, endAttempt, tryAgain } from "./endings";
import type { At, Of } from "./items";
import type { Transcript } from "./transcript";

export const after = (timestamp: string, seconds: number) => new Date(timestamp).getTime() + seconds * 1000;

export const changed = ({ title, model, budget_usd }: Of<"agent_work_order_changed">) =>
  [
    title && `Renamed to ${title}`,
    model && `Model changed to ${model}`,
    budget_usd != null && `Budget changed to $${budget_usd}`,
  ]
    .filter(Boolean)
    .join(" · ");

export const verified = (verification: string) =>
  ({
    passed: "Checks passed",
    failed: "Checks failed",
    reviewed: "Reviewed, no checks run",
    outdated: "Changed since it was checked",
    none: "No checks run",
  })[verification] ?? verification;

export function addText(transcript: Transcript, event: Of<"agent_text">, at: At) {
  const index = transcript.items.length - 1;
  const last = transcript.items[index];
  if (last?.kind === "text" && last.step === event.step && !last.cutOff) {
    transcript.items[index] = { ...last, text: last.text + event.text };
  } else {
    transcript.items.push({ ...at, kind: "text", step: event.step, text: event.text, cutOff: null });
  }
}

/** The whole answer follows its streamed text; it is shown once. */
export function addAnswer(transcript: Transcript, event: Of<"agent_answered">, at: At) {
  const streamed = transcript.items.findLast((item) => item.kind === "text" && item.step === event.step);
  if (streamed?.kind === "text" && streamed.text.trim().endsWith(event.text.trim())) return;
  transcript.items.push({ ...at, kind: "text", step: event.step, text: event.text, cutOff: null });
}

/** Another attempt continues in the same row; the same attempt again means that the server restarted. */
export function startStep(transcript: Transcript, event: Of<"step_started">, at: At) {
  const index = transcript.open.steps[event.step];
  const open = index === undefined ? undefined : transcript.items[index];
  if (open?.kind === "step" && event.attempt > open.attempt) {
    endAttempt(transcript, event.step);
    change(transcript, index, "step", { attempt: event.attempt });
    return tryAgain(transcript, event.step);
  }
  if (open) {
    // The time without events does not count as active.
    transcript.work = { ...rested(transcript.work, transcript.lastAt), since: event.timestamp };
    cutOffAll(transcript, "interrupted");
    transcript.items.push({
      ...at,
      key: at.key - 0.5,
      kind: "system",
      sign: "notice",
      text: "Interrupted and continued",
      detail: "The server restarted; the step began again",
    });
  }
  transcript.open.steps[event.step] =
    transcript.items.push({
      ...at,
      kind: "step",
      step: event.step,
      stepKind: event.kind,
      attempt: event.attempt,
      state: "running",
      seconds: null,
      note: "",
    }) - 1;
}

export function startSubtask(
  transcript: Transcript,
  { step, number, of, title }: Of<"subtask_started">,
  at: At,
) {
  const plan = transcript.plan ?? { reasoning: "", subtasks: [] };
  const subtasks = plan.subtasks.length ? plan.subtasks : [{ title, state: "waiting" as const }];
  transcript.plan = {
    ...plan,
    subtasks: subtasks.map((subtask, index) => ({
      ...subtask,
      state: index + 1 < number ? "done" : index + 1 === number ? "running" : "waiting",
    })),
  };
  const open = transcript.items[transcript.open.subtasks[step] ?? -1];
  if (open?.kind === "subtask" && open.title === title) return;
  change(transcript, transcript.open.subtasks[step], "subtask", { state: "done" });
  transcript.open.subtasks[step] =
    transcript.items.push({
      ...at,
      kind: "subtask",
      step,
      title,
      place: of > 1 ? `${number} of ${of}` : "",
      state: "running",
      commit: null,
    }) - 1;
}

/** A subtask's commit is shown in its row; commits of Journeyman's own records are not shown. */
export function addCommit(transcript: Transcript, event: Of<"git_commit_created">, at: At) {
  const subject = event.message.split("\n")[0] ?? "";
  if (event.phase === "planning" || subject.startsWith("Record test results")) return;
  const prompt = transcript.items[transcript.open.prompt ?? -1];
  if (prompt?.kind === "prompt")
    change(transcript, transcript.open.prompt, "prompt", { commits: [...prompt.commits, event.commit_sha] });
  const index = transcript.open.subtasks[event.step];
  const subtask = transcript.items[index ?? -1];
  if (subtask?.kind === "subtask" && subtask.title.startsWith(subject.replace(/…$/, ""))) {
    change(transcript, index, "subtask", { commit: event.commit_sha, state: "done" });
    delete transcript.open.subtasks[event.step];
    return;
  }
  transcript.items.push({
    ...at,
    kind: "system",
    sign: "commit",
    text: subject,
    detail: event.commit_sha.slice(0, 8),
  });
}

const COMING = /; trying again in .*$/;

/** A model call that is retried is a retry like any other. */
export function notice(transcript: Transcript, event: Of<"agent_notice">, at: At) {
  if (event.wait_seconds == null) {
    transcript.items.push({ ...at, kind: "system", sign: "notice", text: event.text });
    return;
  }
  addRetry(transcript, at, {
    step: event.step,
    reason: event.text.replace(COMING, ""),
    until: after(event.timestamp, event.wait_seconds),
    whole: false,
  });
}

export function endPrompt(transcript: Transcript) {
  change(transcript, transcript.open.prompt, "prompt", { state: "ended" });
  transcript.open.prompt = undefined;
}

/** Removes an error message from its step when the order's failure repeats it. */
export function sayOnce(transcript: Transcript, message: string) {
  transcript.items.forEach((item, index) => {
    if (item.kind === "step" && item.state === "failed" && item.note && message.endsWith(item.note))
      transcript.items[index] = { ...item, note: "" };
  });
}

export function finishPlan(transcript: Transcript) {
  if (transcript.plan) {
    transcript.plan = {
      ...transcript.plan,
      subtasks: transcript.plan.subtasks.map((one) => ({ ...one, state: "done" })),
    };
  }
}

export function decide(transcript: Transcript, event: Of<"approval_decided">) {
  const index = transcript.items.findLastIndex(
    (item) => item.kind === "approval" && item.step === event.step,
  );
  change(transcript, index, "approval", {
    decision: event.decision,
    comment: event.comment,
    at: event.timestamp,
  });
}

export function pullRequest(
  transcript: Transcript,
  event: Of<"github_pull_request_created"> | Of<"github_pull_request_updated">,
  at: At,
) {
  const wasDraft = transcript.pullRequest?.draft;
  transcript.pullRequest = { url: event.github_pull_request_url, number: event.number, draft: event.draft };
  const created = event.type === "github_pull_request_created";
  // Updates by a push are not shown.
  if (!created && (event.draft || !wasDraft)) return;
  transcript.items.push({
    ...at,
    kind: "system",
    sign: "pull_request",
    text: created
      ? `Created ${event.draft ? "draft " : ""}PR #${event.number}`
      : `PR #${event.number} is ready for review`,
    href: event.github_pull_request_url,
  });
}
