/** Ends open items of the transcript: with their own result, or together with their step or order. */

import type { At, CutOff, Item, RetryItem, StepItem } from "./items";
import type { Transcript } from "./transcript";

export function change<K extends Item["kind"]>(
  transcript: Transcript,
  index: number | undefined,
  kind: K,
  changes: Partial<Extract<Item, { kind: K }>>,
) {
  const item = index === undefined ? undefined : transcript.items[index];
  if (index === undefined || item?.kind !== kind) return;
  transcript.items[index] = { ...item, ...changes } as Item;
}

export function endStep(transcript: Transcript, step: string, changes: Partial<StepItem>) {
  change(transcript, transcript.open.steps[step], "step", changes);
  delete transcript.open.steps[step];
  endParts(transcript, step, changes.state === "completed" ? null : "stopped");
  endRetry(transcript, step);
}

/** Ends everything that is open with the order. */
export function cutOffAll(transcript: Transcript, how: CutOff) {
  for (const step of Object.keys(transcript.open.steps)) cutOffStep(transcript, step, how);
  for (const step of Object.keys(transcript.open.retries)) endRetry(transcript, step);
}

export function cutOffStep(transcript: Transcript, step: string, how: CutOff) {
  change(transcript, transcript.open.steps[step], "step", { state: how });
  delete transcript.open.steps[step];
  endParts(transcript, step, how);
  endRetry(transcript, step);
}

/** Ends what runs inside a step. Null means that the step completed. */
function endParts(transcript: Transcript, step: string, how: CutOff | null) {
  endCalls(transcript, step, how ?? "stopped");
  change(transcript, transcript.open.subtasks[step], "subtask", { state: how ?? "done" });
  delete transcript.open.subtasks[step];
  if (how) cutOffText(transcript, step, how);
}

/** Another attempt continues the subtask; calls and text of the last one are over. */
export function endAttempt(transcript: Transcript, step: string) {
  endCalls(transcript, step, "stopped");
  cutOffText(transcript, step, "stopped");
}

function endCalls(transcript: Transcript, step: string, how: CutOff) {
  for (const [call, index] of Object.entries(transcript.open.calls)) {
    const item = transcript.items[index];
    if (item?.kind !== "tool" || item.step !== step) continue;
    change(transcript, index, "tool", { cutOff: how });
    delete transcript.open.calls[call];
  }
}

const SENTENCE_END = /[.!?:…)\]"'`*]\s*$/;

/** Marks an agent's text as cut off, unless it ends as a sentence. */
function cutOffText(transcript: Transcript, step: string, how: CutOff) {
  const index = transcript.items.findLastIndex((item) => "step" in item && item.step === step);
  const item = transcript.items[index];
  if (item?.kind === "text" && !SENTENCE_END.test(item.text))
    change(transcript, index, "text", { cutOff: how });
}

type Tried = Pick<RetryItem, "until" | "whole"> & { step: string; reason: string };

/** All failed tries share one row, at the place of the newest. */
export function addRetry(transcript: Transcript, at: At, { step, reason, until, whole }: Tried) {
  const index = transcript.open.retries[step];
  const earlier = index === undefined ? undefined : transcript.items[index];
  const reasons = earlier?.kind === "retry" ? [...earlier.reasons, reason] : [reason];
  change(transcript, index, "retry", { state: "superseded" });
  transcript.open.retries[step] =
    transcript.items.push({ ...at, kind: "retry", step, until, whole, reasons, state: "waiting" }) - 1;
}

export const tryAgain = (transcript: Transcript, step: string) =>
  change(transcript, transcript.open.retries[step], "retry", { state: "trying" });

export function endRetry(transcript: Transcript, step: string) {
  change(transcript, transcript.open.retries[step], "retry", { state: "over" });
  delete transcript.open.retries[step];
}
