import { Link } from "@tanstack/react-router";
import {
  CircleX,
  GitPullRequest,
  GitPullRequestDraft,
  Hand,
  type LucideIcon,
  PackageX,
  RotateCcw,
  Wallet,
  X,
} from "lucide-react";
import type { Order } from "@/api/client";
import { ForgeLink } from "@/components/forge-link";
import { Card } from "@/components/page";
import { Button } from "@/components/ui/button";
import { allows, useControl } from "@/features/order/use-control";
import { adviceFor } from "@/lib/advice";
import { cn } from "@/lib/cn";
import { ago, repositoryName } from "@/lib/format";
import { useNow } from "@/lib/now";
import type { Entry, Reason } from "./use-inbox";
import { Waiting } from "./waiting";

const SIGNS: Record<Reason, { icon: LucideIcon; look: string }> = {
  approval: { icon: Hand, look: "text-warning" },
  budget: { icon: Wallet, look: "text-warning" },
  environment: { icon: PackageX, look: "text-warning" },
  failure: { icon: CircleX, look: "text-destructive" },
  review: { icon: GitPullRequest, look: "text-success" },
  draft: { icon: GitPullRequestDraft, look: "text-muted-foreground" },
};

export function EntryView({ entry: { order, reason }, onDismiss }: { entry: Entry; onDismiss: () => void }) {
  const { icon: Icon, look } = SIGNS[reason];
  const now = useNow();
  return (
    <Card className="p-4">
      <div className="flex flex-wrap items-start gap-3">
        <Icon aria-hidden className={cn("mt-0.5 size-4 shrink-0", look)} />
        <div className="min-w-0 flex-1">
          <Link
            to="/orders/$id"
            params={{ id: order.agent_work_order_id }}
            data-row
            className="font-medium hover:underline"
          >
            {order.title}
          </Link>
          <p className="text-xs text-muted-foreground">
            {repositoryName(order.repository_url)} · {ago(order.updated_at, now)}
          </p>
          <Cause order={order} reason={reason} />
        </div>
        {reason !== "approval" && <Actions order={order} reason={reason} onDismiss={onDismiss} />}
      </div>
      {reason === "approval" && <Waiting order={order} />}
    </Card>
  );
}

function Cause({ order, reason }: Entry) {
  if (reason === "review" || reason === "draft") {
    return (
      <p className="mt-1 text-[13px]">
        {order.github_pull_request_url && (
          <ForgeLink url={order.github_pull_request_url}>View pull request</ForgeLink>
        )}
        <span className="ml-2 text-muted-foreground">{CHECKS[order.verification]}</span>
      </p>
    );
  }
  if (reason === "approval" || !order.error_message) return null;
  const advice = adviceFor(order.error_category ?? "internal", order.error_hint);
  return (
    <p className="mt-1 text-[13px] break-words text-muted-foreground">
      {order.error_message}
      {advice && <span className="block">{advice}</span>}
    </p>
  );
}

const CHECKS: Record<Order["verification"], string> = {
  passed: "Checks passed",
  failed: "Checks failed",
  reviewed: "Reviewed",
  outdated: "Changed since it was checked",
  none: "Not checked",
};

type ActionsProps = Entry & { onDismiss: () => void };

function Actions({ order, reason, onDismiss }: ActionsProps) {
  const { act } = useControl(order.agent_work_order_id);
  const of = <span className="sr-only">{order.title}</span>;
  return (
    <div className="flex flex-wrap gap-2 max-sm:basis-full max-sm:pl-7">
      {reason === "failure" && allows(order, "retry") && (
        <Button size="sm" disabled={act.isPending} onClick={() => act.mutate("retry")}>
          <RotateCcw /> Retry {of}
        </Button>
      )}
      {reason === "draft" && allows(order, "mark_ready") && (
        <Button size="sm" disabled={act.isPending} onClick={() => act.mutate("mark_ready")}>
          Mark ready for review {of}
        </Button>
      )}
      <Button size="sm" asChild>
        <Link to="/orders/$id" params={{ id: order.agent_work_order_id }}>
          Open {of}
        </Link>
      </Button>
      <Button size="sm" look="quiet" onClick={onDismiss}>
        <X /> Dismiss {of}
      </Button>
    </div>
  );
}
