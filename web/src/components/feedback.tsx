/** What is shown instead of content: loading, empty and error states. */

import { CircleAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { problemOf } from "@/api/client";
import { plainText } from "@/lib/advice";
import { cn } from "@/lib/cn";
import { Button } from "./ui/button";

export const Skeleton = ({ className }: { className?: string }) => (
  <div aria-hidden className={cn("animate-pulse rounded-md bg-muted", className)} />
);

export function SkeletonRows({ rows = 5, className }: { rows?: number; className?: string }) {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-2">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all the same
        <Skeleton key={index} className={cn("h-14", className)} />
      ))}
    </div>
  );
}

type EmptyProps = { icon: LucideIcon; title: string; children?: ReactNode; className?: string };

export function Empty({ icon: Icon, title, children, className }: EmptyProps) {
  return (
    <div className={cn("flex flex-col items-center gap-2 px-6 py-12 text-center", className)}>
      <span className="mb-1 rounded-full bg-muted p-3 text-muted-foreground">
        <Icon aria-hidden className="size-5" />
      </span>
      <p className="font-medium">{title}</p>
      <div className="max-w-md text-muted-foreground">{children}</div>
    </div>
  );
}

export function ErrorMessage({ fault, onRetry }: { fault: unknown; onRetry?: () => void }) {
  const problem = problemOf(fault);
  const hint = plainText(problem.hint);
  return (
    <div
      role="alert"
      className="m-4 flex items-start gap-3 rounded-lg border border-destructive/40 bg-card p-4"
    >
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-destructive" />
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words">{problem.detail}</p>
        {hint && <p className="mt-0.5 text-muted-foreground">{hint}</p>}
      </div>
      {onRetry && (
        <Button size="sm" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
