/** Renders one row of the timeline. */

import { MessageCircleQuestion } from "lucide-react";
import { memo } from "react";
import { Prose } from "@/components/prose";
import type { CutOff, PromptItem, TextItem } from "@/events/items";
import type { Row } from "@/events/rows";
import { FailureNote } from "./failure";
import { ApprovalLine, ChecksLine, StepLine, SubtaskLine, SystemLine } from "./item-lines";
import { LeftOut } from "./left-out";
import { RetryLine } from "./retry-line";
import { ToolCall } from "./tool-call";
import { ToolCalls } from "./tool-calls";
import { hourAndMinute, title } from "./words";

type Props = { id: string; item: Row };

export const ItemView = memo(function ItemView({ id, item }: Props) {
  switch (item.kind) {
    case "text":
      return <TextView item={item} />;
    case "tool":
      return <ToolCall item={item} />;
    case "tools":
      return <ToolCalls items={item.items} />;
    case "prompt":
      return <PromptView prompt={item} />;
    case "phase":
      return <PhaseView phase={item.phase} at={item.at} />;
    case "step":
      return <StepLine item={item} />;
    case "subtask":
      return <SubtaskLine item={item} />;
    case "retry":
      return <RetryLine id={id} item={item} />;
    case "checks":
      return <ChecksLine item={item} />;
    case "left_out":
      return <LeftOut item={item} />;
    case "approval":
      return <ApprovalLine item={item} />;
    case "failure":
      return <FailureNote item={item} />;
    case "system":
      return <SystemLine item={item} />;
  }
}, isSame);

/** Groups are new objects on every render; their calls are not. */
function isSame(before: Props, now: Props) {
  if (before.item.kind !== "tools" || now.item.kind !== "tools") return before.item === now.item;
  const calls = now.item.items;
  return before.item.items.length === calls.length && before.item.items.every((one, at) => one === calls[at]);
}

const CUT_OFF: Record<CutOff, string> = { stopped: "stopped here", interrupted: "interrupted here" };

function TextView({ item: { text, cutOff } }: { item: TextItem }) {
  return (
    <div className="py-1.5">
      <Prose text={text} />
      {cutOff && <p className="text-xs text-muted-foreground">… {CUT_OFF[cutOff]}</p>}
    </div>
  );
}

export function PromptView({ prompt }: { prompt: Pick<PromptItem, "text" | "mode" | "at"> }) {
  return (
    <div className="my-4 flex justify-end">
      <div className="max-w-[85%] rounded-2xl rounded-br-sm bg-accent px-4 py-2.5 text-accent-foreground">
        {prompt.mode === "ask" && (
          <p className="mb-1 flex items-center gap-1 text-xs opacity-80">
            <MessageCircleQuestion aria-hidden className="size-3.5" /> Question
          </p>
        )}
        <p className="break-words whitespace-pre-wrap">{prompt.text}</p>
      </div>
    </div>
  );
}

function PhaseView({ phase, at }: { phase: string; at: string }) {
  return (
    <div className="mt-5 mb-2 flex items-center gap-3">
      <h2 className="text-xs font-semibold text-muted-foreground">{title(phase)}</h2>
      <div aria-hidden className="h-px flex-1 bg-border" />
      <time dateTime={at} className="text-xs text-muted-foreground tabular-nums">
        {hourAndMinute(at)}
      </time>
    </div>
  );
}
