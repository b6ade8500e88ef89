/** The result of a finished order: changes, checks, pull request and branch. */

import { useQuery } from "@tanstack/react-query";
import { FileDiff, GitBranch, GitPullRequest } from "lucide-react";
import type { ReactNode } from "react";
import type { Order } from "@/api/client";
import { evidenceQuery } from "@/api/queries";
import { PullRequestState } from "@/components/pull-request-state";
import { cn } from "@/lib/cn";
import { plural } from "@/lib/format";
import type { Panel } from "@/router";
import { PullRequestActions, stateOf } from "./pull-request-actions";
import { useStat } from "./use-stat";
import { VERDICTS } from "./verification-badge";

type Props = { order: Order; onOpen: (panel: Panel) => void };

export function ResultCard({ order, onOpen }: Props) {
  const stat = useStat(order);
  const state = stateOf(order);
  return (
    <section aria-label="Result" className="my-3 rounded-lg border bg-card text-[13px]">
      <div className="flex flex-col divide-y">
        <Row icon={FileDiff} onClick={() => onOpen("changes")}>
          {stat ? plural(stat.files, "file") : "Files"} changed
          {stat && (
            <span className="ml-2 tabular-nums">
              <span className="text-success">+{stat.added}</span>{" "}
              <span className="text-destructive">−{stat.removed}</span>
            </span>
          )}
        </Row>
        <Checked order={order} onOpen={onOpen} />
        {state && (
          <Row icon={GitPullRequest} onClick={() => onOpen("pull-request")}>
            <span className="flex items-center gap-2">
              Pull request <PullRequestState {...state} />
            </span>
          </Row>
        )}
        <p className="flex items-center gap-2.5 px-4 py-2.5">
          <GitBranch aria-hidden className="size-4 shrink-0 text-muted-foreground" />
          <span className="min-w-0 font-mono text-xs break-all">{order.git_branch_name}</span>
        </p>
      </div>
      {state && (
        <div className="border-t px-4 py-3">
          <PullRequestActions order={order} />
        </div>
      )}
    </section>
  );
}

function Checked({ order, onOpen }: Props) {
  const { data } = useQuery(evidenceQuery(order.agent_work_order_id));
  const { icon, look, word } = VERDICTS[order.verification];
  const summary = data?.evidence.at(-1)?.summary;
  return (
    <Row icon={icon} look={look} onClick={() => onOpen("checks")}>
      {word}
      {summary && <span className="ml-2 text-xs text-muted-foreground">{summary}</span>}
    </Row>
  );
}

type RowProps = { icon: typeof FileDiff; look?: string; onClick: () => void; children: ReactNode };

function Row({ icon: Icon, look = "text-muted-foreground", onClick, children }: RowProps) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="flex w-full items-center gap-2.5 px-4 py-2.5 text-left first:rounded-t-lg hover:bg-muted"
    >
      <Icon aria-hidden className={cn("size-4 shrink-0", look)} />
      <span className="min-w-0 flex-1">{children}</span>
    </button>
  );
}
