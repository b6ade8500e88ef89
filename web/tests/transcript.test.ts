import { describe, expect, it } from "vitest";
import { workedSeconds } from "@/events/clock";
import type { Item } from "@/events/items";
import { rowsOf } from "@/events/rows";
import { applyEvents, EMPTY } from "@/events/transcript";
import { partsChangedBy } from "@/events/use-transcript";
import { eventsOf } from "./events";

const kinds = (items: Item[]) => items.map(({ kind }) => kind);
const text = (words: string, step = "build") => ({ type: "agent_text" as const, step, text: words });
const started = { type: "step_started" as const, step: "build", kind: "build", attempt: 1 };
const call = {
  type: "tool_call_started" as const,
  step: "build",
  call_id: "c1",
  tool: "shell",
  arguments: {},
};
const result = {
  ...call,
  type: "tool_call_completed" as const,
  ok: true,
  exit_code: 0,
  duration_seconds: 1,
  output: "fine",
};

describe("what agents say", () => {
  it("is one text as long as nothing else happens", () => {
    const { items } = applyEvents(EMPTY, eventsOf(text("Hello "), text("world"), call, text("again")));
    expect(kinds(items)).toEqual(["text", "tool", "text"]);
    expect(items[0]).toMatchObject({ text: "Hello world" });
  });

  it("is kept apart for steps that speak at the same time", () => {
    const { items } = applyEvents(EMPTY, eventsOf(text("a", "one"), text("b", "two"), text("c", "one")));
    expect(items.map((item) => item.kind === "text" && item.text)).toEqual(["a", "b", "c"]);
  });

  it("is shown once when the answer is told whole after it streamed", () => {
    const answer = { type: "agent_answered" as const, step: "answer", text: "It adds." };
    expect(applyEvents(EMPTY, eventsOf(text("It adds.", "answer"), answer)).items).toHaveLength(1);
    expect(applyEvents(EMPTY, eventsOf(answer)).items).toMatchObject([{ kind: "text", text: "It adds." }]);
  });
});

it("a tool call gets its result, and keeps its place", () => {
  const { items, open } = applyEvents(EMPTY, eventsOf(call, text("meanwhile"), result));
  expect(items[0]).toMatchObject({ kind: "tool", key: 1, result: { exit_code: 0 } });
  expect(open.calls).toEqual({});
});

it("applying events one by one gives the same transcript as all at once", () => {
  const events = eventsOf(started, text("a"), call, result, text("b"), { type: "agent_work_order_paused" });
  const pieces = events.reduce((transcript, one) => applyEvents(transcript, [one]), EMPTY);
  expect(pieces).toEqual(applyEvents(EMPTY, events));
  expect(EMPTY.items).toEqual([]);
});

describe("what is open", () => {
  const half = text("I look at the");
  const subtask = { type: "subtask_started" as const, step: "build", number: 1, of: 2, title: "Add" };

  it.each([
    { type: "agent_work_order_paused" as const },
    { type: "agent_work_order_cancelled" as const, reason: "", hint: "" },
    { type: "agent_work_order_failed" as const, error_message: "no", error_category: "agent", hint: "" },
  ])("is stopped with its order: $type", (end) => {
    const { items } = applyEvents(EMPTY, eventsOf(started, subtask, call, half, end));
    expect(items.slice(0, 4)).toMatchObject([
      { kind: "step", state: "stopped" },
      { kind: "subtask", state: "stopped" },
      { kind: "tool", cutOff: "stopped" },
      { kind: "text", cutOff: "stopped" },
    ]);
  });

  it("was interrupted when the same attempt begins again, and the transcript says that it went on", () => {
    const { items } = applyEvents(EMPTY, eventsOf(started, call, half, started, text("I look at the code.")));
    expect(items).toMatchObject([
      { kind: "step", state: "interrupted" },
      { kind: "tool", cutOff: "interrupted" },
      { kind: "text", cutOff: "interrupted" },
      { kind: "system", text: "Interrupted and continued" },
      { kind: "step", state: "running" },
      { kind: "text", text: "I look at the code.", cutOff: null },
    ]);
    expect(new Set(items.map(({ key }) => key)).size).toBe(items.length);
  });

  it("ends with its step: a call whose result never came does not run for ever", () => {
    const done = {
      type: "step_completed" as const,
      step: "build",
      kind: "build",
      duration_seconds: 1,
      output: {},
    };
    const { items, open } = applyEvents(EMPTY, eventsOf(started, call, text("Said to the end."), done));
    expect(items).toMatchObject([{ state: "completed" }, { cutOff: "stopped" }, { cutOff: null }]);
    expect(open.calls).toEqual({});
  });
});

describe("retries", () => {
  const retrying = (attempt: number, error_message: string) => ({
    type: "step_retrying" as const,
    step: "build",
    attempt,
    wait_seconds: 2,
    error_message,
    error_category: "transient",
  });
  const notice = { type: "agent_notice" as const, step: "build", wait_seconds: 4 };
  const again = { ...started, attempt: 2 };
  const subtask = { type: "subtask_started" as const, step: "build", number: 1, of: 1, title: "Add" };

  it("are one row with everything that was tried, where it was tried last", () => {
    const transcript = applyEvents(
      EMPTY,
      eventsOf(
        started,
        subtask,
        { ...notice, text: "no answer; trying again in 4.0 s (attempt 2 of 5)" },
        retrying(2, "gave up"),
        again,
        subtask,
      ),
    );
    expect(rowsOf(transcript.items)).toMatchObject([
      { kind: "subtask", state: "running" },
      { kind: "retry", state: "trying", reasons: ["no answer", "gave up"] },
    ]);
    expect(transcript.start.active).toBe(true);
    expect(transcript.items[0]).toMatchObject({ kind: "step", state: "running", attempt: 2 });
  });

  it("leave one step that failed, not one that still runs for each attempt", () => {
    const failed = { type: "step_failed" as const, step: "build", kind: "build", duration_seconds: 1 };
    const why = { error_message: "gave up", error_category: "transient", hint: "" };
    const end = { type: "agent_work_order_failed" as const, ...why, error_message: "step build: gave up" };
    const { items } = applyEvents(
      EMPTY,
      eventsOf(started, retrying(2, "gave up"), again, { ...failed, ...why }, end),
    );
    expect(rowsOf(items)).toMatchObject([{ kind: "retry", state: "over" }, { kind: "failure" }]);
    expect(items[0]).toMatchObject({ kind: "step", state: "failed" });
  });
});

describe("what went well", () => {
  const ran = (number: number, exit_code = 0) => [
    { ...call, call_id: `c${number}` },
    { ...result, call_id: `c${number}`, exit_code },
  ];

  it("is folded: three calls in a row are one, and one that failed stands alone", () => {
    const { items } = applyEvents(
      EMPTY,
      eventsOf(started, ...ran(1), ...ran(2), ...ran(3), ...ran(4, 1), ...ran(5)),
    );
    expect(rowsOf(items)).toMatchObject([
      { kind: "tools", items: [{ call: "c1" }, { call: "c2" }, { call: "c3" }] },
      { kind: "tool", call: "c4" },
      { kind: "tool", call: "c5" },
    ]);
  });

  it("has no row where its work tells itself; a command of the workflow has one", () => {
    const done = (step: string, kind: string) => [
      { type: "step_started" as const, step, kind, attempt: 1 },
      { type: "step_completed" as const, step, kind, duration_seconds: 1, output: {} },
    ];
    const { items } = applyEvents(EMPTY, eventsOf(...done("verify", "verify"), ...done("lint", "shell")));
    expect(rowsOf(items)).toMatchObject([{ step: "lint", state: "completed" }]);
  });
});

describe("the time of an order", () => {
  const moment = (type: "agent_work_order_started" | "agent_work_order_paused") => ({ type, round: 1 });

  it("is what was worked, without what it rested", () => {
    const rested = { type: "agent_work_order_resumed" as const };
    const { work } = applyEvents(
      EMPTY,
      eventsOf(
        moment("agent_work_order_started"),
        text("two"),
        moment("agent_work_order_paused"),
        ...Array.from({ length: 60 }, () => rested),
        moment("agent_work_order_started"),
      ),
    );
    expect(workedSeconds(work, Date.UTC(2026, 0, 1, 0, 1, 14))).toBe(2 + 10);
  });

  it("counts the newest start from where that began", () => {
    const transcript = applyEvents(
      EMPTY,
      eventsOf(
        { type: "agent_work_order_created" },
        moment("agent_work_order_started"),
        { type: "git_branch_created", git_branch_name: "b", base_branch: "main", base_commit_sha: "a" },
        moment("agent_work_order_paused"),
        { type: "agent_work_order_resumed" },
        moment("agent_work_order_started"),
      ),
    );
    expect(transcript.start).toEqual({
      queued: "2026-01-01T00:00:05.000Z",
      started: "2026-01-01T00:00:06.000Z",
      fetched: null,
      active: false,
    });
  });
});

describe("prompts", () => {
  const accepted = { type: "prompt_accepted" as const, number: 1, mode: "work" as const, text: "More" };

  it("wait in the queue until their round begins, and stand there then", () => {
    const waiting = applyEvents(EMPTY, eventsOf(accepted));
    expect([waiting.queue.length, waiting.items.length]).toEqual([1, 0]);
    const begun = applyEvents(EMPTY, eventsOf(accepted, { type: "prompt_started", number: 1, round: 2 }));
    expect(begun.queue).toEqual([]);
    expect(begun.items).toMatchObject([{ kind: "prompt", text: "More" }]);
  });

  it("that are taken back are gone", () => {
    expect(applyEvents(EMPTY, eventsOf(accepted, { type: "prompt_cancelled", number: 1 })).queue).toEqual([]);
  });
});

it("subtasks tick off as the next one begins", () => {
  const plan = { type: "plan_created" as const, step: "plan", reasoning: "", subtasks: ["one", "two"] };
  const second = { type: "subtask_started" as const, step: "build", number: 2, of: 2, title: "two" };
  const transcript = applyEvents(EMPTY, eventsOf(plan, second));
  expect(transcript.plan?.subtasks.map(({ state }) => state)).toEqual(["done", "running"]);
  const end = applyEvents(
    EMPTY,
    eventsOf(plan, second, { type: "agent_work_order_completed", verification: "passed" }),
  );
  expect(end.plan?.subtasks.map(({ state }) => state)).toEqual(["done", "done"]);
});

it("an approval keeps the person's word, and when it was given", () => {
  const asked = { type: "approval_requested" as const, step: "build", kind: "build", commit_sha: "abc" };
  const decided = { ...asked, type: "approval_decided" as const, decision: "rejected", comment: "No" };
  expect(applyEvents(EMPTY, eventsOf(asked, decided)).items).toMatchObject([
    { decision: "rejected", comment: "No", at: "2026-01-01T00:00:02.000Z" },
  ]);
});

it("a pull request that leaves draft says so", () => {
  const pull = { github_pull_request_url: "u", number: 12 };
  const transcript = applyEvents(
    EMPTY,
    eventsOf(
      { type: "github_pull_request_created", draft: true, ...pull },
      { type: "github_pull_request_updated", draft: false, ...pull },
    ),
  );
  expect(transcript.items.map((item) => item.kind === "system" && item.text)).toEqual([
    "Created draft PR #12",
    "PR #12 is ready for review",
  ]);
  expect(transcript.pullRequest).toMatchObject({ number: 12, draft: false });
});

it("an event of a kind that is not known yet changes nothing but the place", () => {
  const transcript = applyEvents(EMPTY, eventsOf({ type: "something_new" as "agent_text" }));
  expect(transcript.items).toEqual([]);
  expect(transcript.last).toBe(1);
});

it("what agents and tools say makes no reading stale; everything else does", () => {
  expect(partsChangedBy("agent_text")).toEqual([]);
  expect(partsChangedBy("git_push_completed")).toEqual(["order", "diff", "pull-request"]);
});

it("what people did to the pull request and the branch is told", () => {
  const pull = { github_pull_request_url: "u", number: 12 };
  const taken = { git_branch_name: "b", commit_sha: "0123456789", count: 2, commits: [] };
  const { items } = applyEvents(
    EMPTY,
    eventsOf({ type: "git_commits_taken_in", ...taken }, { type: "github_pull_request_merged", ...pull }),
  );
  expect(items.map((item) => item.kind === "system" && item.text)).toEqual([
    "Pulled 2 commits pushed by others",
    "PR #12 was merged",
  ]);
});

it("what people push to an order at rest is told, and makes its diff stale", () => {
  const moved = { type: "git_branch_moved" as const, git_branch_name: "b", commit_sha: "0123456789" };
  const { items } = applyEvents(
    EMPTY,
    eventsOf({ ...moved, count: 2, commits: [] }, { ...moved, count: 0, commits: [] }),
  );
  expect(items.map((item) => item.kind === "system" && item.text)).toEqual([
    "Others pushed 2 commits",
    "Others moved the branch",
  ]);
  expect(partsChangedBy("git_branch_moved")).toEqual(["order", "diff"]);
});

it("files that a commit left out have a row, and none when none are left out any more", () => {
  const left = { type: "git_files_left_out" as const, step: "build" };
  const files = [{ path: ".env", size: 12, reason: "it is named like a secret" }];
  const { items } = applyEvents(
    EMPTY,
    eventsOf({ ...left, count: 1, files }, { ...left, count: 0, files: [] }),
  );
  expect(items).toMatchObject([{ kind: "left_out", event: { count: 1, files } }]);
});

describe("a commit", () => {
  const begun = { type: "git_commit_started" as const, phase: "implementing", step: "build" };
  const made = {
    type: "git_commit_created" as const,
    commit_sha: "0123456789",
    message: "Make it add",
    phase: "implementing",
    step: "build",
    git_commit_count: 1,
    git_files_changed: 1,
    git_lines_added: 1,
    git_lines_removed: 1,
  };

  it("is under way until it is made", () => {
    expect(applyEvents(EMPTY, eventsOf(begun)).committing).not.toBeNull();
    const transcript = applyEvents(EMPTY, eventsOf(begun, made));
    expect(transcript.committing).toBeNull();
    expect(transcript.items).toMatchObject([{ sign: "commit", text: "Make it add", detail: "01234567" }]);
  });

  it("of a subtask stands in its row, and one of Journeyman's own records nowhere", () => {
    const subtask = {
      type: "subtask_started" as const,
      step: "build",
      number: 1,
      of: 1,
      title: "Make it add",
    };
    const record = { ...made, message: "Record test results: 1 passed", phase: "testing" };
    expect(applyEvents(EMPTY, eventsOf(subtask, made, record)).items).toMatchObject([
      { kind: "subtask", state: "done", commit: "0123456789" },
    ]);
  });

  it("is over as soon as anything else happens, for there may have been nothing to commit", () => {
    expect(applyEvents(EMPTY, eventsOf(begun, text("Hello"))).committing).toBeNull();
  });
});
