/** One check: its command, result and output. */

import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Output } from "@/components/output";
import { Button } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import { duration } from "@/lib/format";
import { type Fault, Faults } from "./faults";
import { type TestList, Tests } from "./tests";

/** As stored by the server; older records have no output, and events of theirs a status instead of an outcome. */
export type Check = {
  name?: string;
  command?: string | string[];
  outcome?: string;
  status?: string;
  faults?: Fault[];
  summary?: string;
  exit_code?: number | null;
  duration_seconds?: number;
  failing?: string | string[];
  output?: string;
  base?: { outcome: string; summary: string } | null;
} & Partial<Record<TestList, string[]>>;

const OUTCOMES: Record<string, { word: string; look: string }> = {
  passed: { word: "passed", look: "text-success" },
  failed: { word: "failed", look: "text-destructive" },
  timed_out: { word: "timed out", look: "text-destructive" },
  environment: { word: "not run", look: "text-warning" },
  flaky: { word: "flaky", look: "text-warning" },
  unavailable: { word: "nothing to run", look: "text-muted-foreground" },
};

const joined = (text: string | string[] | undefined, by: string) =>
  Array.isArray(text) ? text.join(by) : text;

/** `outputAddress`: where the whole output is, of which the record holds the beginning and the end. */
export function CheckView({ check, outputAddress }: { check: Check; outputAddress?: string }) {
  const [open, setOpen] = useState(false);
  const command = joined(check.command, " ");
  const failing = joined(check.failing, "\n");
  const outcome = check.outcome ?? check.status ?? "";
  const { word, look } = OUTCOMES[outcome] ?? { word: outcome, look: "text-muted-foreground" };
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-2 text-[13px]">
        <span className="font-medium">{check.name}</span>
        <span className={look}>{word}</span>
        <span className="text-muted-foreground">{check.summary}</span>
        <span className="ml-auto text-xs text-muted-foreground tabular-nums">
          {Boolean(check.exit_code) && `exit ${check.exit_code} · `}
          {check.duration_seconds !== undefined && duration(check.duration_seconds)}
        </span>
      </div>
      {command && (
        <code className="mt-1 block font-mono text-xs break-all text-muted-foreground">{command}</code>
      )}
      {check.base && (
        <p className="mt-1 text-xs text-muted-foreground">
          Before the change: {OUTCOMES[check.base.outcome]?.word ?? check.base.outcome}, {check.base.summary}
        </p>
      )}
      <Tests check={check} />
      <Faults faults={check.faults ?? []} check={check.name} />
      {failing && outcome !== "environment" && (
        <Output className="mt-2" label={`What failed in ${check.name}`} text={failing} />
      )}
      {check.output && (
        <Button
          size="sm"
          look="quiet"
          className="mt-1 -ml-2"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <ChevronRight className={cn("transition-transform", open && "rotate-90")} />
          {open ? "Hide" : "Show"} output<span className="sr-only"> of {check.name}</span>
        </Button>
      )}
      {open && check.output && (
        <Output className="mt-1" label={`Output of ${check.name}`} text={check.output} />
      )}
      {open && outputAddress && (
        <a href={outputAddress} className="mt-1 inline-block text-xs text-primary hover:underline">
          View the whole output<span className="sr-only"> of {check.name}</span>
        </a>
      )}
    </>
  );
}
