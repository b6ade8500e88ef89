import { Suspense } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { cn } from "@/lib/cn";
import { patient } from "@/lib/patient";

const Markdown = patient(() => import("./markdown"));

/** Markdown, and where its reader is not loaded, or cannot be, the same text as it stands. */
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
