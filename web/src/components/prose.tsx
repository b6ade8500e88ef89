import { Suspense } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { cn } from "@/lib/cn";
import { lazyWithRetry } from "@/lib/lazy";

const Markdown = lazyWithRetry(() => import("./markdown"));

/** Markdown, or the plain text while the renderer is not loaded. */
export function Prose({ text, className }: { text: string; className?: string }) {
  const plain = <p className="my-1.5 whitespace-pre-wrap">{text}</p>;
  return (
    <div className={cn("max-w-prose leading-relaxed break-words", className)}>
      <ErrorBoundary fallback={plain}>
        <Suspense fallback={plain}>
          <Markdown text={text} />
        </Suspense>
      </ErrorBoundary>
    </div>
  );
}
