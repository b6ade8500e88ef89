import { Link } from "@tanstack/react-router";
import { GitBranch } from "lucide-react";
import type { Order } from "@/api/client";
import { ago, duration, money, repositoryName, secondsBetween, whole, workflowName } from "@/lib/format";
import { useNow } from "@/lib/now";
import { StatusPill } from "./status-pill";

export function OrderRow({ order }: { order: Order }) {
  return (
    <Link
      to="/orders/$id"
      params={{ id: order.agent_work_order_id }}
      data-row
      className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 hover:bg-muted focus-visible:bg-muted sm:flex-nowrap"
    >
      <div className="min-w-0 flex-1 basis-full sm:basis-auto">
        <p className="truncate font-medium">{order.title}</p>
        <p className="flex items-center gap-1.5 truncate text-xs text-muted-foreground">
          <GitBranch aria-hidden className="size-3 shrink-0" />
          <span className="truncate">
            {repositoryName(order.repository_url)} · {workflowName(order.workflow_type)} · {order.model}
          </span>
        </p>
      </div>
      <OrderTime order={order} />
      <span className="shrink-0 text-right text-xs tabular-nums text-muted-foreground sm:w-14">
        {money(order.cost_usd)}
      </span>
      <span className="flex shrink-0 justify-end max-sm:ml-auto sm:w-38">
        <StatusPill status={order.status} />
      </span>
    </Link>
  );
}

function OrderTime({ order }: { order: Order }) {
  const now = useNow();
  return (
    <time
      dateTime={order.created_at}
      title={whole(order.created_at)}
      className="shrink-0 text-right text-xs tabular-nums text-muted-foreground sm:w-24"
    >
      {order.status === "running" && order.execution_started_at
        ? duration(secondsBetween(order.execution_started_at, now))
        : ago(order.created_at, now)}
    </time>
  );
}
