/** Ends open items of the story: with their own result, or together with their step or order. */

import type { At, CutOff, Item, RetryItem, StepItem } from "./items";
import type { Story } from "./story";

export function change<K extends Item["kind"]>(
  story: Story,
  index: number | undefined,
  kind: K,
  changes: Partial<Extract<Item, { kind: K }>>,
) {
  const item = index === undefined ? undefined : story.items[index];
  if (index === undefined || item?.kind !== kind) return;
  story.items[index] = { ...item, ...changes } as Item;
}

export function endStep(story: Story, step: string, changes: Partial<StepItem>) {
  change(story, story.open.steps[step], "step", changes);
  delete story.open.steps[step];
  endParts(story, step, changes.state === "completed" ? null : "stopped");
  endRetry(story, step);
}

/** Ends everything that is open with the order. */
export function cutOffAll(story: Story, how: CutOff) {
  for (const step of Object.keys(story.open.steps)) cutOffStep(story, step, how);
  for (const step of Object.keys(story.open.retries)) endRetry(story, step);
}

export function cutOffStep(story: Story, step: string, how: CutOff) {
  change(story, story.open.steps[step], "step", { state: how });
  delete story.open.steps[step];
  endParts(story, step, how);
  endRetry(story, step);
}

/** Ends what runs inside a step. Null means that the step completed. */
function endParts(story: Story, step: string, how: CutOff | null) {
  endCalls(story, step, how ?? "stopped");
  change(story, story.open.subtasks[step], "subtask", { state: how ?? "done" });
  delete story.open.subtasks[step];
  if (how) cutOffText(story, step, how);
}

/** Another attempt continues the subtask; calls and text of the last one are over. */
export function endAttempt(story: Story, step: string) {
  endCalls(story, step, "stopped");
  cutOffText(story, step, "stopped");
}

function endCalls(story: Story, step: string, how: CutOff) {
  for (const [call, index] of Object.entries(story.open.calls)) {
    const item = story.items[index];
    if (item?.kind !== "tool" || item.step !== step) continue;
    change(story, index, "tool", { cutOff: how });
    delete story.open.calls[call];
  }
}

const SENTENCE_END = /[.!?:…)\]"'`*]\s*$/;

/** Marks an agent's text as cut off, unless it ends as a sentence. */
function cutOffText(story: Story, step: string, how: CutOff) {
  const index = story.items.findLastIndex((item) => "step" in item && item.step === step);
  const item = story.items[index];
  if (item?.kind === "text" && !SENTENCE_END.test(item.text)) change(story, index, "text", { cutOff: how });
}

type Tried = Pick<RetryItem, "until" | "whole"> & { step: string; reason: string };

/** All failed tries share one row, at the place of the newest. */
export function addRetry(story: Story, at: At, { step, reason, until, whole }: Tried) {
  const index = story.open.retries[step];
  const earlier = index === undefined ? undefined : story.items[index];
  const reasons = earlier?.kind === "retry" ? [...earlier.reasons, reason] : [reason];
  change(story, index, "retry", { state: "superseded" });
  story.open.retries[step] =
    story.items.push({ ...at, kind: "retry", step, until, whole, reasons, state: "waiting" }) - 1;
}

export const tryAgain = (story: Story, step: string) =>
  change(story, story.open.retries[step], "retry", { state: "trying" });

export function endRetry(story: Story, step: string) {
  change(story, story.open.retries[step], "retry", { state: "over" });
  delete story.open.retries[step];
}
