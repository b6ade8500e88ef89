/** What can be done about a repository's environment, as mutations. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, unwrap } from "@/api/client";
import { keys } from "@/api/queries";

const ENVIRONMENT = "/api/repositories/{repository_id}/environment";

export function useEnvironment(id: string, repositoryUrl: string) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const at = { params: { path: { repository_id: id } } };
  const refresh = () => client.invalidateQueries({ queryKey: keys.repositories });
  const shown = { meta: { shown: true }, onSettled: refresh };
  return {
    check: useMutation({
      mutationFn: (body: CheckRequest) =>
        unwrap(api.POST(`${ENVIRONMENT}/check`, { ...at, body: { ask_agent: false, ...body } })),
      ...shown,
    }),
    store: useMutation({
      mutationFn: (definition: string) => unwrap(api.PUT(ENVIRONMENT, { ...at, body: { definition } })),
      ...shown,
    }),
    remove: useMutation({
      mutationFn: () => unwrap(api.DELETE(ENVIRONMENT, at)),
      onSettled: refresh,
    }),
    propose: useMutation({
      mutationFn: (initial_prompt: string) =>
        unwrap(
          api.POST("/api/agent-work-orders", {
            body: {
              repository_url: repositoryUrl,
              workflow_type: "environment_file",
              sandbox_type: "git_worktree",
              initial_prompt,
              priority: 0,
            },
          }),
        ),
      onSuccess: ({ agent_work_order }) =>
        void navigate({ to: "/orders/$id", params: { id: agent_work_order.agent_work_order_id } }),
      ...shown,
    }),
    allow: useMutation({
      mutationFn: ({ order, host }: { order: string; host: string }) =>
        unwrap(
          api.POST("/api/agent-work-orders/{agent_work_order_id}/network/allow", {
            params: { path: { agent_work_order_id: order } },
            body: { host, scope: "repository" },
          }),
        ),
      onSettled: refresh,
    }),
  };
}

type CheckRequest = { definition?: string; ask_agent?: boolean };

/** Whether a check was begun by the editor of the definition, which then shows why it was refused. */
export const isOfEditor = (asked: CheckRequest | undefined) =>
  Boolean(asked && (asked.ask_agent || asked.definition !== undefined));

export type EnvironmentActions = ReturnType<typeof useEnvironment>;
