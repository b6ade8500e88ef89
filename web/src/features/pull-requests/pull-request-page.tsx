import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { GitMerge } from "lucide-react";
import { Suspense } from "react";
import { api, asked } from "@/api/client";
import { diffQuery, keys, localPullRequestQuery } from "@/api/queries";
import { SkeletonRows, Trouble } from "@/components/feedback";
import { Card, Page } from "@/components/page";
import { Prose } from "@/components/prose";
import { PullRequestState } from "@/components/pull-request-state";
import { Button } from "@/components/ui/button";
import { toast } from "@/components/ui/toast";
import { withoutMarkup } from "@/lib/format";
import { patient } from "@/lib/patient";

const DiffView = patient(() => import("@/components/diff/diff-view"));

export function PullRequestPage() {
  const number = Number((useParams({ strict: false }) as { number: string }).number);
  const { data, error, refetch } = useQuery(localPullRequestQuery(number));
  const client = useQueryClient();
  const id = data?.agent_work_order_id ?? "";
  const diff = useQuery({ ...diffQuery(id), enabled: Boolean(id) });
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ["local pull requests"] }),
      client.invalidateQueries({ queryKey: keys.part(id, "pull-request") }),
    ]);
  const merge = useMutation({
    mutationFn: () =>
      asked(api.POST("/api/local-forge/pull-requests/{number}/merge", { params: { path: { number } } })),
    onSuccess: ({ base }) => toast(`Merged into ${base}`),
    onSettled: refresh,
  });
  const ready = useMutation({
    mutationFn: () =>
      asked(
        api.POST("/api/agent-work-orders/{agent_work_order_id}/pull-request/ready", {
          params: { path: { agent_work_order_id: id } },
        }),
      ),
    onSettled: refresh,
  });
  if (error && !data) return <Trouble fault={error} onRetry={() => void refetch()} />;
  if (!data) {
    return (
      <Page title={`Pull request #${number}`}>
        <SkeletonRows />
      </Page>
    );
  }
  return (
    <Page
      wide
      title={`${data.title} #${number}`}
      note={
        <span className="font-mono text-xs">{`${data.branch} → ${data.base} in ${data.repository_url}`}</span>
      }
      actions={
        <div className="flex flex-wrap items-center gap-2">
          <PullRequestState state={data.state} draft={data.draft} />
          {id && (
            <Button size="sm" asChild>
              <Link to="/orders/$id" params={{ id }}>
                Its order
              </Link>
            </Button>
          )}
          {data.state === "open" && data.draft && id && (
            <Button size="sm" look="primary" disabled={ready.isPending} onClick={() => ready.mutate()}>
              Mark ready for review
            </Button>
          )}
          {data.state === "open" && !data.draft && (
            <Button size="sm" look="primary" disabled={merge.isPending} onClick={() => merge.mutate()}>
              <GitMerge /> Merge into {data.base}
            </Button>
          )}
        </div>
      }
    >
      <Card className="mb-6 px-5 py-3 text-[13px]">
        <Prose text={withoutMarkup(data.body)} />
      </Card>
      <Suspense fallback={<SkeletonRows rows={4} />}>{diff.data && <DiffView patch={diff.data} />}</Suspense>
    </Page>
  );
}
