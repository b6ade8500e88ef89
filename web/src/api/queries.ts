/** The queries of all pages and their cache keys. */

import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "./client";
import type { paths } from "./schema";

type OrdersParameters = NonNullable<paths["/api/agent-work-orders"]["get"]["parameters"]["query"]>;
type Status = NonNullable<OrdersParameters["status"]>[number];
export type OrderFilter = Omit<OrdersParameters, "status"> & { status?: Status | Status[] };

export const keys = {
  orders: ["orders"] as const,
  repositories: ["repositories"] as const,
  environment: (id: string) => ["repositories", id] as const,
  flakyTests: (id: string) => ["repositories", id, "flaky-tests"] as const,
  part: (id: string, part: string) => ["order", id, part] as const,
  transcript: (id: string) => ["order", id, "transcript"] as const,
};

const EVERY_LINE = 1_000_000;
const LIST_MS = 2_000;
const order = (id: string) => ({ params: { path: { agent_work_order_id: id } } });

export const ordersQuery = ({ status, ...others }: OrderFilter) =>
  queryOptions({
    queryKey: [...keys.orders, { status, ...others }],
    queryFn: () => {
      const query = { ...others, status: status && [status].flat() };
      return unwrap(api.GET("/api/agent-work-orders", { params: { query } }));
    },
    refetchInterval: LIST_MS,
    placeholderData: (previous) => previous,
  });

export const orderQuery = (id: string) =>
  queryOptions({
    queryKey: keys.part(id, "order"),
    queryFn: () => unwrap(api.GET("/api/agent-work-orders/{agent_work_order_id}", order(id))),
  });

export const stepsQuery = (id: string) =>
  queryOptions({
    queryKey: keys.part(id, "steps"),
    queryFn: () => unwrap(api.GET("/api/agent-work-orders/{agent_work_order_id}/steps", order(id))),
  });

export const costQuery = (id: string) =>
  queryOptions({
    queryKey: keys.part(id, "cost"),
    queryFn: () => unwrap(api.GET("/api/agent-work-orders/{agent_work_order_id}/cost", order(id))),
  });

export const logQuery = (id: string, offset: number, limit: number) =>
  queryOptions({
    queryKey: [...keys.part(id, "log"), offset, limit],
    queryFn: () =>
      unwrap(
        api.GET("/api/agent-work-orders/{agent_work_order_id}/logs", {
          params: { ...order(id).params, query: { offset, limit } },
        }),
      ),
    gcTime: 0,
  });

export const evidenceQuery = (id: string) =>
  queryOptions({
    queryKey: keys.part(id, "evidence"),
    queryFn: () => unwrap(api.GET("/api/agent-work-orders/{agent_work_order_id}/evidence", order(id))),
  });

export const promptsQuery = (id: string) =>
  queryOptions({
    queryKey: keys.part(id, "prompts"),
    queryFn: () => unwrap(api.GET("/api/agent-work-orders/{agent_work_order_id}/prompts", order(id))),
  });

export const commandsQuery = (id: string) =>
  queryOptions({
    queryKey: keys.part(id, "commands"),
    queryFn: () => unwrap(api.GET("/api/agent-work-orders/{agent_work_order_id}/commands", order(id))),
    // They come from the commit that the order began from; an event invalidates them.
    staleTime: Number.POSITIVE_INFINITY,
  });

export const approvalsQuery = (id: string) =>
  queryOptions({
    queryKey: keys.part(id, "approvals"),
    queryFn: () => unwrap(api.GET("/api/agent-work-orders/{agent_work_order_id}/approvals", order(id))),
  });

export const diffQuery = (id: string) =>
  queryOptions({
    queryKey: keys.part(id, "diff"),
    queryFn: async () => {
      const path = "/api/agent-work-orders/{agent_work_order_id}/diff";
      // An empty response is an order without changes.
      return ((await unwrap(api.GET(path, { ...order(id), parseAs: "text" }))) as string | undefined) ?? "";
    },
  });

/** The diff of these files with full context. */
export const wholeDiffQuery = (id: string, path: string[]) =>
  queryOptions({
    queryKey: [...keys.part(id, "diff"), path],
    queryFn: () =>
      unwrap(
        api.GET("/api/agent-work-orders/{agent_work_order_id}/diff", {
          params: { ...order(id).params, query: { context_lines: EVERY_LINE, path } },
          parseAs: "text",
        }),
      ) as Promise<string>,
  });

export const agentsQuery = queryOptions({
  queryKey: ["agents"],
  queryFn: () => unwrap(api.GET("/api/agents")),
});

export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: () => unwrap(api.GET("/api/models")),
});

export const workflowsQuery = queryOptions({
  queryKey: ["workflows"],
  queryFn: () => unwrap(api.GET("/api/workflows")),
});

export const sandboxesQuery = queryOptions({
  queryKey: ["sandboxes"],
  queryFn: () => unwrap(api.GET("/api/sandboxes")),
});

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: () => unwrap(api.GET("/health")),
});

export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: () => unwrap(api.GET("/api/settings")),
});

export const spendingQuery = (days: number) =>
  queryOptions({
    queryKey: ["spending", days],
    queryFn: () => unwrap(api.GET("/api/spending", { params: { query: { days } } })),
  });

export const pullRequestQuery = (id: string) =>
  queryOptions({
    queryKey: keys.part(id, "pull-request"),
    queryFn: () => unwrap(api.GET("/api/agent-work-orders/{agent_work_order_id}/pull-request", order(id))),
  });

const CHECKING_MS = 1_500;

export const repositoriesQuery = queryOptions({
  queryKey: [...keys.repositories, "all"],
  queryFn: () => unwrap(api.GET("/api/repositories", { params: { query: { limit: 200 } } })),
  refetchInterval: 2 * LIST_MS,
});

export const flakyTestsQuery = (id: string) =>
  queryOptions({
    queryKey: keys.flakyTests(id),
    queryFn: () =>
      unwrap(
        api.GET("/api/repositories/{repository_id}/flaky-tests", { params: { path: { repository_id: id } } }),
      ),
  });

export const environmentQuery = (id: string) =>
  queryOptions({
    queryKey: keys.environment(id),
    queryFn: () =>
      unwrap(
        api.GET("/api/repositories/{repository_id}/environment", { params: { path: { repository_id: id } } }),
      ),
    refetchInterval: ({ state }) =>
      state.data?.repository.environment_state === "checking" ? CHECKING_MS : false,
  });

export const networkQuery = (id: string) =>
  queryOptions({
    queryKey: keys.part(id, "network"),
    queryFn: () => unwrap(api.GET("/api/agent-work-orders/{agent_work_order_id}/network", order(id))),
  });

export const localPullRequestsQuery = queryOptions({
  queryKey: ["local pull requests"],
  queryFn: () => unwrap(api.GET("/api/local-forge/pull-requests", { params: { query: { limit: 200 } } })),
  refetchInterval: 2 * LIST_MS,
});

export const localPullRequestQuery = (number: number) =>
  queryOptions({
    queryKey: ["local pull requests", number],
    queryFn: () =>
      unwrap(api.GET("/api/local-forge/pull-requests/{number}", { params: { path: { number } } })),
  });
