/** The count in the page's title, and browser notifications while the page is hidden. */

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { Order } from "@/api/client";
import { useStored } from "@/lib/stored";
import { type Inbox, type Reason, reasonOf } from "./use-inbox";

export const REASONS: Record<Reason, string> = {
  approval: "Needs approval",
  failure: "Failed",
  budget: "Out of budget",
  environment: "Checks lack something",
  review: "Ready for review",
  draft: "Draft pull request",
};

export function useNotices({ entries, orders, isLoading }: Inbox) {
  const [wanted] = useStored("notices", false);
  const navigate = useNavigate();
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    const name = document.title.replace(/^\(\d+\) /, "");
    document.title = entries.length ? `(${entries.length}) ${name}` : name;
  });
  useEffect(() => {
    // What was there when the page was opened is not notified.
    if (isLoading) return;
    const before = known.current;
    known.current = new Set(orders.map(momentOf));
    if (!wanted || !before || !document.hidden || !mayNotify()) return;
    for (const order of orders) {
      const word = wordOf(order);
      if (!word || before.has(momentOf(order))) continue;
      const id = order.agent_work_order_id;
      const notice = new Notification(order.title, { body: word, tag: id, icon: "/icon.svg" });
      notice.onclick = () => {
        window.focus();
        notice.close();
        void navigate({ to: "/orders/$id", params: { id } });
      };
    }
  }, [orders, isLoading, wanted, navigate]);
}

/** Changes with every round, also where two end alike. */
const momentOf = ({ agent_work_order_id, status, execution_completed_at }: Order) =>
  `${agent_work_order_id} ${status} ${execution_completed_at}`;

/** The text of a notification about an order; null for what the user did themselves. */
export function wordOf(order: Order): string | null {
  const reason = reasonOf(order);
  return reason ? REASONS[reason] : order.status === "completed" ? "Completed" : null;
}

const mayNotify = () => typeof Notification !== "undefined" && Notification.permission === "granted";

/** Asks the browser for permission; whether it was granted. */
export async function askForNotices(): Promise<boolean> {
  if (typeof Notification === "undefined") return false;
  return (await Notification.requestPermission()) === "granted";
}
