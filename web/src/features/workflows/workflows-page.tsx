import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, Hand } from "lucide-react";
import type { WorkflowChoice } from "@/api/client";
import { workflowsQuery } from "@/api/queries";
import { ErrorMessage, SkeletonRows } from "@/components/feedback";
import { Card, Page } from "@/components/page";

/** Each workflow once, with its other names. */
const listed = (workflows: WorkflowChoice[]) =>
  workflows
    .filter(({ alias_of }) => !alias_of)
    .map((workflow) => ({
      ...workflow,
      aliases: workflows.filter(({ alias_of }) => alias_of === workflow.name).map(({ name }) => name),
    }));

export function WorkflowsPage() {
  const { data, error, refetch } = useQuery(workflowsQuery);
  return (
    <Page
      title="Workflows"
      note="The steps an order goes through. Add your own as YAML files in the workflows directory of the server's home."
    >
      {error && !data && <ErrorMessage fault={error} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows />}
      {data && (
        <Card className="divide-y overflow-hidden">
          {listed(data.workflows).map(({ name, aliases, description, steps, ready, needs }) => (
            <Link
              key={name}
              to="/workflows/$name"
              params={{ name }}
              data-row
              className="flex items-center gap-4 px-4 py-3 hover:bg-muted focus-visible:bg-muted"
            >
              <div className="min-w-0 flex-1">
                <p className="truncate font-mono text-[13px] font-medium">
                  {name}
                  {aliases.length > 0 && (
                    <span className="ml-2 font-normal text-muted-foreground">also {aliases.join(", ")}</span>
                  )}
                </p>
                <p className={ready ? "text-[13px] text-muted-foreground" : "text-[13px] text-destructive"}>
                  {ready ? description : needs}
                </p>
                <p className="mt-1 flex flex-wrap items-center gap-1 text-xs text-muted-foreground">
                  {steps.map((step, index) => (
                    <span key={step.name} className="inline-flex items-center gap-1">
                      {index > 0 && <span aria-hidden>·</span>}
                      {step.requires_approval && (
                        <Hand aria-label="needs approval" className="size-3 text-warning" />
                      )}
                      {step.name}
                    </span>
                  ))}
                </p>
              </div>
              <ChevronRight aria-hidden className="size-4 text-muted-foreground" />
            </Link>
          ))}
        </Card>
      )}
    </Page>
  );
}
