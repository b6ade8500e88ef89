/**
 * The rows of a timeline: what succeeded is collapsed, so that failures stand out.
 *
 * Steps whose items explain themselves have a row only for a failure that no other item shows; consecutive tool calls
 * that succeeded share one.
 */

import type { Item, StepItem, ToolItem } from "./items";

export type ToolGroup = { kind: "tools"; key: number; at: string; items: ToolItem[] };
export type Row = Item | ToolGroup;

const SELF_EXPLANATORY = new Set([
  "explore",
  "plan",
  "build",
  "verify",
  "review",
  "open_pull_request",
  "answer",
]);
const FOLDED_FROM = 3;

export const succeeded = ({ result }: ToolItem) => Boolean(result?.ok && !result.exit_code);

const isShown = (item: Item) =>
  item.kind === "step" ? isNews(item) : item.kind !== "retry" || item.state !== "superseded";

const isNews = ({ stepKind, state, note }: StepItem) =>
  !SELF_EXPLANATORY.has(stepKind) || (state === "failed" && note !== "") || state === "skipped";

export function rowsOf(items: Item[]): Row[] {
  const rows: Row[] = [];
  let run: ToolItem[] = [];
  const endRun = () => {
    const [first] = run;
    if (first && run.length >= FOLDED_FROM)
      rows.push({ kind: "tools", key: first.key, at: first.at, items: run });
    else rows.push(...run);
    run = [];
  };
  for (const item of items) {
    if (!isShown(item)) continue;
    if (item.kind === "tool" && succeeded(item)) {
      run.push(item);
      continue;
    }
    endRun();
    rows.push(item);
  }
  endRun();
  return rows;
}

/** The newest running step, if there is one. */
export const runningStep = (items: Item[]): StepItem | undefined =>
  items.findLast((item): item is StepItem => item.kind === "step" && item.state === "running");
