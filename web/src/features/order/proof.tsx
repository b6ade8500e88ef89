/** What an attempt shows beyond its checks: tests that fail without the change, and changes to what judges it. */

import { FlaskConical, TriangleAlert } from "lucide-react";
import type { Evidence } from "@/api/client";
import { Disclosure } from "@/components/disclosure";

type Shown = { test: string; on_base: string; on_head: string };
type Finding = { kind: string; path: string; lines: [number, number] | null; detail: string };

const isShown = ({ on_base, on_head }: Shown) => on_head === "passed" && on_base !== "passed";
const SIDES: Record<string, string> = { not_run: "could not be run" };

export function Proof({ record }: { record: Evidence }) {
  const tests = record.red_to_green as Shown[];
  const findings = record.tampering as Finding[];
  return (
    <>
      {tests.length > 0 && <RedToGreen tests={tests} />}
      {findings.length > 0 && <Tampering findings={findings} />}
    </>
  );
}

function RedToGreen({ tests }: { tests: Shown[] }) {
  const shown = tests.filter(isShown).length;
  return (
    <section className="border-t px-3 py-2.5 text-[13px]">
      <p className="flex items-center gap-2">
        <FlaskConical aria-hidden className={shown ? "size-4 text-success" : "size-4 text-warning"} />
        {shown
          ? `${shown} ${shown === 1 ? "test fails" : "tests fail"} without the change and ${shown === 1 ? "passes" : "pass"} with it`
          : "The change's tests pass without it, too: they do not show it"}
      </p>
      <Disclosure title="Tests of the change">
        <ul className="mt-1 flex flex-col gap-1">
          {tests.map(({ test, on_base, on_head }) => (
            <li key={test} className="font-mono text-xs break-all">
              {test}{" "}
              <span className="font-sans text-muted-foreground">
                {SIDES[on_base] ?? on_base} before, {on_head} now
              </span>
            </li>
          ))}
        </ul>
      </Disclosure>
    </section>
  );
}

function Tampering({ findings }: { findings: Finding[] }) {
  return (
    <section className="border-t px-3 py-2.5 text-[13px]">
      <p className="flex items-center gap-2">
        <TriangleAlert aria-hidden className="size-4 text-warning" />
        The change touches what judges it
      </p>
      <ul className="mt-1 flex flex-col gap-1">
        {findings.map(({ kind, path, lines, detail }) => (
          <li key={`${kind} ${path} ${lines} ${detail}`} className="text-xs break-words">
            <code className="font-mono break-all">
              {path}
              {lines && `:${lines[0]}`}
            </code>{" "}
            {detail}
          </li>
        ))}
      </ul>
    </section>
  );
}
