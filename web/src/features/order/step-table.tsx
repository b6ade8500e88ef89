/** The steps of an order with their time and cost. Those that ran can be run again, here or in a fork. */

import { GitFork, RotateCw } from "lucide-react";
import type { Step } from "@/api/client";
import { SkeletonRows } from "@/components/feedback";
import { Button } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import { count, duration, money, secondsBetween } from "@/lib/format";
import { useNow } from "@/lib/now";
import { title } from "./words";

const LOOKS: Record<Step["status"], string> = {
  running: "text-info",
  completed: "text-success",
  failed: "text-destructive",
  skipped: "text-muted-foreground",
  waiting: "text-muted-foreground",
};

type Props = {
  steps: Step[] | undefined;
  /** Undefined where the order does not allow it. */
  onFork?: (step: string) => void;
  onRetry?: (step: string) => void;
};

export function StepTable({ steps, onFork, onRetry }: Props) {
  const now = useNow();
  if (!steps) return <SkeletonRows rows={4} className="h-7" />;
  const latest = steps.at(-1)?.round;
  if (!steps.length) return <p className="text-muted-foreground">No steps yet.</p>;
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label="Table"
      className="overflow-x-auto"
    >
      <table className="w-full text-left">
        <thead className="text-xs text-muted-foreground">
          <tr className="border-b">
            <th className="py-1.5 font-normal">Step</th>
            <th className="pl-2 font-normal">Status</th>
            <th className="pl-2 text-right font-normal">Tries</th>
            <th className="pl-2 text-right font-normal">Time</th>
            <th className="pl-2 text-right font-normal">Tokens</th>
            <th className="pl-2 text-right font-normal">Cost</th>
            <th>
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody className="tabular-nums">
          {steps.map((step) => (
            <tr key={`${step.round} ${step.step}`} className="border-b last:border-0">
              <td className="py-1 font-medium">
                {title(step.step)}
                {step.round > 1 && (
                  <span className="ml-1.5 text-xs font-normal text-muted-foreground">round {step.round}</span>
                )}
              </td>
              <td className={cn("pl-2 text-xs", LOOKS[step.status])}>{step.status}</td>
              <td className="pl-2 text-right">{step.attempts}</td>
              <td className="pl-2 text-right whitespace-nowrap">
                {duration(secondsBetween(step.started_at, step.completed_at ?? now))}
              </td>
              <td className="pl-2 text-right">{count(step.tokens_in + step.tokens_out)}</td>
              <td className="pl-2 text-right">{money(step.cost_usd)}</td>
              <td className="text-right whitespace-nowrap">
                {step.round === latest && hasRun(step) && (
                  <StepActions step={step.step} onFork={onFork} onRetry={onRetry} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const hasRun = ({ status }: Step) => status !== "skipped" && status !== "waiting";

function StepActions({ step, onFork, onRetry }: Omit<Props, "steps"> & { step: string }) {
  return (
    <>
      {onRetry && (
        <Button
          size="sm"
          look="quiet"
          className="px-1.5"
          title="Run this step and everything after it again"
          onClick={() => onRetry(step)}
        >
          <RotateCw /> <span className="sr-only">Run again from {step}</span>
        </Button>
      )}
      {onFork && (
        <Button
          size="sm"
          look="quiet"
          className="px-1.5"
          title="Fork a new order from here"
          onClick={() => onFork(step)}
        >
          <GitFork /> <span className="sr-only">Fork from {step}</span>
        </Button>
      )}
    </>
  );
}
