/** View a pull request, mark it ready for review, and merge one of the local forge. */

import { Link } from "@tanstack/react-router";
import { ExternalLink, GitMerge } from "lucide-react";
import { useState } from "react";
import type { Order } from "@/api/client";
import { localNumber } from "@/components/forge-link";
import { Button } from "@/components/ui/button";
import { Confirm } from "@/components/ui/confirm";
import { allows, useControl } from "./use-control";

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
  if (!url) return null;
  const number = localNumber(url);
  const into = base ?? "the base branch";
  const mergeable = number && allows(order, "merge");
  if (asking && mergeable) {
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
      {allows(order, "mark_ready") && (
        <Button size="sm" look="primary" disabled={act.isPending} onClick={() => act.mutate("mark_ready")}>
          Mark ready for review
        </Button>
      )}
      {mergeable && (
        <Button size="sm" look="primary" onClick={() => setAsking(true)}>
          <GitMerge /> Merge
        </Button>
      )}
    </div>
  );
}
