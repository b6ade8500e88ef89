import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { OneOrder, Order } from "@/api/client";
import { stepsQuery } from "@/api/queries";
import type { Stat } from "@/components/diff/stat";
import { Button } from "@/components/ui/button";
import type { Transcript } from "@/events/transcript";
import { count, money, plural, whole } from "@/lib/format";
import { CostTable } from "./cost-table";
import { ForkDialog } from "./fork";
import { LogEntries } from "./log-entries";
import { verdictOf } from "./panel-bar";
import { StepTable } from "./step-table";
import { allows, useControl } from "./use-control";
import { useStat } from "./use-stat";

export function InfoPanel({ answer, transcript }: { answer: OneOrder; transcript: Transcript }) {
  const order = answer.agent_work_order;
  const navigate = useNavigate();
  const { data } = useQuery(stepsQuery(order.agent_work_order_id));
  const { retryFrom } = useControl(order.agent_work_order_id);
  const stat = useStat(order);
  const [forking, setForking] = useState<string | null>(null);
  const facts: [string, ReactNode][] = [
    ["Order", order.agent_work_order_id],
    ["Repository", order.repository_url],
    ["Branch", order.git_branch_name],
    ["Base branch", answer.base_branch ?? "default"],
    ["Workflow", order.workflow_type],
    ["Agent", [order.agent, order.model].filter(Boolean).join(" · ")],
    ["Sandbox", sandboxOf(order, transcript)],
    ["Created", whole(order.created_at)],
    ["Cost", `${money(order.cost_usd)}${order.budget_usd === null ? "" : ` of ${money(order.budget_usd)}`}`],
    [
      "Tokens",
      `${count(order.tokens_in)} in · ${count(order.tokens_out)} out · ${count(order.tokens_cache_read)} from cache`,
    ],
    ["Changes", changesOf(order, stat)],
    ["Verification", verdictOf(order, transcript)],
    ["Events", String(transcript.last)],
  ];
  return (
    <div className="flex flex-col gap-6 p-5 text-[13px]">
      <section>
        <h2 className="mb-2 font-medium">Steps</h2>
        <StepTable
          steps={data?.steps}
          onFork={allows(order, "fork") ? setForking : undefined}
          onRetry={allows(order, "retry_from_step") ? (step) => retryFrom.mutate(step) : undefined}
        />
      </section>
      <section>
        <h2 className="mb-2 font-medium">Model calls</h2>
        <CostTable id={order.agent_work_order_id} />
      </section>
      <dl className="grid grid-cols-[7rem_1fr] gap-x-4 gap-y-1.5">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted-foreground">{name}</dt>
            <dd className="font-mono text-xs leading-5 break-all">{value}</dd>
          </div>
        ))}
      </dl>
      <LogEntries id={order.agent_work_order_id} events={transcript.last} />
      <div>
        <Button
          size="sm"
          onClick={() =>
            void navigate({
              to: "/",
              search: { repository_url: order.repository_url, prompt: answer.initial_prompt },
            })
          }
        >
          New order like this
        </Button>
      </div>
      {forking && <ForkDialog answer={answer} step={forking} onClose={() => setForking(null)} />}
    </div>
  );
}

/** The writable sandbox; a planner has a read-only one. */
const sandboxOf = (order: Order, { sandboxes }: Transcript) =>
  sandboxes.findLast((name) => !name.endsWith("-read-only")) ?? order.sandbox_type;

const changesOf = ({ git_commit_count }: Order, stat?: Stat) =>
  [
    plural(git_commit_count, "commit"),
    ...(stat ? [plural(stat.files, "file"), `+${stat.added} −${stat.removed}`] : []),
  ].join(" · ");
