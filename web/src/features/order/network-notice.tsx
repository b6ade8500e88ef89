/** Hosts that the order's network refused, each once, with what a person can do about it. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Globe } from "lucide-react";
import { api, unwrap } from "@/api/client";
import { keys, networkQuery } from "@/api/queries";
import { Button } from "@/components/ui/button";

type Scope = "order" | "repository";

export function NetworkNotice({ id }: { id: string }) {
  const { data } = useQuery(networkQuery(id));
  const client = useQueryClient();
  const allow = useMutation({
    mutationFn: (body: { host: string; scope: Scope }) =>
      unwrap(
        api.POST("/api/agent-work-orders/{agent_work_order_id}/network/allow", {
          params: { path: { agent_work_order_id: id } },
          body,
        }),
      ),
    onSuccess: (network) => client.setQueryData(keys.part(id, "network"), network),
  });
  const open = (data?.denied ?? []).filter(({ allowed }) => allowed === null);
  if (!open.length) return null;
  return (
    <section aria-label="Network" className="my-3 rounded-lg border border-warning/50 bg-card p-4">
      <h2 className="flex items-center gap-2 text-[13px] font-medium">
        <Globe aria-hidden className="size-4 text-warning" />
        Network access was denied
      </h2>
      <ul className="mt-2 flex flex-col gap-3">
        {open.map(({ host, command, reason, may_be_allowed }) => (
          <li key={host} className="flex flex-wrap items-center gap-x-3 gap-y-2">
            <div className="min-w-0 flex-1 basis-48">
              <p className="font-mono text-[13px] break-all">{host}</p>
              <p className="text-xs break-words text-muted-foreground">
                {may_be_allowed ? (command ?? reason) : reason}
              </p>
            </div>
            {may_be_allowed && (
              <div className="flex flex-wrap gap-2">
                <Button
                  size="sm"
                  disabled={allow.isPending}
                  onClick={() => allow.mutate({ host, scope: "order" })}
                >
                  Allow for this order
                </Button>
                <Button
                  size="sm"
                  disabled={allow.isPending}
                  onClick={() => allow.mutate({ host, scope: "repository" })}
                >
                  Allow for this repository
                </Button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
