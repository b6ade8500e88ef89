import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Workflow as Icon } from "lucide-react";
import { Suspense, useState } from "react";
import type { Step } from "@/api/client";
import { ordersQuery, stepsQuery, workflowsQuery } from "@/api/queries";
import { Empty, Skeleton, SkeletonRows } from "@/components/feedback";
import { OrderRow } from "@/components/order-row";
import { Output } from "@/components/output";
import { Card, Page } from "@/components/page";
import { Picker } from "@/components/ui/picker";
import { lazyWithRetry } from "@/lib/lazy";

const Graph = lazyWithRetry(() => import("./graph"));

export function WorkflowPage() {
  const { name } = useParams({ strict: false }) as { name: string };
  const { data } = useQuery(workflowsQuery);
  const runs = useQuery(ordersQuery({ workflow_type: name, limit: 10 }));
  const [run, setRun] = useState("");
  const workflow = data?.workflows.find((one) => one.name === name);
  if (!data || !runs.isFetched) {
    return (
      <Page wide title={name}>
        <SkeletonRows />
      </Page>
    );
  }
  if (!workflow) return <Empty icon={Icon} title={`No workflow named ${name}`} />;
  const orders = runs.data?.agent_work_orders ?? [];
  return (
    <Page
      wide
      title={name}
      note={workflow.ready ? workflow.description : workflow.needs}
      actions={
        orders.length > 0 && (
          <Picker
            label="Show order"
            value={run}
            choices={[
              { value: "", label: "none" },
              ...orders.map((order) => ({
                value: order.agent_work_order_id,
                label: order.title,
                note: `${order.agent_work_order_id} · ${order.status}`,
              })),
            ]}
            onChange={setRun}
          />
        )
      }
    >
      {workflow.ready && (
        <Card className="h-80 overflow-hidden">
          <Suspense fallback={<Skeleton className="h-full" />}>
            {run ? <RunGraph id={run} steps={workflow.steps} /> : <Graph steps={workflow.steps} />}
          </Suspense>
        </Card>
      )}
      {workflow.yaml && (
        <section className="mt-6">
          <h2 className="mb-2 font-medium">Definition</h2>
          <Output label="Definition" text={workflow.yaml} />
        </section>
      )}
      <section className="mt-6">
        <h2 className="mb-2 font-medium">Orders</h2>
        {orders.length ? (
          <Card className="divide-y overflow-hidden">
            {orders.map((order) => (
              <OrderRow key={order.agent_work_order_id} order={order} />
            ))}
          </Card>
        ) : (
          <p className="text-muted-foreground">No order has used it yet.</p>
        )}
      </section>
    </Page>
  );
}

function RunGraph({ id, steps }: { id: string; steps: Parameters<typeof Graph>[0]["steps"] }) {
  const { data } = useQuery({ ...stepsQuery(id), refetchInterval: 2000 });
  const done: Record<string, Step> = {};
  for (const step of data?.steps ?? []) if (step.round === 1) done[step.step] = step;
  return <Graph steps={steps} done={done} />;
}
