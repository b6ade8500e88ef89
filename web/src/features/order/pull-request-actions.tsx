/** View a pull request, take it out of draft, and, where this server keeps it, merge it. */

import { Link } from "@tanstack/react-router";
import { ExternalLink, GitMerge } from "lucide-react";
import { useState } from "react";
import type { Order } from "@/api/client";
import { localNumber } from "@/components/forge-link";
import { Button } from "@/components/ui/button";
import { Confirm } from "@/components/ui/confirm";
import { useControl } from "./use-control";

type State = { state: "open" | "closed" | "merged"; draft: boolean };

/** The state of an order's pull request; null while it has none. */
export function stateOf({ github_pull_request_url, pull_request_state }: Order): State | null {
  if (!github_pull_request_url) return null;
  if (pull_request_state === "merged" || pull_request_state === "closed")
    return { state: pull_request_state, draft: false };
  return { state: "open", draft: pull_request_state === "draft" };
}

type Props = { order: Order; base?: string };

export function PullRequestActions({ order, base }: Props) {
  const { act, merge } = useControl(order.agent_work_order_id);
  const [asking, setAsking] = useState(false);
  const url = order.github_pull_request_url;
  const state = stateOf(order);
  if (!url || !state) return null;
  const number = localNumber(url);
  const into = base ?? "the base branch";
  if (asking && number) {
    return (
      <Confirm
        question={`Merge into ${into}?`}
        detail="This cannot be undone here."
        act="Merge"
        keep="Back"
        busy={merge.isPending}
        onAct={() => merge.mutate(Number(number), { onSettled: () => setAsking(false) })}
        onKeep={() => setAsking(false)}
      />
    );
  }
  const open = state.state === "open";
  return (
    <div className="flex flex-wrap gap-2">
      <Button size="sm" asChild>
        {number ? (
          <Link to="/local-forge/pull-requests/$number" params={{ number }}>
            View pull request
          </Link>
        ) : (
          <a href={url} target="_blank" rel="noopener noreferrer">
            View pull request <ExternalLink aria-label="(opens in a new tab)" />
          </a>
        )}
      </Button>
      {open && state.draft && (
        <Button size="sm" look="primary" disabled={act.isPending} onClick={() => act.mutate("ready")}>
          Mark ready for review
        </Button>
      )}
      {open && !state.draft && number && (
        <Button size="sm" look="primary" onClick={() => setAsking(true)}>
          <GitMerge /> Merge
        </Button>
      )}
    </div>
  );
}
