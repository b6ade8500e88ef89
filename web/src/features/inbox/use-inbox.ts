/** What waits for a person. An entry that was put away comes back when its order changes. */

import { useQueries } from "@tanstack/react-query";
import type { Order } from "@/api/client";
import { ordersQuery } from "@/api/queries";
import { useStored } from "@/lib/stored";

export type Reason = "approval" | "failure" | "budget" | "review";
export type Entry = { order: Order; reason: Reason };
export type Inbox = ReturnType<typeof useInbox>;

const LIVE_MS = 4_000;
const LIMIT = 50;
const asked = (["awaiting_approval", "failed", "paused", "completed"] as const).map((status) => ({
  ...ordersQuery({ status, limit: LIMIT, sort: "-updated_at" }),
  refetchInterval: LIVE_MS,
  refetchIntervalInBackground: true,
}));

export function reasonOf(order: Order): Reason | null {
  if (order.status === "awaiting_approval") return "approval";
  if (order.error_category === "budget" && (order.status === "paused" || order.status === "failed"))
    return "budget";
  if (order.status === "failed") return "failure";
  const reviewable = order.pull_request_state === "draft" || order.pull_request_state === "open";
  if (order.status === "completed" && reviewable) return "review";
  return null;
}

export function useInbox() {
  const [away, setAway] = useStored<Record<string, string>>("inbox.away", {});
  const { orders, isLoading } = useQueries({
    queries: asked,
    combine: (answers) => ({
      orders: answers.flatMap((answer) => answer.data?.agent_work_orders ?? []),
      isLoading: answers.some((answer) => answer.isLoading),
    }),
  });
  const entries = orders.flatMap((order): Entry[] => {
    const reason = reasonOf(order);
    const isAway = away[order.agent_work_order_id] === order.updated_at && reason !== "approval";
    return reason && !isAway ? [{ order, reason }] : [];
  });
  const putAway = (order: Order) => {
    const known = new Set(orders.map((one) => one.agent_work_order_id));
    const kept = Object.entries(away).filter(([id]) => known.has(id));
    setAway({ ...Object.fromEntries(kept), [order.agent_work_order_id]: order.updated_at });
  };
  return { entries, orders, isLoading, putAway };
}
