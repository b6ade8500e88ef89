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
