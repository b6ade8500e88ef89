import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import type { ShownPullRequest } from "@/api/client";
import { Actions } from "@/features/pull-requests/actions";
import { Commits } from "@/features/pull-requests/commits";
import { keepDraft, useDraft } from "@/lib/draft";
import { refusal, renderWith } from "./server";

const MERGE = "POST /api/local-forge/pull-requests/1/merge";
const PULL: ShownPullRequest = {
  number: 1,
  url: "http://127.0.0.1/local-forge/pull-requests/1",
  title: "Fix the adder",
  body: "",
  draft: false,
  state: "open",
  branch: "journeyman/adder",
  base: "main",
  repository_url: "file:///code/adder",
  agent_work_order_id: "wo-00000000",
  allowed_actions: ["merge"],
  commits: [
    { commit_sha: "0123456789abcdef", subject: "Add, not subtract", committed_at: "2026-01-01T00:00:00Z" },
  ],
};

afterEach(() => {
  cleanup();
  for (const name of ["repository", "branch", "task"]) keepDraft(name, null);
});
const merges = (asked: { path: string }[]) => asked.filter(({ path }) => path.endsWith("/merge")).length;

it("a merge is asked about before it is done", async () => {
  const { asked } = renderWith(<Actions pull={PULL} />, { [MERGE]: { ...PULL, state: "merged" } });
  await userEvent.click(screen.getByRole("button", { name: "Merge into main" }));
  expect(screen.getByRole("dialog", { name: "Merge into main?" }).textContent).toContain("1 commit");
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(merges(asked)).toBe(0);
  await userEvent.click(screen.getByRole("button", { name: "Merge into main" }));
  await userEvent.click(screen.getByRole("button", { name: "Merge" }));
  expect(merges(asked)).toBe(1);
});

function Task() {
  return <output>{useDraft("task", "")[0]}</output>;
}

it("a conflict stays on the page, with how to go on by hand and with a new order", async () => {
  const conflict = refusal(
    409,
    "journeyman/adder does not merge into main by itself: both changed adder.py",
    {
      type: "urn:journeyman:problem:merge-conflict",
    },
  );
  renderWith(
    <>
      <Actions pull={PULL} />
      <Task />
    </>,
    { [MERGE]: conflict },
  );
  await userEvent.click(screen.getByRole("button", { name: "Merge into main" }));
  await userEvent.click(screen.getByRole("button", { name: "Merge" }));
  const shown = await screen.findByRole("alert", { name: "Merge conflict" });
  expect(shown.textContent).toContain("both changed adder.py");
  expect(shown.textContent).toContain("git merge main");
  await userEvent.click(screen.getByRole("button", { name: "Start a new order on main" }));
  await waitFor(() => expect(screen.getByRole("status").textContent).toContain("journeyman/adder"));
});

it("what comes before a button does not depend on the state of the pull request", () => {
  for (const pull of [{ ...PULL, draft: true }, PULL, { ...PULL, state: "merged" as const }]) {
    const { unmount } = renderWith(<Actions pull={pull} />);
    const first = screen.getByRole("link", { name: "View order" });
    expect(first.previousElementSibling).toBeNull();
    unmount();
  }
});

it("the commits are listed with what they say", () => {
  renderWith(<Commits commits={PULL.commits ?? []} />);
  expect(screen.getByRole("heading", { name: "1 commit" })).toBeTruthy();
  expect(screen.getByText("Add, not subtract")).toBeTruthy();
  expect(screen.getByText("01234567")).toBeTruthy();
});
