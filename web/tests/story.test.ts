import { describe, expect, it } from "vitest";
import { EMPTY, type Item, tell } from "@/events/story";
import { partsChangedBy } from "@/events/use-story";
import { told } from "./events";

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
    const { items } = tell(EMPTY, told(text("Hello "), text("world"), call, text("again")));
    expect(kinds(items)).toEqual(["text", "tool", "text"]);
    expect(items[0]).toMatchObject({ text: "Hello world" });
  });

  it("is kept apart for steps that speak at the same time", () => {
    const { items } = tell(EMPTY, told(text("a", "one"), text("b", "two"), text("c", "one")));
    expect(items.map((item) => item.kind === "text" && item.text)).toEqual(["a", "b", "c"]);
  });

  it("is shown once when the answer is told whole after it streamed", () => {
    const answer = { type: "agent_answered" as const, step: "answer", text: "It adds." };
    expect(tell(EMPTY, told(text("It adds.", "answer"), answer)).items).toHaveLength(1);
    expect(tell(EMPTY, told(answer)).items).toMatchObject([{ kind: "text", text: "It adds." }]);
  });
});

it("a tool call gets its result, and keeps its place", () => {
  const { items, open } = tell(EMPTY, told(call, text("meanwhile"), result));
  expect(items[0]).toMatchObject({ kind: "tool", key: 1, result: { exit_code: 0 } });
  expect(open.calls).toEqual({});
});

it("telling in pieces gives the same story as telling at once", () => {
  const events = told(started, text("a"), call, result, text("b"), { type: "agent_work_order_paused" });
  const pieces = events.reduce((story, one) => tell(story, [one]), EMPTY);
  expect(pieces).toEqual(tell(EMPTY, events));
  expect(EMPTY.items).toEqual([]);
});

it("a pause stops the step that was running", () => {
  const { items } = tell(EMPTY, told(started, { type: "agent_work_order_paused" }));
  expect(items[0]).toMatchObject({ kind: "step", state: "stopped" });
});

describe("prompts", () => {
  const accepted = { type: "prompt_accepted" as const, number: 1, mode: "work" as const, text: "More" };

  it("wait in the queue until their round begins, and stand there then", () => {
    const waiting = tell(EMPTY, told(accepted));
    expect([waiting.queue.length, waiting.items.length]).toEqual([1, 0]);
    const begun = tell(EMPTY, told(accepted, { type: "prompt_started", number: 1, round: 2 }));
    expect(begun.queue).toEqual([]);
    expect(begun.items).toMatchObject([{ kind: "prompt", text: "More" }]);
  });

  it("that are taken back are gone", () => {
    expect(tell(EMPTY, told(accepted, { type: "prompt_cancelled", number: 1 })).queue).toEqual([]);
  });
});

it("subtasks tick off as the next one begins", () => {
  const plan = { type: "plan_created" as const, step: "plan", reasoning: "", subtasks: ["one", "two"] };
  const second = { type: "subtask_started" as const, step: "build", number: 2, of: 2, title: "two" };
  const story = tell(EMPTY, told(plan, second));
  expect(story.plan?.subtasks.map(({ state }) => state)).toEqual(["done", "running"]);
  const end = tell(EMPTY, told(plan, second, { type: "agent_work_order_completed", verification: "passed" }));
  expect(end.plan?.subtasks.map(({ state }) => state)).toEqual(["done", "done"]);
});

it("an approval keeps the person's word", () => {
  const asked = { type: "approval_requested" as const, step: "build", kind: "build", commit_sha: "abc" };
  const decided = { ...asked, type: "approval_decided" as const, decision: "rejected", comment: "No" };
  expect(tell(EMPTY, told(asked, decided)).items).toMatchObject([{ decision: "rejected", comment: "No" }]);
});

it("a pull request that leaves draft says so", () => {
  const pull = { github_pull_request_url: "u", number: 12 };
  const story = tell(
    EMPTY,
    told(
      { type: "github_pull_request_created", draft: true, ...pull },
      { type: "github_pull_request_updated", draft: false, ...pull },
    ),
  );
  expect(story.items.map((item) => item.kind === "system" && item.text)).toEqual([
    "Created draft PR #12",
    "PR #12 is ready for review",
  ]);
  expect(story.pullRequest).toMatchObject({ number: 12, draft: false });
});

it("an event of a kind that is not known yet changes nothing but the place", () => {
  const story = tell(EMPTY, told({ type: "something_new" as "agent_text" }));
  expect(story.items).toEqual([]);
  expect(story.last).toBe(1);
});

it("what agents and tools say makes no reading stale; everything else does", () => {
  expect(partsChangedBy("agent_text")).toEqual([]);
  expect(partsChangedBy("git_push_completed")).toEqual(["order", "diff", "pull-request"]);
});

it("what people did to the pull request and the branch is told", () => {
  const pull = { github_pull_request_url: "u", number: 12 };
  const taken = { git_branch_name: "b", commit_sha: "0123456789", count: 2, commits: [] };
  const { items } = tell(
    EMPTY,
    told({ type: "git_commits_taken_in", ...taken }, { type: "github_pull_request_merged", ...pull }),
  );
  expect(items.map((item) => item.kind === "system" && item.text)).toEqual([
    "Took in 2 commits that people pushed",
    "PR #12 was merged",
  ]);
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

  it("is under way until it is made, and says how long it took", () => {
    expect(tell(EMPTY, told(begun)).committing).not.toBeNull();
    const story = tell(EMPTY, told(begun, made));
    expect(story.committing).toBeNull();
    expect(story.items).toMatchObject([{ sign: "commit", text: "Make it add", seconds: 1 }]);
  });

  it("is over as soon as anything else happens, for there may have been nothing to commit", () => {
    expect(tell(EMPTY, told(begun, text("Hello"))).committing).toBeNull();
  });
});
