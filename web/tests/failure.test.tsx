import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Order } from "@/api/client";
import type { RetryItem } from "@/events/items";
import { wordOf } from "@/features/inbox/use-notices";
import { FailureNote } from "@/features/order/failure";
import { ItemView } from "@/features/order/item-view";
import { keptOf, Remedies } from "@/features/order/remedies";
import { adviceFor } from "@/lib/advice";
import { event } from "./events";
import { order, renderWith } from "./server";

const BASE = "/api/agent-work-orders/wo-00000000";
const failed = (error_category: string, more: Partial<Order> = {}) =>
  order({ status: "failed", allowed_actions: ["retry"], error_category, error_message: "it broke", ...more });

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
    ["environment", { model: false, budget: false, first: "Retry" }],
    ["agent", { model: true, budget: false, first: "Retry" }],
    ["verification", { model: true, budget: false, first: "Retry" }],
    ["conflict", { model: false, budget: false, first: "Retry" }],
    ["invalid_input", { model: false, budget: false, first: null }],
    ["internal", { model: false, budget: false, first: "Retry" }],
  ])("against %s", (category, expected) => {
    expect(helps(category)).toEqual(expected);
  });

  it("a budget that was raised lets a paused order go on", async () => {
    const paused = failed("budget", { status: "paused", allowed_actions: ["resume"], budget_usd: 2 });
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
  ).toContain("uncommitted work at refs/s/1, the pull request");
});

it("an order whose environment lacks something says the remedy and leads to the repository", async () => {
  const lacking = failed("environment", {
    status: "paused",
    error_hint: "Declare it. This command brings it: pip install freezegun.",
  });
  const known = { repository_id: "rp-00000000", repository_url: lacking.repository_url };
  renderWith(<Remedies order={lacking} />, {
    "GET /api/repositories": { repositories: [known], total_count: 1, has_more: false },
  });
  expect(screen.getByText(/This command brings it: pip install freezegun/)).toBeTruthy();
  await screen.findByRole("link", { name: "Open environment" });
});

it("a failure in the transcript says its cause in plain words, and what to do", () => {
  const failure = event(7, {
    type: "agent_work_order_failed",
    error_category: "auth",
    error_message: "the provider answered 401",
    hint: "Set the key.",
  });
  renderWith(
    <FailureNote item={{ key: 7, at: failure.timestamp, kind: "failure", event: failure as never }} />,
  );
  for (const words of [
    "A key or token is missing or was refused.",
    "the provider answered 401",
    "Set the key.",
  ])
    expect(screen.getByText(words)).toBeTruthy();
});

it.each([
  ["verification", "Look at the diff. `jm retry` checks and repairs again."],
  ["auth", "Set JOURNEYMAN_GITHUB_TOKEN."],
  ["transient", "Give --model another name."],
])("a hint for a terminal is none for a browser: %s", (error_category, hint) => {
  const failure = event(7, { type: "agent_work_order_failed", error_category, error_message: "no", hint });
  renderWith(
    <FailureNote item={{ key: 7, at: failure.timestamp, kind: "failure", event: failure as never }} />,
  );
  expect(screen.queryByText(hint)).toBeNull();
  expect(document.body.textContent).not.toMatch(/jm |JOURNEYMAN|`|--model/);
  expect(screen.getByText(adviceFor(error_category, hint))).toBeTruthy();
});

it("a budget that cannot be kept for want of a price is not raised: another model helps", async () => {
  const models = [
    { name: "scripted/fix", provider: "scripted", ready: true, needs: "", input_usd_per_million: null },
  ];
  renderWith(<Remedies order={failed("budget", { status: "paused", budget_usd: 2 })} />, {
    "GET /api/models": { models, default_model: null },
  });
  await screen.findByText(/price of scripted\/fix is unknown/);
  expect(screen.queryByLabelText("New budget in dollars")).toBeNull();
  expect(screen.getByRole("button", { name: /Change model/ })).toBeTruthy();
});

it("a conflict is handed to the agent by a button", async () => {
  const { asked } = renderWith(<Remedies order={failed("conflict")} />, { [`POST ${BASE}/prompt`]: {} });
  await userEvent.setup().click(screen.getByRole("button", { name: "Ask the agent to resolve it" }));
  await waitFor(() => expect(asked.map(({ path }) => path)).toContain(`${BASE}/prompt`));
});

describe("a retry", () => {
  const item = (fields: Partial<RetryItem> = {}): RetryItem => ({
    key: 3,
    at: new Date().toISOString(),
    kind: "retry",
    step: "build",
    state: "waiting",
    until: Date.now() + 30_000,
    reasons: ["no answer"],
    whole: true,
    ...fields,
  });

  it("counts down while it waits", () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2030-01-01T00:00:00Z") });
    const waiting = item();
    vi.setSystemTime(new Date("2030-01-01T00:00:12Z"));
    renderWith(<ItemView id="wo-00000000" item={waiting} />);
    expect(screen.getByText("in 18 s")).toBeTruthy();
  });

  it("stops counting when it is over, and says how often it was tried", () => {
    renderWith(<ItemView id="wo-00000000" item={item({ state: "over", reasons: ["one", "two"] })} />);
    expect(screen.queryByText(/^in \d+ s$/)).toBeNull();
    expect(screen.queryByRole("button", { name: "Retry now" })).toBeNull();
    expect(screen.getByText(/Retried 2 times/)).toBeTruthy();
  });

  it("need not be waited for", async () => {
    const { asked } = renderWith(<ItemView id="wo-00000000" item={item()} />, {
      [`POST ${BASE}/pause`]: {},
      [`POST ${BASE}/resume`]: {},
    });
    await userEvent.setup().click(screen.getByRole("button", { name: "Retry now" }));
    await waitFor(() => expect(asked.map(({ path }) => path)).toEqual([`${BASE}/pause`, `${BASE}/resume`]));
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
