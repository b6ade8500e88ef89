/** The cost of an order's model calls by round, agent and model. Steps have a table of their own. */

import { useQuery } from "@tanstack/react-query";
import type { Cost } from "@/api/client";
import { costQuery } from "@/api/queries";
import { SkeletonRows } from "@/components/feedback";
import { count, money, plural } from "@/lib/format";

type Row = Cost["total"] & { kind: string; name: string };

export function CostTable({ id }: { id: string }) {
  const { data } = useQuery(costQuery(id));
  if (!data) return <SkeletonRows rows={3} className="h-7" />;
  if (!data.total.calls) return <p className="text-muted-foreground">No model calls yet.</p>;
  return (
    <>
      <table className="w-full text-left">
        <thead className="text-xs text-muted-foreground">
          <tr className="border-b">
            <th className="py-1.5 font-normal">By</th>
            <th className="pl-2 text-right font-normal">Calls</th>
            <th className="pl-2 text-right font-normal">Tokens in</th>
            <th className="pl-2 text-right font-normal">out</th>
            <th className="pl-2 text-right font-normal">Cost</th>
          </tr>
        </thead>
        <tbody className="tabular-nums">
          {rowsOf(data).map((row) => (
            <tr key={`${row.kind} ${row.name}`} className="border-b last:border-0">
              <td className="py-1 break-all">
                <span className="text-muted-foreground">{row.kind}</span> {row.name}
              </td>
              <td className="pl-2 text-right">{row.calls}</td>
              <td className="pl-2 text-right">{count(row.tokens_in)}</td>
              <td className="pl-2 text-right">{count(row.tokens_out)}</td>
              <td className="pl-2 text-right">{money(row.cost_usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {data.total.unpriced_calls > 0 && (
        <p className="mt-1 text-xs text-muted-foreground">
          {plural(data.total.unpriced_calls, "call")} without a known price are not included.
        </p>
      )}
    </>
  );
}

const rowsOf = (cost: Cost): Row[] => [
  ...cost.by_round.map((one) => ({ ...one, kind: "round", name: String(one.round) })),
  ...cost.by_agent.map((one) => ({ ...one, kind: "agent", name: one.agent })),
  ...cost.by_model.map((one) => ({ ...one, kind: "model", name: one.model })),
];
