/** What the checks say of the branch's newest commit, in words. */

import { CircleCheck, CircleDashed, CircleX, type LucideIcon } from "lucide-react";
import type { Order } from "@/api/client";
import { cn } from "@/lib/cn";

type Verdict = { icon: LucideIcon; look?: string; word: string };

export const VERDICTS: Record<Order["verification"], Verdict> = {
  passed: { icon: CircleCheck, look: "text-success", word: "Checks passed" },
  failed: { icon: CircleX, look: "text-destructive", word: "Checks failed" },
  reviewed: { icon: CircleDashed, word: "Reviewed, no checks run" },
  outdated: { icon: CircleDashed, look: "text-warning", word: "Changed since it was checked" },
  none: { icon: CircleDashed, word: "No checks run" },
};

/** Nothing while an order that has no verdict yet is under way. */
export function VerificationBadge({ order }: { order: Order }) {
  if (order.verification === "none" && order.status !== "completed") return null;
  const { icon: Icon, look, word } = VERDICTS[order.verification];
  return (
    <span className={cn("inline-flex items-center gap-1.5", look)}>
      <Icon aria-hidden className="size-3.5 shrink-0" />
      {word}
    </span>
  );
}
