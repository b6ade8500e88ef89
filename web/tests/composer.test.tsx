import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it } from "vitest";
import { Problem } from "@/api/client";
import { Composer } from "@/features/home/composer";
import { faultsOf, refusedFields } from "@/features/home/form";
import { KeyBanner } from "@/features/home/key-banner";
import { keepDraft } from "@/lib/draft";
import { refusal, renderWith } from "./server";

const model = (name: string, more = {}) => ({
  name,
  provider: name.split("/")[0],
  ready: true,
  needs: "",
  context_window: null,
  input_usd_per_million: 1,
  output_usd_per_million: 1,
  sample_only: false,
  ...more,
});
const DEMO = model("scripted/demo", { sample_only: true });
const CLAUDE = model("anthropic/claude", { ready: false, needs: "Set ANTHROPIC_API_KEY." });
const GPT = model("openai/gpt");
const models = (...some: unknown[]) => ({
  "GET /api/models": { models: some, troubles: [], default_model: null },
});
const ORDERS = "POST /api/agent-work-orders";

afterEach(() => {
  cleanup();
  localStorage.clear();
  for (const name of ["repository", "task", "issue", "branch"]) keepDraft(name, null);
});

const field = (label: string) => screen.getByLabelText(label) as HTMLInputElement;
const write = (label: string, text: string) => fireEvent.change(field(label), { target: { value: text } });
const start = () => userEvent.click(screen.getByRole("button", { name: "Start" }));
const alerts = () => screen.queryAllByRole("alert").map((one) => one.textContent);
const sent = (asked: { method: string; path: string; body: unknown }[]) =>
  asked.filter(({ method, path }) => `${method} ${path}` === ORDERS).map(({ body }) => body);

async function compose(answers: Record<string, unknown>) {
  const shown = renderWith(<Composer />, { ...models(GPT), ...answers });
  await screen.findByText("openai/gpt");
  write("Repository", "/code/adder");
  write("Task", "Fix it");
  return shown;
}

it("a budget that is no amount is told at its field and sends nothing", async () => {
  const { asked } = await compose({ [ORDERS]: {} });
  write("Budget $", "1.2.3");
  await start();
  expect(field("Budget $").getAttribute("aria-invalid")).toBe("true");
  expect(alerts()).toEqual(["Enter an amount in dollars, such as 2.50."]);
  expect(sent(asked)).toEqual([]);
  write("Budget $", "1.25");
  await start();
  await waitFor(() => expect(sent(asked)).toMatchObject([{ budget_usd: 1.25 }]));
});

it("an issue can be handed over without a task", async () => {
  const { asked } = await compose({ [ORDERS]: {} });
  write("Task", "");
  write("Issue #", "twelve");
  expect(alerts()).toEqual(["Enter an issue number, such as 42."]);
  write("Issue #", "12");
  await start();
  await waitFor(() =>
    expect(sent(asked)).toMatchObject([{ github_issue_number: "12", initial_prompt: null }]),
  );
});

it("nothing is blamed before it was tried; then every empty field says what it needs", async () => {
  renderWith(<Composer />, models(GPT));
  await screen.findByText("openai/gpt");
  expect(alerts()).toEqual([]);
  await start();
  expect(field("Task").getAttribute("aria-invalid")).toBe("true");
  expect(field("Repository").getAttribute("aria-invalid")).toBe("true");
});

it("what the server refuses is told at the field it is about, and nothing that was typed is lost", async () => {
  const refused = refusal(422, "file:///code/adder has no branch 'nope' to start from", {
    hint: "Correct it.",
  });
  await compose({ [ORDERS]: refused });
  write("Branch", "nope");
  await start();
  const fault = await screen.findByText(/no branch 'nope'/);
  expect(fault.textContent).toContain("Correct it.");
  expect(field("Branch").getAttribute("aria-describedby")).toBe(fault.id);
  expect([field("Task").value, field("Branch").value]).toEqual(["Fix it", "nope"]);
  write("Branch", "x");
  expect(alerts()).toEqual([]);
});

it("a refusal of the order as a whole stands below it with what to do", async () => {
  await compose({ [ORDERS]: refusal(503, "no sandbox can be opened", { hint: "Run the doctor." }) });
  await start();
  await screen.findByText("no sandbox can be opened");
  expect(screen.getByText("Run the doctor.")).toBeTruthy();
  expect(field("Task").value).toBe("Fix it");
});

it("a task that was begun is there again until it is sent", async () => {
  const { unmount } = await compose({});
  unmount();
  const made = { agent_work_order: { agent_work_order_id: "wo-1" } };
  renderWith(<Composer />, { ...models(GPT), [ORDERS]: made });
  await screen.findByText("openai/gpt");
  expect([field("Repository").value, field("Task").value]).toEqual(["/code/adder", "Fix it"]);
  await start();
  await waitFor(() => expect(field("Task").value).toBe(""));
});

describe("without a key", () => {
  it("the recorded demo is not chosen for a repository of one's own", async () => {
    const { asked } = renderWith(<Composer />, models(CLAUDE, DEMO));
    await screen.findByText("none ready");
    write("Repository", "/code/adder");
    write("Task", "Fix it");
    await start();
    expect(alerts()).toEqual(["No model is available. Settings shows how to add keys and tokens."]);
    expect(sent(asked)).toEqual([]);
  });

  it("the demo is chosen for the sample", async () => {
    const sample = { repository_url: "file:///data/samples/pager", model: "scripted/demo" };
    localStorage.setItem("journeyman.sample", JSON.stringify(sample));
    keepDraft("repository", sample.repository_url);
    renderWith(<Composer />, models(CLAUDE, DEMO));
    await screen.findByText("scripted/demo");
  });

  it("a banner says so in plain words and leads to where keys are explained", async () => {
    renderWith(<KeyBanner />, models(CLAUDE, DEMO));
    expect((await screen.findByRole("region", { name: "Model keys" })).textContent).not.toMatch(/_KEY/);
    expect(screen.getByRole("link", { name: "How to add a key" }).getAttribute("href")).toBe(
      "/settings#keys",
    );
  });

  it("there is no banner where a model is ready", async () => {
    const { asked } = renderWith(<KeyBanner />, models(CLAUDE, GPT, DEMO));
    await waitFor(() => expect(asked).toHaveLength(1));
    expect(screen.queryByRole("region", { name: "Model keys" })).toBeNull();
  });
});

describe("a refusal is about", () => {
  const fields = { repository: "/a", task: "x", issue: "12", branch: "main", budget: "" };
  const about = (problem: Problem) => Object.keys(refusedFields(problem, fields));
  it.each([
    [
      "the field that the server names",
      422,
      "",
      "",
      ["budget"],
      [{ field: "budget_usd", message: "below 0" }],
    ],
    [
      "the repository, where it is one",
      422,
      "there is no directory /a",
      "invalid-repository",
      ["repository"],
      [],
    ],
    [
      "the repository, where one may not push",
      403,
      "can be read but not pushed to",
      "not-allowed",
      ["repository"],
      [],
    ],
    ["the issue that it quotes", 404, "there is no issue 12", "not-found", ["issue"], []],
    ["the model, where a key is missing", 401, "there is no key", "unauthenticated", ["model"], []],
    ["nothing in particular", 503, "the queue is full", "queue-full", [], []],
  ])("%s", (_name, status, detail, kind, expected, named) => {
    expect(about(new Problem(status, detail, "", "", kind, named))).toEqual(expected);
  });
});

it("an order with a repository, a task and a model is complete", () => {
  expect(faultsOf({ repository: "/a", task: "x", issue: "", branch: "", budget: " " }, "m")).toEqual({});
});
