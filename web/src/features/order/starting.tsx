/** The stages of an order's start, shown until the agent is active. */

import { Check, LoaderCircle } from "lucide-react";
import type { Order } from "@/api/client";
import type { Start } from "@/events/clock";
import { duration, secondsBetween } from "@/lib/format";
import { useNow } from "@/lib/now";
import { isNotable } from "./words";

type Stage = { name: string; done: string | null };

/** The stages of the newest start with the time each was done; none once it is over. */
export function stagesOf(order: Order, start: Start): Stage[] {
  const begins = order.status === "pending" || order.status === "running";
  if (!begins || start.active || !start.queued) return [];
  return [
    { name: waitingName(order), done: start.started },
    { name: "Fetching the repository", done: start.fetched },
    { name: "Starting the agent", done: null },
  ];
}

export function Committing({ since }: { since: string }) {
  const now = useNow();
  return (
    <span>
      Committing <span className="tabular-nums">{duration(secondsBetween(since, now))}</span>
    </span>
  );
}

const waitingName = ({ status, queue_position }: Order) =>
  status === "pending" && queue_position ? `Queued, number ${queue_position} in line` : "Queued";

export function Starting({ stages, from }: { stages: Stage[]; from: string }) {
  const current = stages.findIndex(({ done }) => !done);
  return (
    <ol
      aria-label="Starting"
      className="my-3 flex flex-col gap-1.5 rounded-lg border bg-card p-4 text-[13px]"
    >
      {stages.map(({ name, done }, index) => (
        <li key={name} className={done || index === current ? "" : "text-muted-foreground"}>
          <span className="flex items-center gap-2.5">
            {done ? (
              <Check aria-hidden className="size-4 text-success" />
            ) : index === current ? (
              <LoaderCircle aria-hidden className="size-4 animate-spin text-info" />
            ) : (
              <span aria-hidden className="size-4" />
            )}
            <span className="flex-1">{name}</span>
            {(done || index === current) && (
              <Took from={index === 0 ? from : (stages[index - 1]?.done ?? from)} to={done} />
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Took({ from, to }: { from: string; to: string | null }) {
  const now = useNow();
  const seconds = secondsBetween(from, to ?? now);
  if (!isNotable(seconds)) return null;
  return <span className="text-xs text-muted-foreground tabular-nums">{duration(seconds)}</span>;
}
