import { focusManager } from "@tanstack/react-query";
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Order } from "@/api/client";
import { InboxPage } from "@/features/inbox/inbox-page";
import { reasonOf } from "@/features/inbox/use-inbox";
import { order, renderWith } from "./server";

const LIST = "GET /api/agent-work-orders";
const BASE = "/api/agent-work-orders/wo-00000000";
const page = (...orders: Order[]) => ({
  agent_work_orders: orders,
  total_count: orders.length,
  has_more: false,
});
const failed = order({
  status: "failed",
  allowed_actions: ["retry"],
  error_category: "agent",
  error_message: "it broke",
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  focusManager.setFocused(undefined);
  localStorage.clear();
});

it("a failure can be retried, opened and dismissed where it is told", async () => {
  const { asked } = renderWith(<InboxPage />, { [LIST]: page(failed), [`POST ${BASE}/retry`]: {} });
  await screen.findByText("it broke");
  expect(screen.getByRole("link", { name: /^Open/ }).getAttribute("href")).toBe("/orders/wo-00000000");
  await userEvent.click(screen.getByRole("button", { name: /^Retry/ }));
  expect(asked).toContainEqual({ method: "POST", path: `${BASE}/retry`, body: null });
  await userEvent.click(screen.getByRole("button", { name: /^Dismiss/ }));
  expect(screen.getByText("All clear")).toBeTruthy();
});

it("a draft is called a draft, and can be marked ready", async () => {
  const draft = order({
    pull_request_state: "draft",
    github_pull_request_url: "http://forge.test/1",
    allowed_actions: ["mark_ready"],
  });
  const ready = order({ ...draft, agent_work_order_id: "wo-2", title: "Other", pull_request_state: "open" });
  const { asked } = renderWith(<InboxPage />, {
    [LIST]: page(draft, ready),
    [`POST ${BASE}/pull-request/ready`]: {},
  });
  const drafts = (await screen.findByRole("heading", { name: "Draft pull request" })).parentElement;
  expect(within(drafts as HTMLElement).getByRole("link", { name: "Fix the adder" })).toBeTruthy();
  const reviews = screen.getByRole("heading", { name: "Ready for review" }).parentElement;
  expect(within(reviews as HTMLElement).getByRole("link", { name: "Other" })).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: /^Mark ready for review/ }));
  expect(asked.map(({ path }) => path)).toContain(`${BASE}/pull-request/ready`);
});

describe("how often the server is asked", () => {
  const lists = (asked: { path: string }[]) =>
    asked.filter(({ path }) => path === "/api/agent-work-orders").length;

  it("one list at a time, and none while nobody looks", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const { asked } = renderWith(<InboxPage />, { [LIST]: page() });
    await waitFor(() => expect(screen.getByText("All clear")).toBeTruthy());
    expect(lists(asked)).toBe(1);
    await vi.advanceTimersByTimeAsync(4_100);
    expect(lists(asked)).toBe(2);
    focusManager.setFocused(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lists(asked)).toBe(2);
  });

  it("a decision that waits is found behind any number of newer orders", async () => {
    const { asked } = renderWith(<InboxPage />, { [LIST]: { ...page(failed), has_more: true } });
    await waitFor(() => expect(lists(asked)).toBe(2));
  });
});

it.each([
  [{ status: "awaiting_approval" }, "approval"],
  [{ status: "failed" }, "failure"],
  [{ status: "paused", error_category: "budget" }, "budget"],
  [{ status: "paused", error_category: "environment" }, "environment"],
  [{ status: "paused" }, null],
  [{ status: "completed", pull_request_state: "draft" }, "draft"],
  [{ status: "completed", pull_request_state: "open" }, "review"],
  [{ status: "completed", pull_request_state: "merged" }, null],
] as const)("%o is there because of %s", (fields, reason) => {
  expect(reasonOf(order(fields))).toBe(reason);
});
