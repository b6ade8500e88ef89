import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import type { OneOrder, Status, Step } from "@/api/client";
import { stepsQuery } from "@/api/queries";
import { Button } from "@/components/ui/button";
import type { Story } from "@/events/story";
import { cn } from "@/lib/cn";
import { count, duration, money, secondsBetween, whole } from "@/lib/format";
import { useNow } from "@/lib/now";
import { useControl } from "./use-control";

export function InfoPanel({ answer, story }: { answer: OneOrder; story: Story }) {
  const order = answer.agent_work_order;
  const navigate = useNavigate();
  const { data } = useQuery(stepsQuery(order.agent_work_order_id));
  const { again } = useControl(order.agent_work_order_id);
  const facts: [string, ReactNode][] = [
    ["Order", order.agent_work_order_id],
    ["Repository", order.repository_url],
    ["Branch", order.git_branch_name],
    ["Begins from", answer.base_branch ?? "the default branch"],
    ["Workflow", order.workflow_type],
    ["Agent", `${order.agent} · ${order.model}`],
    ["Sandbox", order.sandbox_identifier ?? order.sandbox_type],
    ["Created", whole(order.created_at)],
    ["Cost", `${money(order.cost_usd)}${order.budget_usd === null ? "" : ` of ${money(order.budget_usd)}`}`],
    [
      "Tokens",
      `${count(order.tokens_in)} in · ${count(order.tokens_out)} out · ${count(order.tokens_cache_read)} from cache`,
    ],
    [
      "Git",
      `${order.git_commit_count} commits · ${order.git_files_changed} files · +${order.git_lines_added} −${order.git_lines_removed}`,
    ],
    ["Verification", order.verification],
    ["Events", String(story.last)],
  ];
  return (
    <div className="flex flex-col gap-6 p-5 text-[13px]">
      <section>
        <h2 className="mb-2 font-medium">Steps</h2>
        <StepTable
          steps={data?.steps ?? []}
          onAgain={MAY_BEGIN_AGAIN.includes(order.status) ? (step) => again.mutate(step) : undefined}
        />
      </section>
      <dl className="grid grid-cols-[7rem_1fr] gap-x-4 gap-y-1.5">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted-foreground">{name}</dt>
            <dd className="font-mono text-xs leading-5 break-all">{value}</dd>
          </div>
        ))}
      </dl>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" asChild>
          <a
            href={`/api/agent-work-orders/${order.agent_work_order_id}/logs?limit=1000`}
            target="_blank"
            rel="noreferrer"
          >
            Log entries as JSON
          </a>
        </Button>
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
    </div>
  );
}

const LOOKS: Record<Step["status"], string> = {
  running: "text-info",
  completed: "text-success",
  failed: "text-destructive",
  skipped: "text-muted-foreground",
  waiting: "text-muted-foreground",
};

const MAY_BEGIN_AGAIN: Status[] = ["completed", "failed", "cancelled"];

type TableProps = { steps: Step[]; onAgain?: (step: string) => void };

function StepTable({ steps, onAgain }: TableProps) {
  const now = useNow();
  const latest = steps.at(-1)?.round;
  if (!steps.length) return <p className="text-muted-foreground">None was begun yet.</p>;
  return (
    <table className="w-full text-left">
      <thead className="text-xs text-muted-foreground">
        <tr className="border-b">
          <th className="py-1.5 font-normal">Step</th>
          <th className="font-normal">Status</th>
          <th className="text-right font-normal">Tries</th>
          <th className="text-right font-normal">Time</th>
          <th className="text-right font-normal">Tokens</th>
          <th className="text-right font-normal">Cost</th>
          {onAgain && (
            <th>
              <span className="sr-only">Again</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody className="tabular-nums">
        {steps.map((step) => (
          <tr key={`${step.round} ${step.step}`} className="border-b last:border-0">
            <td className="py-1.5 font-medium">
              {step.step}
              {step.round > 1 && (
                <span className="ml-1.5 text-xs font-normal text-muted-foreground">round {step.round}</span>
              )}
            </td>
            <td className={cn("text-xs", LOOKS[step.status])}>{step.status}</td>
            <td className="text-right">{step.attempts}</td>
            <td className="text-right">
              {duration(secondsBetween(step.started_at, step.completed_at ?? now))}
            </td>
            <td className="text-right">{count(step.tokens_in + step.tokens_out)}</td>
            <td className="text-right">{money(step.cost_usd)}</td>
            {onAgain && (
              <td className="text-right">
                {step.round === latest && (
                  <Button
                    size="sm"
                    look="quiet"
                    title="Do this step and all after it again"
                    onClick={() => onAgain(step.step)}
                  >
                    <RotateCw /> <span className="sr-only">Again from {step.step}</span>
                  </Button>
                )}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
