/** Tests that failed and passed on the same files, each with a button that lets it count when it fails. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { flakyTestsQuery, keys } from "@/api/queries";
import { Card } from "@/components/page";
import { Button } from "@/components/ui/button";

type Change = { test_digest: string; is_trusted: boolean };

export function FlakyTests({ id }: { id: string }) {
  const client = useQueryClient();
  const tests = useQuery(flakyTestsQuery(id)).data?.flaky_tests ?? [];
  const trust = useMutation({
    mutationFn: ({ test_digest, is_trusted }: Change) =>
      unwrap(
        api.PUT("/api/repositories/{repository_id}/flaky-tests/{test_digest}", {
          params: { path: { repository_id: id, test_digest } },
          body: { is_trusted },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: keys.flakyTests(id) }),
  });
  if (!tests.length) return null;
  return (
    <section aria-labelledby="flaky-title">
      <h2 id="flaky-title" className="font-medium">
        Flaky tests
      </h2>
      <p className="mb-2 text-[13px] text-muted-foreground">
        They failed and passed on the same files. Their failures fail no order, unless you let them count.
      </p>
      <Card className="divide-y">
        {tests.map(({ test_digest, test_id, times_seen, is_trusted }) => (
          <div
            key={test_digest}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 text-[13px]"
          >
            <code className="min-w-0 flex-1 font-mono text-xs break-all">{test_id}</code>
            <span className="text-xs text-muted-foreground">
              {is_trusted ? "counts" : `seen ${times_seen === 1 ? "once" : `${times_seen} times`}`}
            </span>
            <Button
              size="sm"
              disabled={trust.isPending}
              onClick={() => trust.mutate({ test_digest, is_trusted: !is_trusted })}
            >
              {is_trusted ? "Treat as flaky" : "Let it count"}
              <span className="sr-only">: {test_id}</span>
            </Button>
          </div>
        ))}
      </Card>
    </section>
  );
}
