/** One repository: whether it can be worked on, what is missing, and the definition of its environment. */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { LoaderCircle, RotateCw } from "lucide-react";
import { useEffect } from "react";
import type { RepositoryEnvironment } from "@/api/client";
import { environmentQuery } from "@/api/queries";
import { ErrorMessage, SkeletonRows } from "@/components/feedback";
import { Card, Page } from "@/components/page";
import { Button } from "@/components/ui/button";
import { repositoryName } from "@/lib/format";
import { useNow } from "@/lib/now";
import { CheckProgress } from "./check-progress";
import { ChecksTable } from "./checks-table";
import { DefinitionEditor } from "./definition-editor";
import { EnvironmentFacts } from "./environment-facts";
import { Findings } from "./findings";
import { FlakyTests } from "./flaky-tests";
import { StatePill, stateDetail } from "./state";
import { type EnvironmentActions, isOfEditor, useEnvironment } from "./use-environment";

const route = getRouteApi("/repositories/$id");

export function RepositoryPage() {
  const { id } = route.useParams();
  return <OneRepository key={id} id={id} />;
}

export function OneRepository({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(environmentQuery(id));
  const name = data && repositoryName(data.repository.repository_url);
  useEffect(() => {
    if (name) document.title = `${name} · Journeyman`;
  }, [name]);
  if (error && !data) {
    return (
      <Page title="Repository">
        <ErrorMessage fault={error} onRetry={() => void refetch()} />
        <Button asChild>
          <Link to="/repositories">All repositories</Link>
        </Button>
      </Page>
    );
  }
  if (!data) {
    return (
      <Page title="Repository">
        <SkeletonRows />
      </Page>
    );
  }
  return <Shown answer={data} />;
}

function Shown({ answer }: { answer: RepositoryEnvironment }) {
  const { repository, report } = answer;
  const actions = useEnvironment(repository.repository_id, repository.repository_url);
  const checking = repository.environment_state === "checking";
  return (
    <Page
      title={repositoryName(repository.repository_url)}
      note={<span className="font-mono text-xs break-all">{repository.repository_url}</span>}
      actions={<Actions answer={answer} actions={actions} />}
    >
      <div className="flex flex-col gap-6">
        <Summary answer={answer} />
        {actions.check.error && !isOfEditor(actions.check.variables) && (
          <ErrorMessage fault={actions.check.error} />
        )}
        {checking && repository.check_order_id && <CheckProgress id={repository.check_order_id} />}
        {report && <Findings report={report} actions={actions} disabled={checking} />}
        {report && report.checks.length > 0 && <ChecksTable checks={report.checks} />}
        <FlakyTests id={repository.repository_id} />
        {report && <EnvironmentFacts answer={answer} />}
        <DefinitionEditor answer={answer} actions={actions} disabled={checking} />
      </div>
    </Page>
  );
}

function Actions({ answer, actions }: { answer: RepositoryEnvironment; actions: EnvironmentActions }) {
  const checking = answer.repository.environment_state === "checking" || actions.check.isPending;
  return (
    <div className="flex flex-wrap gap-2">
      <Button asChild>
        <Link to="/" search={{ repository_url: answer.repository.repository_url }}>
          New order
        </Link>
      </Button>
      <Button look="primary" data-key="x" disabled={checking} onClick={() => actions.check.mutate({})}>
        {checking ? <LoaderCircle className="animate-spin" /> : <RotateCw />}
        {answer.report ? "Check again" : "Check"}
      </Button>
    </div>
  );
}

const TRIED = {
  ready: "The definition that was tried works. Store it, or open it as a pull request, to put it in force.",
  needs_attention: "The definition that was tried needs attention. It is not in force.",
};

function Summary({ answer: { repository, report } }: { answer: RepositoryEnvironment }) {
  const now = useNow();
  const tried = report?.is_trial && repository.environment_state === "unknown";
  return (
    <Card className="flex flex-wrap items-center gap-x-4 gap-y-2 p-4">
      <StatePill state={repository.environment_state} tried={tried} />
      <p className="min-w-0 flex-1 basis-60 break-words">
        {tried ? TRIED[report.state] : stateDetail(repository, now)}
      </p>
      {report && repository.environment_state !== "checking" && (
        <p className="text-muted-foreground tabular-nums">
          Score <span className="font-medium text-foreground">{report.score}</span> of 100
        </p>
      )}
    </Card>
  );
}
