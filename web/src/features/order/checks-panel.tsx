import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleDot, CircleX, ShieldCheck } from "lucide-react";
import type { Evidence, Order } from "@/api/client";
import { evidenceQuery } from "@/api/queries";
import { Empty, SkeletonRows, Trouble } from "@/components/feedback";
import { Output } from "@/components/output";
import { cn } from "@/lib/cn";
import { clock, commit, duration } from "@/lib/format";

export function ChecksPanel({ order }: { order: Order }) {
  const { data, error } = useQuery(evidenceQuery(order.agent_work_order_id));
  if (error && !data) return <Trouble fault={error} />;
  if (!data) return <SkeletonRows rows={3} className="m-4" />;
  if (!data.evidence.length) {
    return (
      <Empty icon={ShieldCheck} title="Nothing was checked yet">
        The project's own checks are run outside the agent, after it has built. What each of them showed
        stands here, with the commit it was run on.
      </Empty>
    );
  }
  return (
    <div className="flex flex-col gap-4 p-4">
      {data.evidence.toReversed().map((record) => (
        <Attempt key={`${record.round} ${record.step} ${record.attempt}`} record={record} />
      ))}
    </div>
  );
}

const VERDICTS = {
  true: { icon: CircleCheck, look: "text-success", word: "passed" },
  false: { icon: CircleX, look: "text-destructive", word: "did not pass" },
  null: { icon: CircleDot, look: "text-muted-foreground", word: "showed nothing either way" },
};

function Attempt({ record }: { record: Evidence }) {
  const { icon: Icon, look, word } = VERDICTS[String(record.passed) as keyof typeof VERDICTS];
  return (
    <section className="rounded-lg border">
      <header className="flex flex-wrap items-center gap-2 border-b px-3 py-2 text-[13px]">
        <Icon aria-hidden className={cn("size-4", look)} />
        <h2 className="font-medium">
          Attempt {record.attempt} {word}
        </h2>
        <span className="ml-auto text-xs text-muted-foreground">
          {commit(record.commit_sha)} · {clock(record.created_at)}
        </span>
      </header>
      <ul className="divide-y">
        {record.checks.map((check, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: records never change
          <li key={index} className="px-3 py-2.5">
            <Check check={check as CheckRecord} />
          </li>
        ))}
      </ul>
      {!record.checks.length && <p className="px-3 py-2.5 text-muted-foreground">{record.summary}</p>}
    </section>
  );
}

type CheckRecord = {
  name?: string;
  command?: string | string[];
  status?: string;
  summary?: string;
  exit_code?: number | null;
  duration_seconds?: number;
  failing?: string | string[];
};

function Check({ check }: { check: CheckRecord }) {
  const command = Array.isArray(check.command) ? check.command.join(" ") : check.command;
  const failing = Array.isArray(check.failing) ? check.failing.join("\n") : check.failing;
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-2 text-[13px]">
        <span className="font-medium">{check.name}</span>
        <span className={check.status === "passed" ? "text-success" : "text-destructive"}>
          {check.status}
        </span>
        <span className="text-muted-foreground">{check.summary}</span>
        <span className="ml-auto text-xs text-muted-foreground tabular-nums">
          {check.exit_code !== null && check.exit_code !== undefined && `exit ${check.exit_code} · `}
          {check.duration_seconds !== undefined && duration(check.duration_seconds)}
        </span>
      </div>
      {command && (
        <code className="mt-1 block font-mono text-xs break-all text-muted-foreground">{command}</code>
      )}
      {failing && <Output className="mt-2" label={`What failed in ${check.name}`} text={failing} />}
    </>
  );
}
