import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { GitPullRequest } from "lucide-react";
import { localPullRequestsQuery } from "@/api/queries";
import { Empty, ErrorMessage, SkeletonRows } from "@/components/feedback";
import { Card, Page } from "@/components/page";
import { PullRequestState } from "@/components/pull-request-state";
import { repositoryName } from "@/lib/format";

export function PullRequestsPage() {
  const { data, error, refetch } = useQuery(localPullRequestsQuery);
  return (
    <Page title="Local forge" note="Pull requests of repositories on this machine">
      {error && !data && <ErrorMessage fault={error} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows />}
      {data && !data.pull_requests.length && (
        <Card>
          <Empty icon={GitPullRequest} title="No pull requests yet">
            An order on a local repository opens a draft here after its first commit.
          </Empty>
        </Card>
      )}
      {data && data.pull_requests.length > 0 && (
        <Card className="divide-y overflow-hidden">
          {data.pull_requests.map((pull) => (
            <Link
              key={pull.number}
              to="/local-forge/pull-requests/$number"
              params={{ number: String(pull.number) }}
              data-row
              className="flex items-center gap-3 px-4 py-3 hover:bg-muted focus-visible:bg-muted"
            >
              <span className="w-10 shrink-0 text-xs text-muted-foreground tabular-nums">#{pull.number}</span>
              <div className="min-w-0 flex-1">
                <p className="truncate font-medium">{pull.title}</p>
                <p className="truncate text-xs text-muted-foreground">
                  {repositoryName(pull.repository_url)} · {pull.branch} → {pull.base}
                </p>
              </div>
              <PullRequestState state={pull.state} draft={pull.draft} />
            </Link>
          ))}
        </Card>
      )}
    </Page>
  );
}
