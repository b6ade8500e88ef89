/** What all orders spent on models, and the limits. Days are in UTC, as on the server. */

import { useQuery } from "@tanstack/react-query";
import { spendingQuery } from "@/api/queries";
import { Card } from "@/components/page";
import { money } from "@/lib/format";
import { Section } from "./section";

export const DAYS = 30;
const SHOWN = 7;

export function Spending() {
  const { data } = useQuery(spendingQuery(DAYS));
  const today = new Date().toISOString().slice(0, 10);
  return (
    <Section
      title="Spending"
      note="Model costs of all orders. An order that would exceed a limit stops. Limits are part of the server's settings."
    >
      {data && (
        <Card className="flex flex-col gap-4 p-4 text-[13px]">
          <Meter
            name="Today"
            spent={data.days.find(({ day }) => day === today)?.cost_usd ?? 0}
            budget={data.budget_per_day_usd}
          />
          <Meter name="Total" spent={data.spent_total_usd} budget={data.budget_total_usd} />
          {data.days.length > 0 && (
            <table className="w-full max-w-md text-left tabular-nums">
              <thead className="text-xs text-muted-foreground">
                <tr className="border-b">
                  <th className="py-1 font-normal">Day</th>
                  <th className="text-right font-normal">Calls</th>
                  <th className="text-right font-normal">Cost</th>
                </tr>
              </thead>
              <tbody>
                {data.days
                  .toSorted((a, b) => b.day.localeCompare(a.day))
                  .slice(0, SHOWN)
                  .map(({ day, calls, unpriced_calls, cost_usd }) => (
                    <tr key={day} className="border-b last:border-0">
                      <td className="py-1">{day}</td>
                      <td className="text-right">
                        {calls}
                        {unpriced_calls > 0 && ` (${unpriced_calls} without a price)`}
                      </td>
                      <td className="text-right">{money(cost_usd)}</td>
                    </tr>
                  ))}
              </tbody>
            </table>
          )}
        </Card>
      )}
    </Section>
  );
}

type MeterProps = { name: string; spent: number; budget: number | null };

function Meter({ name, spent, budget }: MeterProps) {
  return (
    <div>
      <p className="flex justify-between gap-3">
        <span>{name}</span>
        <span className="tabular-nums">
          {money(spent)}{" "}
          <span className="text-muted-foreground">
            {budget === null ? "no limit" : `of ${money(budget)}`}
          </span>
        </span>
      </p>
      {budget !== null && (
        <meter
          aria-label={`${name}: spent of the budget`}
          max={budget || 1}
          high={budget * 0.8}
          optimum={0}
          value={budget ? spent : 1}
          className="mt-1 h-2.5 w-full"
        />
      )}
    </div>
  );
}
