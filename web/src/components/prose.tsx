import { lazy, Suspense } from "react";
import { cn } from "@/lib/cn";

const Markdown = lazy(() => import("./markdown"));

/** Markdown, and until its reader is loaded the same text as it stands. */
export function Prose({ text, className }: { text: string; className?: string }) {
  return (
    <div className={cn("max-w-prose leading-relaxed break-words", className)}>
      <Suspense fallback={<p className="my-1.5 whitespace-pre-wrap">{text}</p>}>
        <Markdown text={text} />
      </Suspense>
    </div>
  );
}
