/** Failed tries on one line, with a countdown to the next and a button to retry now. */

import { RotateCw } from "lucide-react";
import { Button } from "@/components/ui/button";
import type { RetryItem } from "@/events/items";
import { plural } from "@/lib/format";
import { useNow } from "@/lib/now";
import { Faint, Line } from "./line";
import { useControl } from "./use-control";
import { title } from "./words";

export function RetryLine({ id, item }: { id: string; item: RetryItem }) {
  const live = item.state !== "over";
  const newest = item.reasons.at(-1);
  return (
    <Line icon={RotateCw} look={live ? "text-warning" : undefined} at={item.at}>
      {live ? `Retrying ${title(item.step).toLowerCase()}` : `Retried ${plural(item.reasons.length, "time")}`}
      {item.state === "waiting" && <Countdown until={item.until} />}
      {live && item.reasons.length > 1 && (
        <Faint>{plural(item.reasons.length, "failed try", "failed tries")}</Faint>
      )}
      {item.state === "waiting" && item.whole && <RetryNow id={id} />}
      <p className="text-xs text-muted-foreground">{newest}</p>
    </Line>
  );
}

function Countdown({ until }: { until: number }) {
  const left = Math.max(0, Math.ceil((until - useNow()) / 1000));
  return <Faint>{left ? `in ${left} s` : "now"}</Faint>;
}

function RetryNow({ id }: { id: string }) {
  const { retryNow } = useControl(id);
  return (
    <Button size="sm" className="ml-2" disabled={retryNow.isPending} onClick={() => retryNow.mutate()}>
      Retry now
    </Button>
  );
}
