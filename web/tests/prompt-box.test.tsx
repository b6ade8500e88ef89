import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it } from "vitest";
import type { CommandProblem, RepositoryCommand } from "@/api/client";
import { PromptBox } from "@/features/order/prompt-box";
import { keepDraft } from "@/lib/draft";
import { order, renderWith } from "./server";

const BASE = "/api/agent-work-orders/wo-00000000";
const KEPT: { commands: RepositoryCommand[]; problems: CommandProblem[] } = {
  commands: [
    {
      name: "release",
      description: "Make a release",
      argument_hint: "<version>",
      path: ".claude/commands/release.md",
    },
    { name: "ask", description: "Shadowed by our own", argument_hint: "", path: ".claude/commands/ask.md" },
  ],
  problems: [{ path: ".claude/commands/bad.md", message: "its head is not YAML", hint: "Correct line 2." }],
};

afterEach(() => {
  cleanup();
  keepDraft("reply.wo-00000000", null);
  localStorage.clear();
});

function box(answers: Record<string, unknown> = { [`GET ${BASE}/commands`]: KEPT }, fields = {}) {
  const shown = renderWith(<PromptBox order={order(fields)} queue={[]} />, {
    [`POST ${BASE}/prompt`]: {},
    [`POST ${BASE}/cancel`]: {},
    [`POST ${BASE}/pause`]: {},
    ...answers,
  });
  return { ...shown, typed: screen.getByLabelText("Message"), user: userEvent.setup() };
}
const names = () => screen.getAllByRole("option").map((option) => option.querySelector("code")?.textContent);
const said = (asked: { method: string; path: string; body: unknown }[]) =>
  asked.filter(({ path }) => path.endsWith("/prompt")).map(({ body }) => body);

it("a slash offers our words and the repository's commands, each name once", async () => {
  const { typed, user } = box();
  await user.type(typed, "/");
  await screen.findByText("Make a release");
  expect(names()).toEqual(["/ask question", "/work task", "/release <version>"]);
});

it("enter completes the name and shows what comes after it; the next one sends it as it stands", async () => {
  const { typed, user, asked } = box();
  await user.type(typed, "/rel");
  await screen.findByText("Make a release");
  await user.keyboard("{Enter}");
  expect(typed).toHaveProperty("value", "/release ");
  expect(screen.getByRole("status").textContent).toContain("/release <version>");
  expect(screen.queryByRole("listbox")).toBeNull();
  await user.type(typed, "1.2{Enter}");
  expect(said(asked)).toMatchObject([{ prompt_text: "/release 1.2", mode: null }]);
});

it("the arrows move through the list, and the box says which one is meant", async () => {
  const { typed, user } = box();
  await user.type(typed, "/");
  await screen.findByText("Make a release");
  await user.keyboard("{ArrowUp}");
  const chosen = screen.getByRole("option", { selected: true });
  expect(chosen.textContent).toContain("/release");
  expect(typed.getAttribute("aria-activedescendant")).toBe(chosen.id);
  expect(typed.getAttribute("aria-controls")).toBe(screen.getByRole("listbox").id);
});

it("a command that cannot be used is told at the foot of the list, with what to do", async () => {
  const { typed, user } = box();
  await user.type(typed, "/");
  const foot = await screen.findByRole("list", { name: "Commands that cannot be used" });
  expect(foot.textContent).toBe(".claude/commands/bad.md: its head is not YAML Correct line 2.");
});

it("escape closes the list and keeps what was typed", async () => {
  const { typed, user } = box();
  await user.type(typed, "/r");
  await screen.findByText("Make a release");
  await user.keyboard("{Escape}");
  expect(screen.queryByRole("listbox")).toBeNull();
  expect(typed).toHaveProperty("value", "/r");
});

it("our own words say how the rest is meant", async () => {
  const { typed, user, asked } = box();
  await user.type(typed, "/ask Why?{Enter}");
  expect(said(asked)).toMatchObject([{ prompt_text: "Why?", mode: "ask" }]);
});

it("what does not fit the order is not offered, and what does is done", async () => {
  const { typed, user, asked } = box({}, { status: "running", allowed_actions: ["pause", "cancel"] });
  await user.type(typed, "/");
  expect(names()).toEqual(["/ask question", "/work task", "/pause", "/cancel"]);
  await user.type(typed, "pa{Enter}");
  expect(asked.map(({ method, path }) => `${method} ${path}`)).toContain(`POST ${BASE}/pause`);
});

describe("a cancel by command", () => {
  const cancels = (asked: { path: string }[]) => asked.filter(({ path }) => path.endsWith("/cancel"));

  it("asks first, with the safe answer under the keys", async () => {
    const { typed, user, asked } = box({}, { status: "running", allowed_actions: ["pause", "cancel"] });
    await user.type(typed, "/ca{Enter}");
    const question = screen.getByRole("alertdialog", { name: "Cancel this order?" });
    expect(document.activeElement?.textContent).toBe("Keep it");
    await user.keyboard("{Enter}");
    expect(cancels(asked)).toEqual([]);
    expect(question.isConnected).toBe(false);
    expect(document.activeElement).toBe(typed);
  });

  it("is done when it was meant, and not when escape is pressed", async () => {
    const { typed, user, asked } = box({}, { status: "running", allowed_actions: ["pause", "cancel"] });
    await user.type(typed, "/ca{Enter}{Escape}");
    expect(cancels(asked)).toEqual([]);
    await user.type(typed, "/ca{Enter}");
    await user.click(screen.getByRole("button", { name: "Cancel the order" }));
    expect(cancels(asked)).toHaveLength(1);
  });
});

it("what was typed is still there after the page was left", async () => {
  const { typed, user, unmount } = box();
  await user.type(typed, "Half a thought");
  unmount();
  expect(box().typed).toHaveProperty("value", "Half a thought");
});
