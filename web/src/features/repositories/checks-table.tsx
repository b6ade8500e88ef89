/** The repository's own checks on its untouched base. */

import type { CheckFact } from "@/api/client";
import { Card } from "@/components/page";
import { cn } from "@/lib/cn";
import { duration } from "@/lib/format";

const LOOKS: Record<CheckFact["outcome"], { word: string; look: string }> = {
  passed: { word: "Passed", look: "text-success" },
  failed: { word: "Failed", look: "text-destructive" },
  environment: { word: "Something is missing", look: "text-warning" },
  timed_out: { word: "Timed out", look: "text-destructive" },
  flaky: { word: "Flaky", look: "text-warning" },
  unavailable: { word: "Nothing to run", look: "text-muted-foreground" },
};

export function ChecksTable({ checks }: { checks: readonly CheckFact[] }) {
  return (
    <section aria-labelledby="checks-title">
      <h2 id="checks-title" className="mb-2 font-medium">
        Checks
      </h2>
      <Card className="overflow-hidden">
        <section
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          aria-label="Table of checks"
          className="overflow-x-auto"
        >
          <table className="w-full text-left text-[13px]">
            <thead className="text-xs text-muted-foreground">
              <tr className="border-b">
                <th className="px-4 py-2 font-normal">Check</th>
                <th className="px-2 font-normal">Outcome</th>
                <th className="px-4 text-right font-normal">Time</th>
              </tr>
            </thead>
            <tbody>
              {checks.map((check) => (
                <tr key={`${check.name} ${check.command}`} className="border-b align-top last:border-0">
                  <td className="min-w-36 px-4 py-2">
                    <p className="font-medium">{check.name}</p>
                    <code className="font-mono text-xs [overflow-wrap:anywhere] text-muted-foreground">
                      {check.command}
                    </code>
                    {check.workdir !== "." && (
                      <p className="text-xs text-muted-foreground">in {check.workdir}</p>
                    )}
                  </td>
                  <td className="px-2 py-2">
                    <p className={cn("font-medium whitespace-nowrap", LOOKS[check.outcome].look)}>
                      {LOOKS[check.outcome].word}
                    </p>
                    {check.summary !== check.outcome && (
                      <p className="text-xs break-words text-muted-foreground">{check.summary}</p>
                    )}
                  </td>
                  <td className="px-4 py-2 text-right whitespace-nowrap tabular-nums">
                    {duration(check.duration_seconds)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </Card>
    </section>
  );
}
