/** A component beside a server that answers as it is told, and remembers what it was asked. */

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterContextProvider,
} from "@tanstack/react-router";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { vi } from "vitest";
import type { Order } from "@/api/client";

export type Asked = { method: string; path: string; body: unknown };

/** A refusal, as the server makes it. */
export const refusal = (status: number, detail: string, more: Record<string, unknown> = {}) =>
  Response.json(
    { type: "urn:journeyman:problem:refused", status, detail, hint: "", category: "invalid_input", ...more },
    { status },
  );

/** Answers by `METHOD /path`; what is not named here is not found. */
export function renderWith(element: ReactNode, answers: Record<string, unknown> = {}) {
  const asked: Asked[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    asked.push({ method: request.method, path, body: text ? JSON.parse(text) : null });
    const answer = answers[`${request.method} ${path}`];
    if (answer instanceof Response) return answer.clone();
    return answer === undefined ? refusal(404, "not found") : Response.json(answer);
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
  const shown = render(
    <QueryClientProvider client={client}>
      <RouterContextProvider router={router}>{element}</RouterContextProvider>
    </QueryClientProvider>,
  );
  return { asked, ...shown };
}

export const order = (fields: Partial<Order> = {}): Order => ({
  agent_work_order_id: "wo-00000000",
  repository_url: "/code/adder",
  sandbox_type: "git_worktree",
  sandbox_identifier: null,
  workflow_type: "agent_workflow_build",
  git_branch_name: "journeyman/adder",
  agent_session_id: null,
  github_issue_number: null,
  status: "completed",
  current_phase: null,
  title: "Fix the adder",
  agent: "builtin",
  model: "scripted/fix",
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  execution_started_at: null,
  execution_completed_at: null,
  active_seconds: 0,
  active_since: null,
  github_pull_request_url: null,
  pull_request_state: null,
  git_commit_count: 0,
  git_files_changed: 0,
  git_lines_added: 0,
  git_lines_removed: 0,
  error_message: null,
  error_category: null,
  error_hint: null,
  kept: null,
  cost_usd: null,
  tokens_in: 0,
  tokens_out: 0,
  tokens_cache_read: 0,
  budget_usd: null,
  verification: "none",
  worker_id: null,
  queue_position: null,
  resume_at: null,
  allowed_actions: [],
  ...fields,
});
