import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { FlaskConical, Sparkles } from "lucide-react";
import { useState } from "react";
import { api, asked } from "@/api/client";
import { ordersQuery } from "@/api/queries";
import { SkeletonRows } from "@/components/feedback";
import { OrderRow } from "@/components/order-row";
import { Card } from "@/components/page";
import { Button } from "@/components/ui/button";
import { useKnownRepositories } from "@/lib/preferences";
import { Composer, type Draft } from "./composer";

const route = getRouteApi("/");

export function HomePage() {
  const search = route.useSearch();
  const [draft, setDraft] = useState<Draft>({
    repository_url: search.repository_url ?? "",
    prompt: search.prompt ?? "",
  });
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto w-full max-w-3xl px-4 py-8 sm:px-8 sm:py-14">
        <h1 className="mb-1 text-2xl font-semibold tracking-tight">What should be done?</h1>
        <p className="mb-6 text-muted-foreground">
          Hand over a task, walk away, come back to a draft pull request with proof.
        </p>
        <Composer draft={draft} />
        <Recent onDraft={setDraft} />
      </div>
    </div>
  );
}

function Recent({ onDraft }: { onDraft: (draft: Draft) => void }) {
  const { data } = useQuery(ordersQuery({ limit: 8, sort: "-updated_at" }));
  if (!data) {
    return (
      <div className="mt-10">
        <SkeletonRows rows={3} />
      </div>
    );
  }
  if (!data.total_count) return <First onDraft={onDraft} />;
  const running = data.agent_work_orders.filter(({ status }) => status === "running" || status === "pending");
  const others = data.agent_work_orders.filter((order) => !running.includes(order));
  return (
    <>
      <Group title="Running now" orders={running} />
      <Group title="Recently" orders={others} />
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
  "Find a test that fails and fix what it shows",
  "Add tests for the module with the least coverage",
  "Explain the layout of this repository in a README section",
];

/** Nothing was ever handed over here: a way to see the product at work without a key or a repository. */
function First({ onDraft }: { onDraft: (draft: Draft) => void }) {
  const [, remember] = useKnownRepositories();
  const sample = useMutation({
    mutationFn: () => asked(api.POST("/api/sample")),
    onSuccess: ({ repository_url, initial_prompt, model }) => {
      remember({ url: repository_url, branch: "main" });
      onDraft({ repository_url, prompt: initial_prompt, model });
    },
  });
  return (
    <section className="mt-10 grid gap-4 sm:grid-cols-2">
      <Card className="p-4">
        <h2 className="mb-1 flex items-center gap-2 font-medium">
          <FlaskConical aria-hidden className="size-4 text-primary" /> See it at work
        </h2>
        <p className="mb-3 text-muted-foreground">
          A small repository with a real mistake and a failing test. A scripted model plays the language
          model, all the rest is real: no key, no account.
        </p>
        <Button size="sm" onClick={() => sample.mutate()} disabled={sample.isPending}>
          Use the sample
        </Button>
      </Card>
      <Card className="p-4">
        <h2 className="mb-1 flex items-center gap-2 font-medium">
          <Sparkles aria-hidden className="size-4 text-primary" /> Or begin with
        </h2>
        <ul className="-mx-2">
          {EXAMPLES.map((prompt) => (
            <li key={prompt}>
              <button
                type="button"
                className="w-full rounded-md px-2 py-1.5 text-left text-muted-foreground hover:bg-muted hover:text-foreground"
                onClick={() => onDraft({ repository_url: "", prompt })}
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
