/** Successful tool calls, collapsed into one line. */

import { ChevronRight } from "lucide-react";
import { useState } from "react";
import type { ToolItem } from "@/events/items";
import { cn } from "@/lib/cn";
import { ToolCall } from "./tool-call";
import { summaryOf } from "./tools";

export function ToolCalls({ items }: { items: ToolItem[] }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="py-0.5">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2.5 rounded-md py-1 text-left text-[13px] text-muted-foreground hover:bg-muted"
      >
        <ChevronRight
          aria-hidden
          className={cn("size-4 shrink-0 transition-transform", open && "rotate-90")}
        />
        {summaryOf(items)}
      </button>
      {open && (
        <div className="ml-2 border-l pl-2">
          {items.map((item) => (
            <ToolCall key={item.key} item={item} />
          ))}
        </div>
      )}
    </div>
  );
}
