/** The count in the page's title, and a browser's notice for what is new where the person wants them. */

import { useEffect, useRef } from "react";
import { useStored } from "@/lib/stored";
import type { Entry, Reason } from "./use-inbox";

export const REASONS: Record<Reason, string> = {
  approval: "Waits for your decision",
  failure: "Failed",
  budget: "Stopped by its budget",
  review: "Pull request ready for review",
};

export function useNotices(entries: Entry[]) {
  const [wanted] = useStored("notices", false);
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    const name = document.title.replace(/^\(\d+\) /, "");
    document.title = entries.length ? `(${entries.length}) ${name}` : name;
  });
  useEffect(() => {
    const now = new Set(entries.map(({ order, reason }) => `${order.agent_work_order_id} ${reason}`));
    const before = known.current;
    known.current = now;
    if (!wanted || !before || typeof Notification === "undefined" || Notification.permission !== "granted")
      return;
    for (const { order, reason } of entries) {
      const key = `${order.agent_work_order_id} ${reason}`;
      if (!before.has(key))
        new Notification(order.title, { body: REASONS[reason], tag: key, icon: "/icon.svg" });
    }
  }, [entries, wanted]);
}

/** Whether notices are shown from now on; the browser asks the person. */
export async function askForNotices(): Promise<boolean> {
  if (typeof Notification === "undefined") return false;
  return (await Notification.requestPermission()) === "granted";
}
