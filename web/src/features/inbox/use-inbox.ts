/** The orders that wait for a person. A dismissed entry comes back when its order changes. */

import { useQuery } from "@tanstack/react-query";
import type { Order, Status } from "@/api/client";
import { ordersQuery } from "@/api/queries";
import { useStored } from "@/lib/stored";

export type Reason = "approval" | "failure" | "budget" | "environment" | "review" | "draft";
export type Entry = { order: Order; reason: Reason };
export type Inbox = ReturnType<typeof useInbox>;

const LIVE_MS = 4_000;
/** In the background, with notifications on. */
const HIDDEN_MS = 15_000;
const NEWEST = { limit: 100, sort: "-updated_at" } as const;
/** Those in which an order can wait for a person. */
const STATUSES: Status[] = ["awaiting_approval", "paused", "failed", "completed"];

export function reasonOf(order: Order): Reason | null {
  if (order.status === "awaiting_approval") return "approval";
  if (order.error_category === "budget" && (order.status === "paused" || order.status === "failed"))
    return "budget";
  if (order.error_category === "environment" && order.status === "paused") return "environment";
  if (order.status === "failed") return "failure";
  if (order.status !== "completed") return null;
  if (order.pull_request_state === "draft") return "draft";
  return order.pull_request_state === "open" ? "review" : null;
}

/** One list for the whole page, polled; in the background only with notifications on. */
function useWaitingOrders() {
  const [wantsNotices] = useStored("notices", false);
  const live = {
    refetchInterval: () => (document.hidden ? HIDDEN_MS : LIVE_MS),
    refetchIntervalInBackground: wantsNotices,
  };
  const all = useQuery({ ...ordersQuery({ ...NEWEST, status: STATUSES }), ...live });
  // Many newer orders must not push out one that waits for a decision.
  const approvals = useQuery({
    ...ordersQuery({ ...NEWEST, status: "awaiting_approval" }),
    ...live,
    enabled: all.data?.has_more ?? false,
  });
  const found = [...(all.data?.agent_work_orders ?? []), ...(approvals.data?.agent_work_orders ?? [])];
  const orders = [...new Map(found.map((order) => [order.agent_work_order_id, order])).values()];
  return { orders, isLoading: all.isLoading };
}

export function useInbox() {
  const [dismissed, setDismissed] = useStored<Record<string, string>>("inbox.away", {});
  const { orders, isLoading } = useWaitingOrders();
  const entries = orders.flatMap((order): Entry[] => {
    const reason = reasonOf(order);
    const isAway = dismissed[order.agent_work_order_id] === order.updated_at && reason !== "approval";
    return reason && !isAway ? [{ order, reason }] : [];
  });
  const dismiss = (order: Order) => {
    const known = new Set(orders.map((one) => one.agent_work_order_id));
    const kept = Object.entries(dismissed).filter(([id]) => known.has(id));
    setDismissed({ ...Object.fromEntries(kept), [order.agent_work_order_id]: order.updated_at });
  };
  return { entries, orders, isLoading, dismiss };
}
