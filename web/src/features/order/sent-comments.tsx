import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { anchorOf } from "@/components/diff/diff-file";
import { cn } from "@/lib/cn";
import { plural } from "@/lib/format";
import { type SentComment, whereOf } from "./review";

/** The review comments that were sent and their state, also those whose lines are no longer in the diff. */
export function SentComments({ sent }: { sent: SentComment[] }) {
  const [open, setOpen] = useState(true);
  return (
    <section aria-label="Review comments" className="mb-3 rounded-lg border text-[13px]">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2 px-3 py-2 text-left font-medium"
      >
        <ChevronRight aria-hidden className={cn("size-4 transition-transform", open && "rotate-90")} />
        {plural(sent.length, "review comment")}
      </button>
      {open && (
        <ul className="divide-y border-t">
          {sent.map((comment) => (
            <li key={comment.key}>
              <button
                type="button"
                onClick={() => document.getElementById(anchorOf(comment.file))?.scrollIntoView()}
                className="w-full px-3 py-2 text-left hover:bg-muted"
              >
                <span className="block truncate">{comment.text}</span>
                <span className="flex gap-2 text-xs text-muted-foreground">
                  <span className="min-w-0 flex-1 truncate font-mono">{whereOf(comment)}</span>
                  <span>{comment.state}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
