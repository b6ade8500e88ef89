import type { ShownPullRequest } from "@/api/client";
import { Card } from "@/components/page";
import { ago, commit, plural, whole } from "@/lib/format";
import { useNow } from "@/lib/now";

export function Commits({ commits }: { commits: NonNullable<ShownPullRequest["commits"]> }) {
  const now = useNow();
  if (!commits.length) return null;
  return (
    <section className="mb-6">
      <h2 className="mb-2 font-medium">{plural(commits.length, "commit")}</h2>
      <Card className="overflow-hidden">
        <ul aria-label="Commits" className="divide-y">
          {commits.map(({ commit_sha, subject, committed_at }) => (
            <li key={commit_sha} className="flex items-baseline gap-3 px-4 py-2 text-[13px]">
              <code className="shrink-0 font-mono text-xs text-muted-foreground">{commit(commit_sha)}</code>
              <span className="min-w-0 flex-1 truncate">{subject}</span>
              <time
                dateTime={committed_at}
                title={whole(committed_at)}
                className="shrink-0 text-xs text-muted-foreground tabular-nums"
              >
                {ago(committed_at, now)}
              </time>
            </li>
          ))}
        </ul>
      </Card>
    </section>
  );
}
