import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, Hand } from "lucide-react";
import { workflowsQuery } from "@/api/queries";
import { SkeletonRows, Trouble } from "@/components/feedback";
import { Card, Page } from "@/components/page";

export function WorkflowsPage() {
  const { data, error, refetch } = useQuery(workflowsQuery);
  return (
    <Page
      title="Workflows"
      note="In what order an order is worked on. Your own are YAML files in the home's workflows directory."
    >
      {error && !data && <Trouble fault={error} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows />}
      {data && (
        <Card className="divide-y overflow-hidden">
          {data.workflows.map(({ name, description, steps, ready, needs }) => (
            <Link
              key={name}
              to="/workflows/$name"
              params={{ name }}
              data-row
              className="flex items-center gap-4 px-4 py-3 hover:bg-muted focus-visible:bg-muted"
            >
              <div className="min-w-0 flex-1">
                <p className="truncate font-mono text-[13px] font-medium">{name}</p>
                <p className={ready ? "text-[13px] text-muted-foreground" : "text-[13px] text-destructive"}>
                  {ready ? description : needs}
                </p>
                <p className="mt-1 flex flex-wrap items-center gap-1 text-xs text-muted-foreground">
                  {steps.map((step, index) => (
                    <span key={step.name} className="inline-flex items-center gap-1">
                      {index > 0 && <span aria-hidden>·</span>}
                      {step.requires_approval && (
                        <Hand aria-label="asks for approval" className="size-3 text-warning" />
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
