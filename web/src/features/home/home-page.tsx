import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { FlaskConical, Sparkles } from "lucide-react";
import { useEffect } from "react";
import { api, type OrderPage, unwrap } from "@/api/client";
import { modelsQuery, ordersQuery } from "@/api/queries";
import { SkeletonRows } from "@/components/feedback";
import { OrderRow } from "@/components/order-row";
import { Card } from "@/components/page";
import { Button } from "@/components/ui/button";
import { keepDraft } from "@/lib/draft";
import { useKnownRepositories } from "@/lib/preferences";
import { Composer } from "./composer";
import { KeyBanner } from "./key-banner";
import { useSample } from "./sample";

const route = getRouteApi("/");

export function HomePage() {
  useLinkedOrder();
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto w-full max-w-3xl px-4 py-8 sm:px-8 sm:py-14">
        <h1 className="mb-1 text-2xl font-semibold tracking-tight">What should be done?</h1>
        <p className="mb-6 text-muted-foreground">
          Describe a task and come back to a draft pull request with proof that it works.
        </p>
        <Composer />
        <BelowComposer />
      </div>
    </div>
  );
}

/** Takes repository and task from the URL once, so that a reload keeps later edits. */
function useLinkedOrder() {
  const { repository_url, prompt } = route.useSearch();
  const navigate = route.useNavigate();
  useEffect(() => {
    if (repository_url) keepDraft("repository", repository_url);
    if (prompt) keepDraft("task", prompt);
    if (repository_url || prompt) void navigate({ search: {}, replace: true });
  }, [repository_url, prompt, navigate]);
}

/** Rendered once everything is loaded, to avoid layout shifts. */
function BelowComposer() {
  const { data } = useQuery(ordersQuery({ limit: 8, sort: "-updated_at" }));
  const models = useQuery(modelsQuery);
  if (!data || !models.isFetched) {
    return (
      <div className="mt-10">
        <SkeletonRows rows={3} />
      </div>
    );
  }
  return (
    <>
      <KeyBanner />
      {data.total_count ? <Recent page={data} /> : <First />}
    </>
  );
}

function Recent({ page: data }: { page: OrderPage }) {
  const running = data.agent_work_orders.filter(({ status }) => status === "running" || status === "pending");
  const others = data.agent_work_orders.filter((order) => !running.includes(order));
  return (
    <>
      <Group title="Running" orders={running} />
      <Group title="Recent" orders={others} />
      <p className="mt-4 text-center">
        <Link to="/orders" className="text-primary hover:underline">
          All {data.total_count} orders
        </Link>
      </p>
    </>
  );
}

function Group({ title, orders }: { title: string; orders: Parameters<typeof OrderRow>[0]["order"][] }) {
  if (!orders.length) return null;
  return (
    <section className="mt-10">
      <h2 className="mb-2 text-xs font-medium tracking-wide text-muted-foreground uppercase">{title}</h2>
      <Card className="divide-y overflow-hidden">
        {orders.map((order) => (
          <OrderRow key={order.agent_work_order_id} order={order} />
        ))}
      </Card>
    </section>
  );
}

const EXAMPLES = [
  "Find a failing test and fix the bug behind it",
  "Add tests for the module with the least coverage",
  "Explain the layout of this repository in a README section",
];

/** Shown while there are no orders: a sample and example tasks. */
function First() {
  const [, remember] = useKnownRepositories();
  const [, setSample] = useSample();
  const sample = useMutation({
    mutationFn: () => unwrap(api.POST("/api/sample")),
    onSuccess: ({ repository_url, initial_prompt, model }) => {
      remember({ url: repository_url, branch: "main" });
      setSample({ repository_url, model });
      keepDraft("repository", repository_url);
      keepDraft("task", initial_prompt);
    },
  });
  return (
    <section className="mt-10 grid gap-4 sm:grid-cols-2">
      <Card className="p-4">
        <h2 className="mb-1 flex items-center gap-2 font-medium">
          <FlaskConical aria-hidden className="size-4 text-primary" /> Try the sample
        </h2>
        <p className="mb-3 text-muted-foreground">
          A small repository with a real bug and a failing test. The model is a recording; everything else is
          real. No key, no account.
        </p>
        <Button size="sm" onClick={() => sample.mutate()} disabled={sample.isPending}>
          Use the sample
        </Button>
      </Card>
      <Card className="p-4">
        <h2 className="mb-1 flex items-center gap-2 font-medium">
          <Sparkles aria-hidden className="size-4 text-primary" /> Example tasks
        </h2>
        <ul className="-mx-2">
          {EXAMPLES.map((prompt) => (
            <li key={prompt}>
              <button
                type="button"
                className="w-full rounded-md px-2 py-1.5 text-left text-muted-foreground hover:bg-muted hover:text-foreground"
                onClick={() => keepDraft("task", prompt)}
              >
                {prompt}
              </button>
            </li>
          ))}
        </ul>
      </Card>
    </section>
  );
}
