import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it } from "vitest";
import type { OneOrder, Order } from "@/api/client";
import { statOf } from "@/components/diff/stat";
import { StatusPill } from "@/components/status-pill";
import type { Item, ToolItem } from "@/events/items";
import { applyEvents, EMPTY } from "@/events/transcript";
import ChangesPanel from "@/features/order/changes-panel";
import { Controls } from "@/features/order/controls";
import { Header } from "@/features/order/header";
import { ItemView } from "@/features/order/item-view";
import { Now } from "@/features/order/now";
import { PanelBar } from "@/features/order/panel-bar";
import { aboutOf, kindOf, summaryOf } from "@/features/order/tools";
import { eventsOf } from "./events";
import { order, renderWith } from "./server";

const BASE = "/api/agent-work-orders/wo-00000000";
const PATCH = `diff --git a/adder.py b/adder.py
index 1111111..2222222 100644
--- a/adder.py
+++ b/adder.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
diff --git a/.journeyman/wo-00000001/plan.md b/.journeyman/wo-00000001/plan.md
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/.journeyman/wo-00000001/plan.md
@@ -0,0 +1,2 @@
+# Plan
+- one
`;
const FINISHED: Partial<Order> = {
  status: "completed",
  verification: "passed",
  git_commit_count: 2,
  github_pull_request_url: "http://127.0.0.1:8700/local-forge/pull-requests/7",
  pull_request_state: "draft",
  allowed_actions: ["mark_ready"],
};
const answerOf = (fields: Partial<Order>) => ({ agent_work_order: order(fields) }) as OneOrder;

afterEach(cleanup);

it("an order that changed nothing yet says so, though its diff has no body at all", async () => {
  const nothing = new Response(null, { headers: { "Content-Length": "0" } });
  renderWith(<ChangesPanel order={order()} transcript={EMPTY} />, { [`GET ${BASE}/diff`]: nothing });
  await screen.findByText("No changes yet");
  expect(screen.queryByText(/undefined/)).toBeNull();
});

it("the count of changes is without Journeyman's own records", () => {
  expect(statOf(PATCH)).toEqual({ files: 1, added: 1, removed: 1 });
});

it("the environment file is part of a change", () => {
  const path = ".journeyman/environment.yaml";
  const patch = `diff --git a/${path} b/${path}\n@@ -0,0 +1 @@\n+install: []\n`;
  expect(statOf(patch)).toEqual({ files: 1, added: 1, removed: 0 });
});

describe("the end of an order", () => {
  const shown = (fields: Partial<Order> = {}, transcript = EMPTY) => {
    const opened: string[] = [];
    const rendered = renderWith(
      <Now
        order={order({ ...FINISHED, ...fields })}
        transcript={transcript}
        onOpen={(panel) => opened.push(panel)}
      />,
      {
        [`GET ${BASE}/diff`]: new Response(PATCH),
        [`GET ${BASE}/evidence`]: { evidence: [{ summary: "unittest: 10 passed", checks: [] }] },
        [`POST ${BASE}/pull-request/ready`]: {},
        "POST /api/local-forge/pull-requests/7/merge": { base: "main" },
      },
    );
    return { ...rendered, opened, user: userEvent.setup() };
  };

  it("is a card with files, checks, pull request and branch, each of which leads on", async () => {
    const { opened, user } = shown();
    const card = within(screen.getByRole("region", { name: "Result" }));
    await card.findByText("+1");
    expect(card.getByText("journeyman/adder")).toBeTruthy();
    for (const name of [/1 file changed/, /Checks passed unittest: 10 passed/, /Pull request Draft/])
      await user.click(await card.findByRole("button", { name }));
    expect(opened).toEqual(["changes", "checks", "pull-request"]);
  });

  it("takes the pull request out of draft", async () => {
    const { asked, user } = shown();
    await user.click(screen.getByRole("button", { name: "Mark ready for review" }));
    await waitFor(() => expect(asked.map(({ path }) => path)).toContain(`${BASE}/pull-request/ready`));
  });

  it("merges only when asked twice", async () => {
    const { asked, user } = shown({ pull_request_state: "open", allowed_actions: ["merge"] });
    const merged = () => asked.filter(({ path }) => path.endsWith("/merge")).length;
    await user.click(screen.getByRole("button", { name: "Merge" }));
    expect(document.activeElement?.textContent).toBe("Back");
    await user.keyboard("{Enter}");
    expect(merged()).toBe(0);
    await user.click(screen.getByRole("button", { name: "Merge" }));
    await user.click(within(screen.getByRole("alertdialog")).getByRole("button", { name: "Merge" }));
    await waitFor(() => expect(merged()).toBe(1));
  });

  it("does not call checked what changed after its checks", () => {
    shown({ verification: "outdated" });
    expect(screen.getByText("Changed since it was checked")).toBeTruthy();
  });

  it("has no card after a question", () => {
    const accepted = { type: "prompt_accepted" as const, number: 1, mode: "ask" as const, text: "Why?" };
    shown({}, applyEvents(EMPTY, eventsOf(accepted, { type: "prompt_started", number: 1, round: 2 })));
    expect(screen.queryByRole("region", { name: "Result" })).toBeNull();
  });
});

describe("the tabs", () => {
  const verifying = applyEvents(
    EMPTY,
    eventsOf({ type: "step_started", step: "verify", kind: "verify", attempt: 1 }),
  );
  const bar = (fields: Partial<Order>, transcript = EMPTY) =>
    renderWith(
      <PanelBar
        answer={answerOf({ ...FINISHED, ...fields })}
        transcript={transcript}
        current="plan"
        onOpen={() => {}}
      />,
      { [`GET ${BASE}/diff`]: new Response(PATCH) },
    );

  it("say how many files changed and how the checks ended", async () => {
    bar({});
    await screen.findByRole("button", { name: "Changes 1 file" });
    expect(screen.getByRole("button", { name: "Checks passed" })).toBeTruthy();
  });

  it("do not call passed what is being checked again", () => {
    bar({ status: "running" }, verifying);
    expect(screen.getByRole("button", { name: "Checks running" })).toBeTruthy();
  });
});

it("the head says what a running order is at, which provider's model it uses, and how long it worked", async () => {
  const transcript = applyEvents(
    EMPTY,
    eventsOf(
      { type: "agent_work_order_started", round: 1 },
      { type: "agent_work_order_paused" },
      { type: "agent_work_order_resumed" },
    ),
  );
  renderWith(
    <Header
      order={order({ status: "paused", execution_started_at: "2026-01-01T00:00:00Z" })}
      transcript={transcript}
    />,
    { "GET /api/models": { models: [{ name: "scripted/fix", provider: "scripted" }], default_model: null } },
  );
  expect(screen.getByText("1.0s")).toBeTruthy();
  await screen.findByRole("button", { name: "Model scripted/fix" });
  cleanup();
  renderWith(<StatusPill status="running" phase="testing" />);
  expect(screen.getByText("Running · testing")).toBeTruthy();
});

it.each([
  [{ status: "completed", verification: "outdated" }, "Changed since it was checked"],
  [{ status: "completed", verification: "passed" }, "Checks passed"],
  [{ status: "completed", verification: "none" }, "No checks run"],
  [{ status: "running", verification: "none" }, null],
] as [Partial<Order>, string | null][])(
  "the header says in words what the checks show: %o",
  (fields, words) => {
    renderWith(<Header order={order(fields)} transcript={EMPTY} />, {
      "GET /api/models": { models: [], default_model: null },
    });
    if (words) expect(screen.getByText(words)).toBeTruthy();
    else expect(screen.queryByText("No checks run")).toBeNull();
  },
);

it("the buttons are those that the server allows, whatever the status", () => {
  const buttons = (fields: Partial<Order>) => {
    const { unmount } = renderWith(<Controls order={order(fields)} />);
    const names = screen.queryAllByRole("button").map((one) => one.textContent?.trim());
    unmount();
    return names;
  };
  expect(buttons({ status: "running", allowed_actions: ["pause", "cancel"] })).toEqual(["Pause", "Cancel"]);
  expect(buttons({ status: "running", allowed_actions: ["resume", "retry"] })).toEqual(["Resume", "Retry"]);
  expect(buttons({ status: "failed", allowed_actions: [] })).toEqual([]);
});

describe("tools", () => {
  const call = (tool: string, given: Record<string, unknown>, more: Partial<ToolItem> = {}): ToolItem => ({
    key: 1,
    at: "2026-01-01T00:00:00Z",
    kind: "tool",
    step: "build",
    call: "c1",
    tool,
    arguments: given,
    result: null,
    cutOff: null,
    ...more,
  });
  const done = (exit_code: number, duration_seconds = 0.2) =>
    ({ ok: true, exit_code, duration_seconds, output: "" }) as ToolItem["result"];

  it("of every agent are known by what they do", () => {
    expect(["Bash", "shell", "run_shell_command", "execute"].map(kindOf)).toEqual(Array(4).fill("command"));
    expect(["Read", "read_file", "read"].map(kindOf)).toEqual(Array(3).fill("read"));
    expect(["Edit", "MultiEdit", "write_file", "apply_patch", "file_change"].map(kindOf)).toEqual(
      Array(5).fill("edit"),
    );
    expect(["Grep", "search", "Glob", "grep"].map(kindOf)).toEqual(Array(4).fill("search"));
    expect(kindOf("mcp_tool_call")).toBe("other");
  });

  it("say what a call was about: a search what it looked for, not where", () => {
    expect(aboutOf(call("search", { path: ".", pattern: "page_count" }))).toBe("page_count");
    expect(aboutOf(call("Read", { file_path: "/workspace/a.py", limit: 3 }))).toBe("/workspace/a.py");
  });

  it("are told in a sentence when they are folded", () => {
    const calls = [call("Bash", {}), call("shell", {}), call("read_file", {})];
    expect(summaryOf(calls)).toBe("Ran 2 commands, read 1 file");
  });

  it("that went well say nothing of their exit, and short ones nothing of their time", () => {
    renderWith(<ItemView id="wo-1" item={call("shell", { command: "ls" }, { result: done(0) })} />);
    expect(screen.getByRole("button").textContent).toBe("shellls");
    cleanup();
    renderWith(<ItemView id="wo-1" item={call("shell", { command: "ls" }, { result: done(2, 4) })} />);
    expect(screen.getByRole("button").textContent).toBe("shellls4.0sexit 2");
  });

  it("that were cut off do not run for ever", () => {
    renderWith(
      <ItemView id="wo-1" item={call("shell", { command: "sleep 9" }, { cutOff: "interrupted" })} />,
    );
    expect(screen.getByText("interrupted")).toBeTruthy();
    expect(screen.queryByText("running")).toBeNull();
  });
});

it("a question can be answered while other steps are at work, and only the newest counts", async () => {
  const asked = {
    round: 1,
    decision: "waiting",
    comment: "",
    requested_at: "2026-11-16T12:00:00Z",
    decided_at: null,
  };
  const approvals = ["a".repeat(40), "b".repeat(40)].map((commit_sha) => ({
    ...asked,
    step: "release",
    commit_sha,
  }));
  const transcript = applyEvents(
    EMPTY,
    eventsOf({ type: "approval_requested", step: "release", kind: "shell", commit_sha: "a".repeat(40) }),
  );
  renderWith(
    <Now
      order={order({ status: "running", allowed_actions: ["approve"] })}
      transcript={transcript}
      onOpen={() => {}}
    />,
    {
      [`GET ${BASE}/approvals`]: { approvals },
    },
  );
  expect(await screen.findAllByText("Release needs your approval")).toHaveLength(1);
  expect(screen.getByText(/bbbbbbb/)).toBeTruthy();
});

describe("files that a commit left out", () => {
  const files = [
    { path: ".env", size: 12, reason: "it is named like a secret" },
    { path: "big.bin", size: 10_500_000, reason: "it is larger than 10 MB" },
  ];
  const { items } = applyEvents(
    EMPTY,
    eventsOf({ type: "git_files_left_out", step: "build", count: 3, files }),
  );

  it("are one line that opens to which, how large and why", async () => {
    renderWith(<ItemView id="wo-1" item={items[0] as Item} />);
    const line = screen.getByRole("button", { name: "3 files were left out of the commit" });
    expect(screen.queryByRole("listitem")).toBeNull();
    await userEvent.setup().click(line);
    expect(screen.getAllByRole("listitem").map((one) => one.textContent)).toEqual([
      ".env12 Bit is named like a secret",
      "big.bin10.5 MBit is larger than 10 MB",
      "and 1 more",
    ]);
  });
});
