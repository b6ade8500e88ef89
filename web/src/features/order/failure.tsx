/** An error of the order where it happened. The actions for the newest one are below the timeline. */

import { CircleX } from "lucide-react";
import type { FailureItem } from "@/events/items";
import { adviceFor } from "@/lib/advice";

const CAUSES: Record<string, string> = {
  transient: "Something needed for this did not respond.",
  rate_limited: "The provider is limiting requests.",
  quota: "The provider's quota is used up.",
  auth: "A key or token is missing or was refused.",
  permission: "Permission denied.",
  budget: "The budget is used up.",
  sandbox: "The sandbox could not be started or was lost.",
  environment: "The project's checks lack something.",
  agent: "The agent could not finish.",
  verification: "The project's checks failed.",
  conflict: "Someone else changed the same thing.",
  invalid_input: "The request cannot be carried out as it is.",
  internal: "Something went wrong in Journeyman.",
};

export function FailureNote({ item: { event } }: { item: FailureItem }) {
  const advice = adviceFor(event.error_category, event.hint);
  return (
    <div className="my-2 flex items-start gap-2.5 rounded-lg border border-destructive/40 bg-destructive/5 p-3">
      <CircleX aria-hidden className="mt-0.5 size-4 shrink-0 text-destructive" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{CAUSES[event.error_category] ?? "The order failed."}</p>
        <p className="mt-0.5 text-[13px] break-words text-muted-foreground">{event.error_message}</p>
        {advice && <p className="mt-0.5 text-[13px]">{advice}</p>}
      </div>
    </div>
  );
}
