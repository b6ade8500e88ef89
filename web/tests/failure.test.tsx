import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Order } from "@/api/client";
import type { RetryItem } from "@/events/story";
import { wordOf } from "@/features/inbox/use-notices";
import { FailureNote, keptOf, Remedies } from "@/features/order/failure";
import { ItemView } from "@/features/order/item-view";
import { event } from "./events";
import { order, renderWith } from "./server";

const BASE = "/api/agent-work-orders/wo-00000000";
const failed = (error_category: string, more: Partial<Order> = {}) =>
  order({ status: "failed", error_category, error_message: "it broke", ...more });

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const helps = (category: string) => {
  const { unmount } = renderWith(<Remedies order={failed(category)} />);
  const names = screen.getAllByRole("button").map((one) => one.textContent?.trim() ?? "");
  const primary = screen.getAllByRole("button").find((one) => one.className.includes("bg-primary"));
  const found = {
    model: names.some((name) => name.startsWith("Change model")),
    budget: names.includes("Raise budget"),
    first: primary?.textContent?.trim() ?? null,
  };
  unmount();
  return found;
};

describe("what helps", () => {
  it.each([
    ["transient", { model: true, budget: false, first: "Retry" }],
    ["rate_limited", { model: true, budget: false, first: "Retry" }],
    ["quota", { model: true, budget: false, first: null }],
    ["auth", { model: true, budget: false, first: null }],
    ["permission", { model: false, budget: false, first: null }],
    ["budget", { model: false, budget: true, first: "Raise budget" }],
    ["sandbox", { model: false, budget: false, first: "Retry" }],
    ["agent", { model: true, budget: false, first: "Retry" }],
    ["verification", { model: true, budget: false, first: "Retry" }],
    ["conflict", { model: false, budget: false, first: "Retry" }],
    ["invalid_input", { model: false, budget: false, first: null }],
    ["internal", { model: false, budget: false, first: "Retry" }],
  ])("against %s", (category, expected) => {
    expect(helps(category)).toEqual(expected);
  });

  it("a budget that was raised lets a paused order go on", async () => {
    const paused = failed("budget", { status: "paused", budget_usd: 2 });
    const { asked } = renderWith(<Remedies order={paused} />, {
      [`PATCH ${BASE}`]: {},
      [`POST ${BASE}/resume`]: {},
    });
    const user = userEvent.setup();
    const field = screen.getByLabelText("New budget in dollars");
    await user.type(field, "2");
    expect(screen.getByRole("button", { name: "Raise budget" })).toHaveProperty("disabled", true);
    await user.type(field, "0{Enter}");
    await waitFor(() => expect(asked.map(({ path }) => path)).toContain(`${BASE}/resume`));
    expect(asked.find(({ method }) => method === "PATCH")?.body).toEqual({ budget_usd: 20 });
  });
});

it("says what was kept", () => {
  const kept = {
    git_branch_name: "journeyman/adder",
    git_commit_count: 1,
    snapshot_ref: null,
    github_pull_request_url: null,
  };
  expect(keptOf(order())).toContain("nothing was committed yet");
  expect(keptOf(order({ kept }))).toContain("branch journeyman/adder with 1 commit.");
  expect(
    keptOf(order({ kept: { ...kept, snapshot_ref: "refs/s/1", github_pull_request_url: "u" } })),
  ).toContain("what was not committed, at refs/s/1; the pull request");
});

it("a failure in the story says its cause in plain words, and what to do", () => {
  const told = event(7, {
    type: "agent_work_order_failed",
    error_category: "auth",
    error_message: "the provider answered 401",
    hint: "Set the key.",
  });
  renderWith(<FailureNote item={{ key: 7, at: told.timestamp, kind: "failure", event: told as never }} />);
  for (const words of [
    "A key or token is missing, or was refused.",
    "the provider answered 401",
    "Set the key.",
  ])
    expect(screen.getByText(words)).toBeTruthy();
});

describe("a retry", () => {
  const retrying = event(3, {
    type: "step_retrying",
    step: "build",
    attempt: 2,
    wait_seconds: 30,
    error_category: "transient",
    error_message: "no answer",
  });
  const item = (over: boolean): RetryItem => ({
    key: 3,
    at: new Date().toISOString(),
    kind: "retry",
    event: retrying as never,
    over,
  });

  it("counts down while it waits", () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2030-01-01T00:00:00Z") });
    const waiting = item(false);
    vi.setSystemTime(new Date("2030-01-01T00:00:12Z"));
    renderWith(<ItemView item={waiting} />);
    expect(screen.getByText("in 18 s")).toBeTruthy();
  });

  it("stops counting when it is over", () => {
    renderWith(<ItemView item={item(true)} />);
    expect(screen.queryByText(/^in \d+ s$/)).toBeNull();
    expect(screen.getByText(/attempt 2/)).toBeTruthy();
  });
});

it("people hear of what waits and what ended, not of what they did themselves", () => {
  expect(wordOf(order({ status: "awaiting_approval" }))).toBe("Needs approval");
  expect(wordOf(failed("budget"))).toBe("Out of budget");
  expect(wordOf(failed("agent"))).toBe("Failed");
  expect(wordOf(order({ pull_request_state: "draft" }))).toBe("Draft pull request");
  expect(wordOf(order({ pull_request_state: "open" }))).toBe("Ready for review");
  expect(wordOf(order())).toBe("Completed");
  for (const status of ["paused", "cancelled", "running", "pending"] as const)
    expect(wordOf(order({ status }))).toBeNull();
});
