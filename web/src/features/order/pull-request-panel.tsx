import { useQuery } from "@tanstack/react-query";
import { GitPullRequest } from "lucide-react";
import type { Order } from "@/api/client";
import { pullRequestQuery } from "@/api/queries";
import { Empty, ErrorMessage, SkeletonRows } from "@/components/feedback";
import { ForgeLink } from "@/components/forge-link";
import { Prose } from "@/components/prose";
import { PullRequestState } from "@/components/pull-request-state";
import { withoutMarkup } from "@/lib/format";
import { PullRequestActions } from "./pull-request-actions";

export function PullRequestPanel({ order }: { order: Order }) {
  const id = order.agent_work_order_id;
  const exists = order.github_pull_request_url !== null;
  const { data, error, refetch } = useQuery({ ...pullRequestQuery(id), enabled: exists });
  if (!exists) {
    return (
      <Empty icon={GitPullRequest} title="No pull request yet">
        A draft pull request opens after the first commit and is updated as work goes on.
      </Empty>
    );
  }
  if (error && !data) return <ErrorMessage fault={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={4} className="m-4" />;
  return (
    <div className="p-5">
      <div className="flex flex-wrap items-center gap-2">
        <PullRequestState state={data.state} draft={data.draft} />
        <ForgeLink url={data.url}>#{data.number}</ForgeLink>
      </div>
      <h2 className="mt-3 text-[15px] font-semibold">{data.title}</h2>
      <p className="mt-1 font-mono text-xs break-all text-muted-foreground">
        {data.branch} → {data.base}
      </p>
      <div className="mt-3">
        <PullRequestActions order={order} base={data.base} />
      </div>
      <div className="mt-4 border-t pt-3 text-[13px]">
        <Prose text={withoutMarkup(data.body)} />
      </div>
    </div>
  );
}
