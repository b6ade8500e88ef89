/** What went wrong, in plain words: the cause, what was kept, and what helps. */

import { Link } from "@tanstack/react-router";
import { CircleX, Copy } from "lucide-react";
import { useState } from "react";
import type { Order } from "@/api/client";
import { ModelPicker } from "@/components/choices";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/field";
import { toast } from "@/components/ui/toast";
import type { FailureItem } from "@/events/story";
import { plural } from "@/lib/format";
import { useControl } from "./use-control";

const CAUSES: Record<string, string> = {
  transient: "Something that is needed did not answer, several times.",
  rate_limited: "The provider limits how fast it may be asked.",
  quota: "The provider's quota is used up.",
  auth: "A key or token is missing, or was refused.",
  permission: "Something is not allowed.",
  budget: "The budget is used up.",
  sandbox: "The sandbox could not be had, or was lost.",
  agent: "The agent could not finish its turn.",
  verification: "The project's own checks do not pass.",
  conflict: "Somebody else changed the same thing.",
  invalid_input: "What was asked for cannot be done as it stands.",
  internal: "A fault in Journeyman.",
};
const OTHER_MODEL_HELPS = new Set(["transient", "rate_limited", "quota", "auth", "agent", "verification"]);
/** The same again ends the same unless something else was changed first. */
const SAME_AGAIN_FAILS = new Set(["quota", "auth", "permission", "budget", "invalid_input"]);

const SETTINGS_HELP = new Set(["auth", "quota", "sandbox"]);

/** What the next try, or a person, finds of the work so far. */
export function keptOf({ kept }: Order): string {
  const parts = [
    kept?.git_branch_name && `branch ${kept.git_branch_name} with ${plural(kept.git_commit_count, "commit")}`,
    kept?.snapshot_ref && `what was not committed, at ${kept.snapshot_ref}`,
    kept?.github_pull_request_url && "the pull request",
  ].filter(Boolean);
  if (!parts.length) return "nothing was committed yet; the next try begins where this one stopped.";
  return `${parts.join("; ")}. Finished steps are not done again.`;
}

/** A failure in the story. What can be done about the newest stands below the story. */
export function FailureNote({ item: { event } }: { item: FailureItem }) {
  return (
    <div className="my-2 flex items-start gap-2.5 rounded-lg border border-destructive/40 bg-destructive/5 p-3">
      <CircleX aria-hidden className="mt-0.5 size-4 shrink-0 text-destructive" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{CAUSES[event.error_category] ?? "It failed."}</p>
        <p className="mt-0.5 text-[13px] break-words text-muted-foreground">{event.error_message}</p>
        {event.hint && <p className="mt-0.5 text-[13px]">{event.hint}</p>}
      </div>
    </div>
  );
}

/** What helps an order that failed or stands still for a reason. */
export function Remedies({ order }: { order: Order }) {
  const { act, change } = useControl(order.agent_work_order_id);
  const [budget, setBudget] = useState("");
  const goOn = order.status === "paused" ? "resume" : "retry";
  const busy = act.isPending || change.isPending;
  const category = order.error_category ?? "internal";
  const details = [order.agent_work_order_id, category, order.error_message, order.error_hint]
    .filter(Boolean)
    .join("\n");
  return (
    <section aria-label="What helps" className="my-3 rounded-lg border bg-card p-4">
      <p className="text-[13px] break-words">
        <span className="font-medium">What was kept: </span>
        {keptOf(order)}
      </p>
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <Button
          look={SAME_AGAIN_FAILS.has(category) ? "outline" : "primary"}
          size="sm"
          disabled={busy}
          onClick={() => act.mutate(goOn)}
        >
          {goOn === "retry" ? "Retry" : "Resume"}
        </Button>
        {category === "budget" && (
          <form
            className="flex gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              change.mutate({ budget_usd: Number(budget) }, { onSuccess: () => act.mutate(goOn) });
            }}
          >
            <Input
              aria-label="New budget in dollars"
              inputMode="decimal"
              value={budget}
              placeholder={`more than $${order.budget_usd ?? 0}`}
              onChange={(event) => setBudget(event.target.value)}
              className="h-7 w-36 text-xs"
            />
            <Button
              size="sm"
              look="primary"
              type="submit"
              disabled={busy || !(Number(budget) > (order.budget_usd ?? 0))}
            >
              Raise budget
            </Button>
          </form>
        )}
        {OTHER_MODEL_HELPS.has(category) && (
          <ModelPicker
            label="Change model"
            value={order.model}
            disabled={busy}
            className="h-7"
            onChange={(model) => change.mutate({ model }, { onSuccess: () => act.mutate(goOn) })}
          />
        )}
        {SETTINGS_HELP.has(category) && (
          <Button size="sm" asChild>
            <Link to="/settings">What is set up</Link>
          </Button>
        )}
        <Button
          size="sm"
          look="quiet"
          onClick={() => void navigator.clipboard.writeText(details).then(() => toast("Details copied"))}
        >
          <Copy /> Copy details
        </Button>
      </div>
    </section>
  );
}
