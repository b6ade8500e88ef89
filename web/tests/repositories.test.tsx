import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import type { EnvironmentReport, Repository, RepositoryEnvironment } from "@/api/client";
import { applyEvents, EMPTY } from "@/events/transcript";
import { RepositoryState } from "@/features/home/repository-state";
import { NetworkNotice } from "@/features/order/network-notice";
import { goToLine } from "@/features/repositories/definition-editor";
import { RepositoriesPage } from "@/features/repositories/repositories-page";
import { OneRepository } from "@/features/repositories/repository-page";
import { stateLine } from "@/features/repositories/state";
import { keepDraft } from "@/lib/draft";
import { refusal, renderWith } from "./server";

afterEach(() => {
  cleanup();
  sessionStorage.clear();
  keepDraft("environment.rp-00000000", null);
});

const NOW = Date.parse("2026-01-01T03:00:00Z");

const repository = (fields: Partial<Repository> = {}): Repository => ({
  repository_id: "rp-00000000",
  repository_url: "https://github.com/acme/thing",
  default_branch: "main",
  rights: { push: true, pull_request: true, workflows: null },
  environment_state: "unknown",
  has_definition: false,
  score: null,
  attention: null,
  checked_at: null,
  check_order_id: null,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  ...fields,
});

const report = (fields: Partial<EnvironmentReport> = {}): EnvironmentReport => ({
  agent_work_order_id: "wo-00000000",
  commit_sha: "a".repeat(40),
  checked_at: "2026-01-01T01:00:00Z",
  repository_url: "https://github.com/acme/thing",
  can_push: true,
  source: "detected",
  ecosystems: ["Python (uv)"],
  notes: [],
  install: ["uv sync"],
  tools: [],
  clone: { duration_seconds: 1, size_bytes: 2000, files: 3 },
  mistakes: [],
  layer: null,
  setup_problem: null,
  services: [],
  checks: [],
  denied: [],
  is_trial: false,
  proposed_definition: "checks:\n  test: pytest\n",
  score: 70,
  state: "needs_attention",
  findings: [],
  ...fields,
});

const answer = (
  found: EnvironmentReport | null,
  fields: Partial<Repository> = {},
  more: Partial<RepositoryEnvironment> = {},
): RepositoryEnvironment => ({
  repository: repository(fields),
  definition: null,
  environment: found && {
    ecosystems: found.ecosystems,
    tools: found.tools,
    install: found.install,
    services: found.services,
    notes: found.notes,
  },
  source: found?.source ?? null,
  layer: found?.layer ?? null,
  checks: found ? found.checks : [],
  report: found,
  ...more,
});

const PATH = "/api/repositories/rp-00000000/environment";
const LISTED = (repositories: Repository[]) => ({
  "GET /api/repositories": { repositories, total_count: repositories.length, has_more: false },
});
const finding = {
  command: null,
  failed_command: null,
  who: null,
  action: null,
  host: null,
  blocks: true,
  cost: 5,
};

it("says the state of an environment in a line", () => {
  const checked_at = "2026-01-01T01:00:00Z";
  expect(stateLine(null, NOW)).toBe("Not checked yet");
  expect(stateLine(repository(), NOW)).toBe("Not checked yet");
  expect(stateLine(repository({ environment_state: "ready", checked_at }), NOW)).toBe(
    "Ready · checked 2h ago",
  );
  const attention = "No tests were found.";
  expect(stateLine(repository({ environment_state: "needs_attention", attention }), NOW)).toBe(
    "Needs attention: No tests were found.",
  );
});

it("an empty list says how a repository gets there", async () => {
  renderWith(<RepositoriesPage />, LISTED([]));
  await screen.findByText("No repositories yet");
});

it("repositories are listed with their state", async () => {
  renderWith(
    <RepositoriesPage />,
    LISTED([repository({ environment_state: "needs_attention", attention: "pytest fails", score: 80 })]),
  );
  const row = await screen.findByRole("link");
  expect(row.textContent).toContain("acme/thing");
  expect(row.textContent).toContain("pytest fails");
  expect(row.textContent?.match(/Needs attention/g)).toHaveLength(1);
  expect(row.textContent).toContain("80 of 100");
});

it("a repository that cannot be added says why", async () => {
  renderWith(<RepositoriesPage />, {
    ...LISTED([]),
    "POST /api/repositories": refusal(403, "it cannot be read", { hint: "Grant access." }),
  });
  await userEvent.type(await screen.findByLabelText("Repository"), "https://github.com/a/b");
  await userEvent.click(screen.getByRole("button", { name: "Add" }));
  await screen.findByText("it cannot be read. Grant access.");
});

it("a report shows its checks, findings and what was found", async () => {
  const found = report({
    checks: [
      {
        name: "pytest",
        kind: "test",
        command: "pytest -q",
        workdir: ".",
        outcome: "environment",
        summary: "no module named freezegun",
        faults: [],
        duration_seconds: 1.5,
      },
    ],
    findings: [{ ...finding, what: "pytest could not be run here", remedy: "Install freezegun." }],
  });
  renderWith(<OneRepository id="rp-00000000" />, {
    [`GET ${PATH}`]: answer(found, { environment_state: "needs_attention", score: 70 }),
  });
  await screen.findByText("Something is missing");
  expect(screen.getByText("Install freezegun.")).toBeTruthy();
  expect(screen.getByText("Python (uv)")).toBeTruthy();
  expect(screen.getByText("Detected from the repository's files")).toBeTruthy();
  expect((screen.getByRole("textbox", { name: "Definition" }) as HTMLTextAreaElement).value).toContain(
    "test: pytest",
  );
});

it("a finding says what brings what is missing, who can do it, and what showed it", async () => {
  const lacking = {
    ...finding,
    what: "pytest could not be run here: freezegun is not installed",
    remedy: "Declare it.",
    command: "pip install freezegun",
    failed_command: "python -m pytest",
    who: "maintainer" as const,
  };
  renderWith(<OneRepository id="rp-00000000" />, {
    [`GET ${PATH}`]: answer(report({ findings: [lacking] })),
  });
  await screen.findByText("pip install freezegun");
  expect(screen.getByText("Declare it. A maintainer of the repository can do this.")).toBeTruthy();
  expect(screen.getByText("python -m pytest")).toBeTruthy();
});

it("mistakes of the repository's own file are shown by line until the text is edited", async () => {
  const mistakes = [{ line: 2, column: 1, message: "unknown field 'cheks'", hint: "Did you mean 'checks'?" }];
  const found = report({ mistakes, proposed_definition: "install: []\ncheks: {}\n" });
  renderWith(<OneRepository id="rp-00000000" />, { [`GET ${PATH}`]: answer(found) });
  await screen.findByRole("button", { name: "Line 2: unknown field 'cheks'" });
  await userEvent.type(screen.getByRole("textbox", { name: "Definition" }), "#");
  expect(screen.queryByRole("button", { name: /Line 2/ })).toBeNull();
});

it("a definition that was only tried is not called ready", async () => {
  const found = report({ is_trial: true, state: "ready", source: "definition" });
  renderWith(<OneRepository id="rp-00000000" />, {
    [`GET ${PATH}`]: answer(found, { checked_at: "2026-01-01T01:00:00Z" }),
  });
  await screen.findByText(/The definition that was tried works/);
  expect(screen.queryByText("Ready")).toBeNull();
  expect(screen.getByText("A proposal, not in force yet.")).toBeTruthy();
});

it("a host that was denied is allowed by the finding's button", async () => {
  const allowed = { agent_work_order_id: "wo-00000000", denied: [], allowed: [] };
  const denied = { ...finding, what: "It wanted files.example", remedy: "Allow it.", host: "files.example" };
  const { asked } = renderWith(<OneRepository id="rp-00000000" />, {
    [`GET ${PATH}`]: answer(report({ findings: [{ ...denied, action: "allow_host" }] }), {
      environment_state: "ready",
    }),
    "POST /api/agent-work-orders/wo-00000000/network/allow": allowed,
  });
  await userEvent.click(await screen.findByRole("button", { name: "Allow" }));
  await screen.findByRole("button", { name: "Allowed" });
  const sent = asked.find(({ method }) => method === "POST");
  expect(sent?.body).toEqual({ host: "files.example", scope: "repository" });
});

it("mistakes in a definition are shown by line, and a click selects the line", async () => {
  const errors = [{ line: 2, column: 1, message: "unknown field 'chekcs'", hint: "Did you mean 'checks'?" }];
  renderWith(<OneRepository id="rp-00000000" />, {
    [`GET ${PATH}`]: answer(report({ proposed_definition: "install: []\nchekcs: {}\n" })),
    [`PUT ${PATH}`]: refusal(422, "server, line 2", { errors }),
  });
  await userEvent.click(await screen.findByRole("button", { name: "Store on server" }));
  await userEvent.click(await screen.findByRole("button", { name: "Line 2: unknown field 'chekcs'" }));
  const area = screen.getByRole("textbox", { name: "Definition" }) as HTMLTextAreaElement;
  expect(area.value.slice(area.selectionStart, area.selectionEnd)).toBe("chekcs: {}");
  expect(area.getAttribute("aria-invalid")).toBe("true");
});

it("text that was not stored is there after a reload, and can be discarded", async () => {
  const answers = { [`GET ${PATH}`]: answer(report()) };
  const { unmount } = renderWith(<OneRepository id="rp-00000000" />, answers);
  await userEvent.type(await screen.findByRole("textbox", { name: "Definition" }), "# mine");
  unmount();
  renderWith(<OneRepository id="rp-00000000" />, answers);
  const area = (await screen.findByRole("textbox", { name: "Definition" })) as HTMLTextAreaElement;
  expect(area.value).toContain("# mine");
  await userEvent.click(screen.getByRole("button", { name: "Discard changes" }));
  expect(area.value).not.toContain("# mine");
});

it("a definition is tried as it stands, and proposed by an order", async () => {
  const { asked } = renderWith(<OneRepository id="rp-00000000" />, {
    [`GET ${PATH}`]: answer(report()),
    [`POST ${PATH}/check`]: { repository: repository(), agent_work_order_id: "wo-11111111" },
  });
  await userEvent.click(await screen.findByRole("button", { name: "Try it" }));
  await userEvent.click(screen.getByRole("button", { name: "Open as pull request" }));
  await waitFor(() => expect(asked.filter(({ method }) => method === "POST")).toHaveLength(2));
  const [tried, proposed] = asked.filter(({ method }) => method === "POST");
  expect(tried?.body).toEqual({ ask_agent: false, definition: "checks:\n  test: pytest\n" });
  expect(proposed?.body).toMatchObject({
    workflow_type: "environment_file",
    initial_prompt: "checks:\n  test: pytest\n",
  });
});

it("nothing is begun while a check runs", async () => {
  renderWith(<OneRepository id="rp-00000000" />, {
    [`GET ${PATH}`]: answer(report(), { environment_state: "checking", check_order_id: "wo-11111111" }),
  });
  await screen.findByText("Check in progress");
  for (const name of ["Check again", "Try it", "Store on server", "Open as pull request"])
    expect(screen.getAllByRole("button", { name })[0]).toHaveProperty("disabled", true);
});

it("the composer says the state of the chosen repository and leads to it", async () => {
  renderWith(
    <RepositoryState url="https://github.com/acme/thing" connected={false} />,
    LISTED([repository({ environment_state: "needs_attention", attention: "pytest fails" })]),
  );
  const link = await screen.findByRole("link");
  expect(link.textContent).toBe("Needs attention: pytest fails");
});

it("a repository that the server does not know is not checked yet", async () => {
  renderWith(<RepositoryState url="https://github.com/acme/new" connected />, LISTED([]));
  await screen.findByText(/Not checked yet/);
  expect(screen.queryByRole("link")).toBeNull();
});

const denied = (host: string, more = {}) => ({
  host,
  port: 443,
  phase: "agent",
  step: "build",
  command: "curl it",
  reason: "it is not on the list",
  may_be_allowed: true,
  denied_at: "2026-01-01T00:00:00Z",
  allowed: null,
  ...more,
});
const NETWORK = "/api/agent-work-orders/wo-00000000/network";

it("a denied host can be allowed for the order, a private one not, and an allowed one is gone", async () => {
  const allowed = { agent_work_order_id: "wo-00000000", allowed: [] };
  const { asked } = renderWith(<NetworkNotice id="wo-00000000" />, {
    [`GET ${NETWORK}`]: {
      ...allowed,
      denied: [
        denied("files.example"),
        denied("10.0.0.1", { may_be_allowed: false, reason: "it is private" }),
        denied("known.example", { allowed: "repository" }),
      ],
    },
    [`POST ${NETWORK}/allow`]: { ...allowed, denied: [denied("files.example", { allowed: "order" })] },
  });
  await screen.findByText("files.example");
  expect(screen.getByText("it is private")).toBeTruthy();
  expect(screen.queryByText("known.example")).toBeNull();
  expect(screen.getAllByRole("button")).toHaveLength(2);
  await userEvent.click(screen.getByRole("button", { name: "Allow for this order" }));
  await waitFor(() => expect(screen.queryByText("files.example")).toBeNull());
  expect(asked.find(({ method }) => method === "POST")?.body).toEqual({
    host: "files.example",
    scope: "order",
  });
});

it("the timeline says what was installed, denied and allowed", () => {
  const at = { agent_work_order_id: "wo-00000000", timestamp: "2026-01-01T00:00:00Z" };
  const { items } = applyEvents(EMPTY, [
    {
      ...at,
      sequence: 1,
      type: "environment_setup_started",
      layer: "x",
      source: "detected",
      ecosystems: ["Python (uv)"],
      commands: ["uv sync"],
    },
    {
      ...at,
      sequence: 2,
      type: "environment_ready",
      layer: "x",
      reused: false,
      duration_seconds: 2,
      size_bytes: 1000,
      files: 3,
    },
    {
      ...at,
      sequence: 3,
      type: "network_denied",
      host: "files.example",
      port: 443,
      phase: "setup",
      step: null,
      command: "uv sync",
      reason: "x",
      may_be_allowed: true,
    },
    { ...at, sequence: 4, type: "network_allowed", host: "files.example", scope: "order" },
  ]);
  expect(items.map((item) => (item.kind === "system" ? item.text : item.kind))).toEqual([
    "Installing Python (uv)",
    "Environment installed",
    "Denied access to files.example",
    "Allowed access to files.example",
  ]);
});

it("a line beyond the text selects nothing and does not fail", () => {
  const area = document.createElement("textarea");
  area.value = "one\ntwo";
  goToLine(area, 9);
  expect(area.selectionStart).toBeGreaterThanOrEqual(0);
  goToLine(null, 1);
});

it("a flaky test is listed, and a person lets it count", async () => {
  const flaky = "/api/repositories/rp-00000000/flaky-tests";
  const test = { test_digest: "d1", test_id: "t.py::a", times_seen: 3, is_trusted: false, last_seen_at: "" };
  const { asked } = renderWith(<OneRepository id="rp-00000000" />, {
    [`GET ${PATH}`]: answer(null),
    [`GET ${flaky}`]: { repository_id: "rp-00000000", flaky_tests: [test] },
    [`PUT ${flaky}/d1`]: { ...test, is_trusted: true },
  });
  expect(await screen.findByText("seen 3 times")).toBeTruthy();
  await userEvent.setup().click(screen.getByRole("button", { name: /Let it count.*t\.py::a/ }));
  await waitFor(() =>
    expect(asked).toContainEqual({ method: "PUT", path: `${flaky}/d1`, body: { is_trusted: true } }),
  );
});
