/** An order's log, the newest entry first, as it was when opened. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { logQuery } from "@/api/queries";
import { SkeletonRows } from "@/components/feedback";
import { Output } from "@/components/output";
import { Button } from "@/components/ui/button";
import { clock } from "@/lib/format";

const NEWEST = 200;
const FIRST = new Set(["timestamp", "level", "event", "agent_work_order_id", "sequence"]);

export function LogEntries({ id, events }: { id: string; events: number }) {
  const [from, setFrom] = useState<number | null>(null);
  const open = from !== null;
  const { data } = useQuery({ ...logQuery(id, from ?? 0, NEWEST), enabled: open });
  return (
    <section>
      <div className="flex flex-wrap gap-2">
        <Button
          size="sm"
          aria-expanded={open}
          onClick={() => setFrom(open ? null : Math.max(0, events - NEWEST))}
        >
          {open ? "Hide the log" : "Show the log"}
        </Button>
        <Button size="sm" asChild>
          <a href={`/api/agent-work-orders/${id}/logs?limit=1000`} target="_blank" rel="noreferrer">
            As JSON
          </a>
        </Button>
      </div>
      {open && !data && <SkeletonRows rows={3} className="mt-3 h-6" />}
      {open && data && (
        <Output className="mt-3" label="Log" text={data.log_entries.map(line).toReversed().join("\n")} />
      )}
    </section>
  );
}

function line(entry: Record<string, unknown>): string {
  const fields = Object.entries(entry)
    .filter(([name, value]) => !FIRST.has(name) && value !== null && value !== "")
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return [clock(String(entry.timestamp)), entry.event, ...fields].join(" ");
}
