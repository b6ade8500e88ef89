/** The actions on an order, as mutations; each refreshes what it changed. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type Action, api, type Order, unwrap } from "@/api/client";
import { keys } from "@/api/queries";

const at = (id: string) => ({ params: { path: { agent_work_order_id: id } } });
const BASE = "/api/agent-work-orders/{agent_work_order_id}";

/** Actions that need nothing but the order. */
export type SimpleAction = Extract<Action, "pause" | "resume" | "cancel" | "retry" | "mark_ready">;

/** Whether the server allows an action on the order as it is now. */
export const allows = (order: Order, action: Action) => order.allowed_actions.includes(action);

export function useControl(id: string) {
  const client = useQueryClient();
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ["order", id] }),
      client.invalidateQueries({ queryKey: keys.orders }),
    ]);
  const act = useMutation({
    mutationFn: (action: SimpleAction) => {
      switch (action) {
        case "pause":
          return unwrap(api.POST(`${BASE}/pause`, at(id)));
        case "resume":
          return unwrap(api.POST(`${BASE}/resume`, at(id)));
        case "cancel":
          return unwrap(api.POST(`${BASE}/cancel`, at(id)));
        case "retry":
          return unwrap(api.POST(`${BASE}/retry`, at(id)));
        case "mark_ready":
          return unwrap(api.POST(`${BASE}/pull-request/ready`, at(id)));
      }
    },
    onSettled: refresh,
  });
  // Only a new attempt ends the wait before a retry.
  const retryNow = useMutation({
    mutationFn: async () => {
      await unwrap(api.POST(`${BASE}/pause`, at(id)));
      return unwrap(api.POST(`${BASE}/resume`, at(id)));
    },
    onSettled: refresh,
  });
  const retryFrom = useMutation({
    mutationFn: (from_step: string) => unwrap(api.POST(`${BASE}/retry`, { ...at(id), body: { from_step } })),
    onSettled: refresh,
  });
  const change = useMutation({
    mutationFn: (body: { title?: string; model?: string; budget_usd?: number }) =>
      unwrap(api.PATCH(BASE, { ...at(id), body })),
    onSettled: refresh,
  });
  const decide = useMutation({
    mutationFn: ({
      step,
      decision,
      comment,
      rework = false,
    }: {
      step: string;
      decision: "approve" | "reject";
      comment: string;
      rework?: boolean;
    }) =>
      unwrap(
        api.POST(`${BASE}/approvals/{step}`, {
          params: { path: { agent_work_order_id: id, step } },
          body: { decision, comment, rework },
        }),
      ),
    onSettled: refresh,
  });
  const prompt = useMutation({
    mutationFn: ({ text, mode }: { text: string; mode: "work" | "ask" | null }) =>
      unwrap(
        api.POST(`${BASE}/prompt`, { ...at(id), body: { agent_work_order_id: id, prompt_text: text, mode } }),
      ),
    onSettled: refresh,
  });
  const withdraw = useMutation({
    mutationFn: (number: number) =>
      unwrap(
        api.DELETE(`${BASE}/prompts/{number}`, { params: { path: { agent_work_order_id: id, number } } }),
      ),
    onSettled: refresh,
  });
  const merge = useMutation({
    mutationFn: (number: number) =>
      unwrap(api.POST("/api/local-forge/pull-requests/{number}/merge", { params: { path: { number } } })),
    onSettled: () =>
      Promise.all([refresh(), client.invalidateQueries({ queryKey: ["local pull requests"] })]),
  });
  return { act, retryNow, merge, retryFrom, change, decide, prompt, withdraw };
}
