import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { FolderGit2, LoaderCircle } from "lucide-react";
import { useState } from "react";
import { api, problemOf, type Repository, unwrap } from "@/api/client";
import { repositoriesQuery } from "@/api/queries";
import { Empty, ErrorMessage, SkeletonRows } from "@/components/feedback";
import { Card, Page } from "@/components/page";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/field";
import { plainText } from "@/lib/advice";
import { repositoryName } from "@/lib/format";
import { useNow } from "@/lib/now";
import { StatePill, stateDetail } from "./state";

export function RepositoriesPage() {
  const { data, error, refetch } = useQuery(repositoriesQuery);
  return (
    <Page title="Repositories" note="Whether each can be worked on, and what it needs for that">
      <AddRepository />
      {error && !data && <ErrorMessage fault={error} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows />}
      {data && !data.repositories.length && (
        <Card>
          <Empty icon={FolderGit2} title="No repositories yet">
            Add one above, or start an order: its repository appears here.
          </Empty>
        </Card>
      )}
      {data && data.repositories.length > 0 && (
        <Card className="divide-y overflow-hidden">
          {data.repositories.map((repository) => (
            <Row key={repository.repository_id} repository={repository} />
          ))}
        </Card>
      )}
    </Page>
  );
}

function Row({ repository }: { repository: Repository }) {
  const now = useNow();
  return (
    <Link
      to="/repositories/$id"
      params={{ id: repository.repository_id }}
      data-row
      className="flex items-center gap-3 px-4 py-3 hover:bg-muted focus-visible:bg-muted"
    >
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{repositoryName(repository.repository_url)}</p>
        <p className="text-xs break-words text-muted-foreground sm:truncate">
          {repository.environment_state === "unknown" || repository.environment_state === "checking"
            ? repository.repository_url
            : stateDetail(repository, now)}
        </p>
      </div>
      {repository.score !== null && repository.environment_state !== "unknown" && (
        <span className="text-xs text-muted-foreground tabular-nums max-sm:hidden">
          {repository.score} of 100
        </span>
      )}
      <StatePill state={repository.environment_state} />
    </Link>
  );
}

function AddRepository() {
  const navigate = useNavigate();
  const [url, setUrl] = useState("");
  const add = useMutation({
    meta: { shown: true },
    mutationFn: (repository_url: string) =>
      unwrap(api.POST("/api/repositories", { body: { repository_url } })),
    onSuccess: ({ repository }) =>
      void navigate({ to: "/repositories/$id", params: { id: repository.repository_id } }),
  });
  const problem = add.error && problemOf(add.error);
  return (
    <form
      className="mb-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (url.trim()) add.mutate(url.trim());
      }}
    >
      <div className="flex gap-2">
        <Input
          data-slash
          aria-label="Repository"
          value={url}
          onChange={(event) => setUrl(event.target.value)}
          placeholder="https://github.com/owner/name or /home/you/code/thing"
          autoComplete="off"
          spellCheck={false}
          aria-describedby="repository-problem"
          aria-invalid={Boolean(problem)}
          className="min-w-0 flex-1 font-mono text-[13px]"
        />
        <Button type="submit" disabled={!url.trim() || add.isPending}>
          {add.isPending && <LoaderCircle className="animate-spin" />}
          Add
        </Button>
      </div>
      <p id="repository-problem" role="status" className="mt-1.5 min-h-5 text-xs text-destructive">
        {problem && [problem.detail, plainText(problem.hint)].filter(Boolean).join(". ")}
      </p>
    </form>
  );
}
