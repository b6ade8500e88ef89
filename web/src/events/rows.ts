/**
 * What of a story is shown, and how: things that went well are folded, so that what did not stands out.
 *
 * Steps whose work tells itself have a row only for a failure that nothing else tells; calls of tools that succeeded one after
 * the other share one.
 */

import type { Item, StepItem, ToolItem } from "./items";

export type ToolGroup = { kind: "tools"; key: number; at: string; items: ToolItem[] };
export type Row = Item | ToolGroup;

const TELLS_ITSELF = new Set(["explore", "plan", "build", "verify", "review", "open_pull_request", "answer"]);
const FOLDED_FROM = 3;

export const succeeded = ({ result }: ToolItem) => Boolean(result?.ok && !result.exit_code);

const isShown = (item: Item) =>
  item.kind === "step" ? isNews(item) : item.kind !== "retry" || item.state !== "superseded";

const isNews = ({ stepKind, state, note }: StepItem) =>
  !TELLS_ITSELF.has(stepKind) || (state === "failed" && note !== "") || state === "skipped";

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

/** The step that is at work now, if one is: the newest. */
export const runningStep = (items: Item[]): StepItem | undefined =>
  items.findLast((item): item is StepItem => item.kind === "step" && item.state === "running");
