import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Suspense } from "react";
import { diffQuery, localPullRequestQuery } from "@/api/queries";
import { ErrorMessage, SkeletonRows } from "@/components/feedback";
import { Card, Page } from "@/components/page";
import { PullRequestState } from "@/components/pull-request-state";
import { withoutMarkup } from "@/lib/format";
import { lazyWithRetry } from "@/lib/lazy";
import { Actions } from "./actions";
import { Commits } from "./commits";

const Markdown = lazyWithRetry(() => import("@/components/markdown"));
const DiffView = lazyWithRetry(() => import("@/components/diff/diff-view"));

export function PullRequestPage() {
  const number = Number((useParams({ strict: false }) as { number: string }).number);
  const { data, error, refetch } = useQuery(localPullRequestQuery(number));
  if (error && !data) return <ErrorMessage fault={error} onRetry={() => void refetch()} />;
  if (!data) {
    return (
      <Page wide title={`Pull request #${number}`}>
        <SkeletonRows />
      </Page>
    );
  }
  return (
    <Page
      wide
      title={`${data.title} #${number}`}
      note={
        <>
          <PullRequestState state={data.state} draft={data.draft} />
          <span className="ml-2 font-mono text-xs break-all">
            {data.branch} → {data.base} in {data.repository_url}
          </span>
        </>
      }
    >
      <Actions pull={data} />
      {/* Together: what stands below a text must not move when its reader is loaded. */}
      <Suspense fallback={<SkeletonRows rows={6} />}>
        <Card className="mb-6 px-5 py-3 text-[13px]">
          <div className="max-w-prose leading-relaxed break-words">
            <Markdown text={withoutMarkup(data.body)} />
          </div>
        </Card>
        <Commits commits={data.commits ?? []} />
        {data.agent_work_order_id && <Changes id={data.agent_work_order_id} />}
      </Suspense>
    </Page>
  );
}

function Changes({ id }: { id: string }) {
  const { data } = useQuery(diffQuery(id));
  return (
    <section aria-label="Changes">
      <div className="mb-2 flex items-baseline justify-between gap-3">
        <h2 className="font-medium">Changes</h2>
        <Link
          to="/orders/$id"
          params={{ id }}
          search={{ panel: "changes" }}
          className="text-[13px] text-primary hover:underline"
        >
          Comment on lines
        </Link>
      </div>
      <Suspense fallback={<SkeletonRows rows={4} />}>{data && <DiffView patch={data} />}</Suspense>
    </section>
  );
}
