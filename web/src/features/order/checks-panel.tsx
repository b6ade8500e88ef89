import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleDot, CircleX, LoaderCircle, ShieldCheck } from "lucide-react";
import type { Evidence, Order } from "@/api/client";
import { evidenceQuery } from "@/api/queries";
import { Empty, ErrorMessage, SkeletonRows } from "@/components/feedback";
import type { Transcript } from "@/events/transcript";
import { cn } from "@/lib/cn";
import { commit } from "@/lib/format";
import { CheckView } from "./check-view";
import { verdictOf } from "./panel-bar";
import { Proof } from "./proof";
import { hourAndMinute } from "./words";

export function ChecksPanel({ order, transcript }: { order: Order; transcript: Transcript }) {
  const { data, error } = useQuery(evidenceQuery(order.agent_work_order_id));
  const running = verdictOf(order, transcript) === "running";
  if (error && !data) return <ErrorMessage fault={error} />;
  if (!data) return <SkeletonRows rows={3} className="m-4" />;
  if (!data.evidence.length && !running) {
    return (
      <Empty icon={ShieldCheck} title="Nothing checked yet">
        The project's own checks run on a clean checkout after the build. Results appear here with the commit
        they belong to.
      </Empty>
    );
  }
  return (
    <div className="flex flex-col gap-4 p-4">
      {running && (
        <p role="status" className="flex items-center gap-2 rounded-lg border px-3 py-2 text-[13px]">
          <LoaderCircle aria-hidden className="size-4 animate-spin text-info [animation-duration:2s]" />
          Checks are running
        </p>
      )}
      {data.evidence.toReversed().map((record) => (
        <Attempt key={`${record.round} ${record.step} ${record.attempt}`} order={order} record={record} />
      ))}
    </div>
  );
}

const VERDICTS = {
  true: { icon: CircleCheck, look: "text-success", word: "passed" },
  false: { icon: CircleX, look: "text-destructive", word: "failed" },
  null: { icon: CircleDot, look: "text-muted-foreground", word: "was inconclusive" },
};

function Attempt({ order, record }: { order: Order; record: Evidence }) {
  const { icon: Icon, look, word } = VERDICTS[String(record.passed) as keyof typeof VERDICTS];
  return (
    <section className="rounded-lg border">
      <header className="flex flex-wrap items-center gap-2 border-b px-3 py-2 text-[13px]">
        <Icon aria-hidden className={cn("size-4", look)} />
        <h2 className="font-medium">
          Attempt {record.attempt} {word}
        </h2>
        <span className="ml-auto text-xs text-muted-foreground">
          {commit(record.commit_sha)} · {hourAndMinute(record.created_at)}
        </span>
        {record.statement && (
          <a
            href={addressOf(order, record, "statement")}
            download
            className="text-xs text-primary hover:underline"
          >
            Signed evidence
          </a>
        )}
      </header>
      <ul className="divide-y">
        {record.checks.map((check, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: records never change
          <li key={index} className="px-3 py-2.5">
            <CheckView
              check={check}
              outputAddress={addressOf(order, record, `output/${encodeURIComponent(check.name)}`)}
            />
          </li>
        ))}
      </ul>
      {!record.checks.length && <p className="px-3 py-2.5 text-muted-foreground">{record.summary}</p>}
      <Proof record={record} />
    </section>
  );
}

function addressOf(order: Order, { round, step, attempt }: Evidence, what: string) {
  const which = new URLSearchParams({ round: String(round), step });
  return `/api/agent-work-orders/${order.agent_work_order_id}/evidence/${attempt}/${what}?${which}`;
}
