/** The actions that help an order that failed, or paused because of an error. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Copy } from "lucide-react";
import type { Order } from "@/api/client";
import { modelsQuery, repositoriesQuery } from "@/api/queries";
import { ModelPicker } from "@/components/choices";
import { Button } from "@/components/ui/button";
import { toast } from "@/components/ui/toast";
import { adviceFor } from "@/lib/advice";
import { plural } from "@/lib/format";
import { BudgetForm } from "./budget-form";
import { allows, useControl } from "./use-control";

const OTHER_MODEL_HELPS = new Set(["transient", "rate_limited", "quota", "auth", "agent", "verification"]);
/** A plain retry fails again unless something was changed first. */
const SAME_AGAIN_FAILS = new Set(["quota", "auth", "permission", "budget", "invalid_input"]);
const SETTINGS_HELP = new Set(["auth", "quota", "sandbox"]);
const NAMES_DEFINITION = /\.journeyman\/environment\.ya?ml/;
const RESOLVE = "Resolve the conflict with what was pushed";

/** What is kept of the work so far. */
export function keptOf({ kept }: Order): string {
  const parts = [
    kept?.git_branch_name && `branch ${kept.git_branch_name} with ${plural(kept.git_commit_count, "commit")}`,
    kept?.snapshot_ref && `uncommitted work at ${kept.snapshot_ref}`,
    kept?.github_pull_request_url && "the pull request",
  ].filter(Boolean);
  if (!parts.length) return "nothing was committed yet. A retry continues where this stopped.";
  return `${parts.join(", ")}. Finished steps are not repeated.`;
}

export function Remedies({ order }: { order: Order }) {
  const { act, change, prompt } = useControl(order.agent_work_order_id);
  const unpriced = useUnpriced(order.model);
  const goOn = allows(order, "resume") ? "resume" : "retry";
  const busy = act.isPending || change.isPending || prompt.isPending;
  const category = order.error_category ?? "internal";
  const outOfBudget = category === "budget";
  return (
    <section aria-label="What helps" className="my-3 rounded-lg border bg-card p-4">
      {order.status === "paused" && (
        <p className="mb-1 text-[13px] break-words">{adviceFor(category, order.error_hint)}</p>
      )}
      <p className="text-[13px] break-words">
        <span className="font-medium">Kept: </span>
        {keptOf(order)}
      </p>
      {outOfBudget && unpriced && (
        <p className="mt-1 text-[13px]">
          The price of {order.model} is unknown, so a budget cannot be enforced. Choose another model.
        </p>
      )}
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <Button
          look={SAME_AGAIN_FAILS.has(category) ? "outline" : "primary"}
          size="sm"
          disabled={busy}
          onClick={() => act.mutate(goOn)}
        >
          {goOn === "retry" ? "Retry" : "Resume"}
        </Button>
        {outOfBudget && !unpriced && (
          <BudgetForm
            order={order}
            busy={busy}
            onRaise={(budget_usd) => change.mutate({ budget_usd }, { onSuccess: () => act.mutate(goOn) })}
          />
        )}
        {(OTHER_MODEL_HELPS.has(category) || (outOfBudget && unpriced)) && (
          <ModelPicker
            label="Change model"
            value={order.model}
            disabled={busy}
            className="h-7"
            onChange={(model) => change.mutate({ model }, { onSuccess: () => act.mutate(goOn) })}
          />
        )}
        {category === "conflict" && (
          <Button size="sm" disabled={busy} onClick={() => prompt.mutate({ text: RESOLVE, mode: "work" })}>
            Ask the agent to resolve it
          </Button>
        )}
        {(category === "environment" || NAMES_DEFINITION.test(order.error_message ?? "")) && (
          <OpenRepository url={order.repository_url} />
        )}
        {SETTINGS_HELP.has(category) && (
          <Button size="sm" asChild>
            <Link to="/settings">Open settings</Link>
          </Button>
        )}
        <CopyDetails order={order} />
      </div>
    </section>
  );
}

/** Where the environment can be checked and its definition edited. */
function OpenRepository({ url }: { url: string }) {
  const { data } = useQuery(repositoriesQuery);
  const found = data?.repositories.find(({ repository_url }) => repository_url === url);
  if (!found) return null;
  return (
    <Button size="sm" asChild>
      <Link to="/repositories/$id" params={{ id: found.repository_id }}>
        Open environment
      </Link>
    </Button>
  );
}

function useUnpriced(name: string): boolean {
  const { data } = useQuery(modelsQuery);
  const model = data?.models.find((one) => one.name === name);
  return model !== undefined && model.input_usd_per_million === null;
}

function CopyDetails({ order }: { order: Order }) {
  const { agent_work_order_id, error_category, error_message, error_hint } = order;
  const details = [agent_work_order_id, error_category, error_message, error_hint].filter(Boolean).join("\n");
  return (
    <Button
      size="sm"
      look="quiet"
      onClick={() => void navigator.clipboard.writeText(details).then(() => toast("Details copied"))}
    >
      <Copy /> Copy details
    </Button>
  );
}
