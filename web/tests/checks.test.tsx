import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import { applyEvents, EMPTY } from "@/events/transcript";
import { ChecksPanel } from "@/features/order/checks-panel";
import { eventsOf } from "./events";
import { order, renderWith } from "./server";

const BASE = "/api/agent-work-orders/wo-00000000";
const record = (check: object, passed: boolean | null) => ({
  round: 1,
  step: "verify",
  attempt: 1,
  commit_sha: "0123456789",
  passed,
  checks: [check],
  red_to_green: [],
  tampering: [],
  summary: "",
  created_at: "2026-01-01T00:00:00Z",
});
const passing = {
  name: "unittest",
  command: ["python3", "-m", "unittest"],
  status: "passed",
  summary: "10 passed",
  exit_code: 0,
  duration_seconds: 2.5,
};
const panel = (check: object, passed: boolean | null = true, transcript = EMPTY, fields = {}) =>
  renderWith(<ChecksPanel order={order(fields)} transcript={transcript} />, {
    [`GET ${BASE}/evidence`]: { evidence: [record(check, passed)] },
  });

afterEach(cleanup);

it("the output of a check that passed can be opened", async () => {
  panel({ ...passing, output: "Ran 10 tests\nOK" });
  const show = await screen.findByRole("button", { name: "Show output of unittest" });
  expect(screen.queryByText(/Ran 10 tests/)).toBeNull();
  await userEvent.setup().click(show);
  expect(screen.getByLabelText("Output of unittest").textContent).toBe("Ran 10 tests\nOK");
});

it("a check whose output was not kept says what was run, how long it took, and how it ended", async () => {
  panel(passing);
  await screen.findByText("10 passed");
  expect(screen.getByText("python3 -m unittest")).toBeTruthy();
  expect(screen.getByText("2.5s")).toBeTruthy();
  expect(screen.queryByRole("button", { name: /output/ })).toBeNull();
});

it("what failed stands there at once, and the rest below it", async () => {
  panel({ ...passing, status: "failed", exit_code: 1, failing: "FAIL: test_adds", output: "all" }, false);
  expect((await screen.findByLabelText("What failed in unittest")).textContent).toBe("FAIL: test_adds");
  expect(screen.getByText(/exit 1/)).toBeTruthy();
  expect(screen.getByRole("button", { name: "Show output of unittest" })).toBeTruthy();
});

it("what is checked again is not called passed", async () => {
  const verifying = eventsOf({ type: "step_started", step: "verify", kind: "verify", attempt: 1 });
  panel(passing, true, applyEvents(EMPTY, verifying), { status: "running" });
  expect(await screen.findByText("Checks are running")).toBeTruthy();
});

it("what a check lacks is named with what helps, and is not called failed", async () => {
  const fault = {
    what: "the Python package freezegun is not installed",
    remedy: "Declare it on the base branch. JOURNEYMAN_SANDBOX_PATHS shows more.",
    who: "maintainer",
    command: "pip install freezegun",
  };
  const lacking = { ...passing, status: undefined, outcome: "environment", faults: [fault], failing: "E" };
  panel(lacking, null);
  const missing = await screen.findByRole("list", { name: "Missing for unittest" });
  expect(missing.textContent).toContain("the Python package freezegun is not installed");
  expect(missing.textContent).toContain("Declare it on the base branch. A maintainer");
  expect(missing.textContent).not.toContain("JOURNEYMAN");
  expect(screen.getByText("not run")).toBeTruthy();
  expect(screen.queryByText("failed")).toBeNull();
  expect(screen.queryByLabelText("What failed in unittest")).toBeNull();
});

it.each([
  ["passed", "passed"],
  ["failed", "failed"],
  ["timed_out", "timed out"],
  ["unavailable", "nothing to run"],
])("the outcome %s is shown in words", async (outcome, word) => {
  panel({ ...passing, status: undefined, outcome });
  expect(await screen.findByText(word)).toBeTruthy();
});

it("signed evidence of an attempt is a file to download", async () => {
  const signed = { ...record(passing, true), statement: { payload: "" } };
  renderWith(<ChecksPanel order={order()} transcript={EMPTY} />, {
    [`GET ${BASE}/evidence`]: { evidence: [signed] },
  });
  const link = await screen.findByRole("link", { name: "Signed evidence" });
  expect(link.getAttribute("href")).toBe(`${BASE}/evidence/1/statement?round=1&step=verify`);
});

it("a check says what was before the change, and names its tests list by list", async () => {
  panel(
    {
      ...passing,
      status: undefined,
      outcome: "failed",
      base: { outcome: "failed", summary: "1 failed" },
      new_failures: ["t.py::new"],
      old_failures: ["t.py::old"],
      flaky: [],
    },
    false,
  );
  expect(await screen.findByText("Before the change: failed, 1 failed")).toBeTruthy();
  expect(screen.getByText("t.py::new")).toBeTruthy();
  expect(screen.queryByText("t.py::old")).toBeNull();
  await userEvent
    .setup()
    .click(screen.getByRole("button", { name: "Failed before the change, too (1) of unittest" }));
  expect(screen.getByText("t.py::old")).toBeTruthy();
  expect(screen.queryByText(/Flaky/)).toBeNull();
});

const shown = (fields: object) =>
  renderWith(<ChecksPanel order={order()} transcript={EMPTY} />, {
    [`GET ${BASE}/evidence`]: { evidence: [{ ...record(passing, true), ...fields }] },
  });

it.each([
  ["failed", "1 test fails without the change and passes with it"],
  ["passed", "The change's tests pass without it, too: they do not show it"],
])("tests that are %s on the old code are said to show that much", async (on_base, words) => {
  shown({ red_to_green: [{ test: "t.py::a", on_base, on_head: "passed" }] });
  expect(await screen.findByText(words)).toBeTruthy();
});

it("what a change touches of its judges stands there with its line", async () => {
  shown({
    tampering: [{ kind: "test_skipped", path: "t.py", lines: [3, 4], detail: "`a` is skipped now." }],
  });
  expect(await screen.findByText("The change touches what judges it")).toBeTruthy();
  expect(screen.getByText("t.py:3")).toBeTruthy();
});

it("the whole output of a check is a link beside its beginning and end", async () => {
  panel({ ...passing, name: "api: go test", output: "ok" });
  await userEvent.setup().click(await screen.findByRole("button", { name: /Show output/ }));
  const link = screen.getByRole("link", { name: /View the whole output/ });
  expect(link.getAttribute("href")).toBe(`${BASE}/evidence/1/output/api%3A%20go%20test?round=1&step=verify`);
});
