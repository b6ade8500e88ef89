/** Files left out of a commit: one line that expands to their names, sizes and reasons. */

import { ChevronRight } from "lucide-react";
import { useState } from "react";
import type { LeftOutItem } from "@/events/items";
import { cn } from "@/lib/cn";
import { fileSize, plural, whole } from "@/lib/format";

export function LeftOut({ item: { at, event } }: { item: LeftOutItem }) {
  const [open, setOpen] = useState(false);
  const more = event.count - event.files.length;
  return (
    <div className="py-0.5 text-muted-foreground">
      <button
        type="button"
        aria-expanded={open}
        title={whole(at)}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2.5 rounded-md py-1 text-left text-[13px] hover:bg-muted"
      >
        <ChevronRight
          aria-hidden
          className={cn("size-4 shrink-0 transition-transform", open && "rotate-90")}
        />
        {plural(event.count, "file was", "files were")} left out of the commit
      </button>
      {open && (
        <ul className="mt-1 ml-6.5 flex flex-col gap-1 text-xs">
          {event.files.map(({ path, size, reason }) => (
            <li key={path}>
              <code className="font-mono break-all text-foreground">{path}</code>
              <span className="ml-2 tabular-nums">{fileSize(size)}</span>
              <span className="ml-2 break-words">{reason}</span>
            </li>
          ))}
          {more > 0 && <li>and {more} more</li>}
        </ul>
      )}
    </div>
  );
}
