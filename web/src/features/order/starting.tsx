/** What happens before the agent says anything, step by step, instead of a wheel that turns. */

import { Check, LoaderCircle } from "lucide-react";
import type { Order } from "@/api/client";
import type { Item, SystemItem } from "@/events/story";
import { duration, secondsBetween } from "@/lib/format";
import { useNow } from "@/lib/now";

type Stage = { name: string; done: string | null };

/** The stages of a start, with the moment each was done; none when the start is over. */
export function stagesOf(order: Order, items: Item[]): Stage[] {
  if (order.status !== "pending" && order.status !== "running") return [];
  const began = items.findLastIndex(
    (item) => item.kind === "prompt" || (item.kind === "system" && item.sign === "state"),
  );
  const round = items.slice(began + 1);
  if (round.some((item) => item.kind === "text" || item.kind === "tool" || item.kind === "checks")) return [];
  const first = (sign: SystemItem["sign"]) =>
    round.find((item) => item.kind === "system" && item.sign === sign)?.at ?? null;
  const repeated = began >= 0 && items.some((item) => item.kind === "system" && item.sign === "branch");
  const step = round.find((item) => item.kind === "step")?.at ?? null;
  const fetched = repeated ? step : first("branch");
  const sandbox = first("sandbox");
  return [
    { name: waitingName(order), done: order.status === "pending" ? null : order.execution_started_at },
    { name: "Fetching the repository", done: fetched },
    { name: "Creating the sandbox", done: sandbox },
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
  status === "pending" && queue_position
    ? `Waiting for a worker, place ${queue_position} in line`
    : "Waiting for a worker";

export function Starting({ stages, from }: { stages: Stage[]; from: string }) {
  const now = useNow();
  const current = stages.findIndex(({ done }) => !done);
  return (
    <ol
      aria-label="Starting"
      className="my-3 flex flex-col gap-1.5 rounded-lg border bg-card p-4 text-[13px]"
    >
      {stages.map(({ name, done }, index) => {
        const began = index === 0 ? from : (stages[index - 1]?.done ?? null);
        const end = done ?? (index === current ? now : null);
        return (
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
              {began && end && (
                <span className="text-xs text-muted-foreground tabular-nums">
                  {duration(secondsBetween(began, end))}
                </span>
              )}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
