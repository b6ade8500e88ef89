/** A call of a tool on one line: what it did, how long it took, how it ended. It opens to all of it. */

import {
  ChevronRight,
  FilePen,
  FileText,
  type LucideIcon,
  Search,
  SquareTerminal,
  Wrench,
} from "lucide-react";
import { useState } from "react";
import { Output } from "@/components/output";
import type { ToolItem } from "@/events/story";
import { cn } from "@/lib/cn";
import { duration } from "@/lib/format";

const ICONS: Record<string, LucideIcon> = {
  shell: SquareTerminal,
  read_file: FileText,
  write_file: FilePen,
  edit_file: FilePen,
  search: Search,
};
/** The argument that says most about a call. */
const TELLING = ["command", "path", "pattern", "query", "url"];

function summary(call: ToolItem): string {
  const key = TELLING.find((name) => typeof call.arguments[name] === "string");
  const text = key ? String(call.arguments[key]) : JSON.stringify(call.arguments);
  return text.split("\n")[0] ?? "";
}

export function ToolCall({ item }: { item: ToolItem }) {
  const [open, setOpen] = useState(false);
  const Icon = ICONS[item.tool] ?? Wrench;
  const { result } = item;
  return (
    <div className="py-0.5">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2.5 rounded-md py-1 text-left text-[13px] hover:bg-muted"
      >
        <ChevronRight
          aria-hidden
          className={cn("size-4 shrink-0 text-muted-foreground transition-transform", open && "rotate-90")}
        />
        <Icon aria-hidden className="size-4 shrink-0 text-muted-foreground" />
        <span className="shrink-0 text-muted-foreground">{item.tool}</span>
        <code className="min-w-0 flex-1 truncate font-mono text-xs">{summary(item)}</code>
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

function Ending({ item: { result } }: { item: ToolItem }) {
  if (!result) return <span className="shrink-0 animate-pulse text-xs text-info">running</span>;
  const code = result.exit_code ?? null;
  return (
    <span className="flex shrink-0 items-center gap-2 pr-1 text-xs tabular-nums">
      <span className="text-muted-foreground">{duration(result.duration_seconds)}</span>
      {!result.ok || (code !== null && code !== 0) ? (
        <span className="text-destructive">{code === null ? "failed" : `exit ${code}`}</span>
      ) : (
        <span className="text-success">{code === null ? "ok" : `exit ${code}`}</span>
      )}
    </span>
  );
}

function argumentsOf(item: ToolItem): string {
  return Object.entries(item.arguments)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value, null, 2)}`)
    .join("\n");
}
