/** A tool call on one line, which expands to its arguments and output. */

import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Output } from "@/components/output";
import type { ToolItem } from "@/events/items";
import { succeeded } from "@/events/rows";
import { cn } from "@/lib/cn";
import { duration, whole } from "@/lib/format";
import { aboutOf, ICONS, kindOf } from "./tools";
import { isNotable } from "./words";

export function ToolCall({ item }: { item: ToolItem }) {
  const [open, setOpen] = useState(false);
  const Icon = ICONS[kindOf(item.tool)];
  const { result } = item;
  return (
    <div className="py-0.5">
      <button
        type="button"
        aria-expanded={open}
        title={whole(item.at)}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2.5 rounded-md py-1 text-left text-[13px] hover:bg-muted"
      >
        <ChevronRight
          aria-hidden
          className={cn("size-4 shrink-0 text-muted-foreground transition-transform", open && "rotate-90")}
        />
        <Icon aria-hidden className="size-4 shrink-0 text-muted-foreground" />
        <span className="shrink-0 text-muted-foreground">{item.tool}</span>
        <code className="min-w-0 flex-1 truncate font-mono text-xs">{aboutOf(item)}</code>
        <Ending item={item} />
      </button>
      {open && (
        <div className="mt-1 ml-6.5 flex flex-col gap-2">
          <Output label="Arguments" text={argumentsOf(item)} />
          {result && <Output label="Output" text={result.output || "(no output)"} />}
        </div>
      )}
    </div>
  );
}

function Ending({ item }: { item: ToolItem }) {
  const { result, cutOff } = item;
  if (!result)
    return cutOff ? (
      <span className="shrink-0 pr-1 text-xs text-muted-foreground">{cutOff}</span>
    ) : (
      <span className="shrink-0 animate-pulse pr-1 text-xs text-info">running</span>
    );
  return (
    <span className="flex shrink-0 items-center gap-2 pr-1 text-xs tabular-nums">
      {isNotable(result.duration_seconds) && (
        <span className="text-muted-foreground">{duration(result.duration_seconds)}</span>
      )}
      {!succeeded(item) && (
        <span className="text-destructive">{result.exit_code ? `exit ${result.exit_code}` : "failed"}</span>
      )}
    </span>
  );
}

function argumentsOf(item: ToolItem): string {
  return Object.entries(item.arguments)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value, null, 2)}`)
    .join("\n");
}
