import { cleanup, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it } from "vitest";
import DiffView, { type Place } from "@/components/diff/diff-view";
import { contentsOf, filesOf, plainLines, shows } from "@/components/diff/files";
import { applyEvents, EMPTY } from "@/events/transcript";
import ChangesPanel from "@/features/order/changes-panel";
import { commentsIn, promptOf, sentIn } from "@/features/order/review";
import { eventsOf } from "./events";
import { order, renderWith } from "./server";

const BASE = "/api/agent-work-orders/wo-00000000";
const CODE = `diff --git a/adder.py b/adder.py
index 1111111..2222222 100644
--- a/adder.py
+++ b/adder.py
@@ -3,3 +3,4 @@ def add():
 a
-b
+c
+d
 e
`;
const WITHOUT_LINES = `diff --git a/logo.png b/logo.png
new file mode 100644
index 0000000..3333333
Binary files /dev/null and b/logo.png differ
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/empty.txt b/empty.txt
new file mode 100644
index 0000000..e69de29
`;
const RECORD = `diff --git a/.journeyman/wo-00000001/plan.md b/.journeyman/wo-00000001/plan.md
new file mode 100644
index 0000000..4444444
--- /dev/null
+++ b/.journeyman/wo-00000001/plan.md
@@ -0,0 +1 @@
+# Plan
`;

afterEach(() => {
  cleanup();
  localStorage.clear();
});

describe("a patch", () => {
  it("says why a file has nothing to show", () => {
    expect(filesOf(CODE + WITHOUT_LINES).files.map(({ nothing }) => nothing)).toEqual([
      "",
      "Binary file added",
      "Renamed from old name.txt without changes",
      "File mode changed from 100644 to 100755",
      "Empty file added",
    ]);
  });

  it("is shown with both sides before it is coloured", () => {
    const [file] = filesOf(CODE).files;
    expect(file && plainLines(file.diff)).toEqual([
      "@@ -3,3 +3,4 @@ def add():",
      " a",
      "-b",
      "+c",
      "+d",
      " e",
    ]);
  });

  it("that was cut says so, and not as code", () => {
    const { files, cut } = filesOf(`${CODE}\n[cut after 2,000,000 bytes]\n`);
    expect(cut).toBe(true);
    expect(files[0]?.diff.additionLines.join("")).not.toContain("cut after");
  });

  it("with every line gives both files whole", () => {
    expect(contentsOf(CODE.replace("-3,3 +3,4", "-1,3 +1,4"), "adder.py")).toEqual({
      oldFile: { name: "adder.py", contents: "a\nb\ne\n" },
      newFile: { name: "adder.py", contents: "a\nc\nd\ne\n" },
    });
  });

  it("knows which lines it shows", () => {
    const [file] = filesOf(CODE).files;
    const seen = (line: number, side: "additions" | "deletions") => file && shows(file, line, side);
    expect([seen(2, "additions"), seen(6, "additions"), seen(6, "deletions")]).toEqual([false, true, false]);
  });
});

describe("the diff view", () => {
  it("leaves Journeyman's own records out of the count, and shows them when asked", async () => {
    renderWith(<DiffView patch={CODE + RECORD} />);
    const list = within(screen.getByRole("navigation", { name: "Changed files" }));
    expect(list.getByText("1 file changed")).toBeTruthy();
    expect(list.getAllByText("+2")).toHaveLength(2);
    expect(screen.queryByRole("region", { name: /plan\.md/ })).toBeNull();
    await userEvent
      .setup()
      .click(screen.getByRole("button", { name: /Show 1 file that Journeyman recorded/ }));
    expect(screen.getByRole("region", { name: /plan\.md/ })).toBeTruthy();
  });

  it("comments on a file as a whole, not on one of its lines", async () => {
    const places: Place[] = [];
    renderWith(<DiffView patch={CODE} onComment={(place) => places.push(place)} />);
    await userEvent.setup().click(screen.getByRole("button", { name: "Comment on adder.py" }));
    expect(places).toEqual([{ file: "adder.py", line: null, side: "additions" }]);
  });

  it("closes a file that was viewed, until it changes", async () => {
    const viewed = () => screen.getByRole("checkbox", { name: "Viewed adder.py" });
    const opened = () => screen.getByRole("button", { name: "adder.py", expanded: true });
    const { unmount } = renderWith(<DiffView patch={CODE} remember="wo-1" />);
    expect(opened()).toBeTruthy();
    await userEvent.setup().click(viewed());
    expect(screen.getByRole("button", { name: "adder.py", expanded: false })).toBeTruthy();
    unmount();
    const again = renderWith(<DiffView patch={CODE} remember="wo-1" />);
    expect(viewed()).toHaveProperty("checked", true);
    again.unmount();
    renderWith(<DiffView patch={CODE.replace("2222222", "9999999")} remember="wo-1" />);
    expect(viewed()).toHaveProperty("checked", false);
    expect(opened()).toBeTruthy();
  });
});

describe("review comments", () => {
  const comments = [
    { file: "a.py", line: null, side: "additions" as const, text: "Say why" },
    { file: "a.py", line: 12, side: "deletions" as const, text: "Keep it\n- with a list" },
    { file: "b:1.py", line: 3, side: "additions" as const, text: "Rename" },
  ];
  const accepted = {
    type: "prompt_accepted" as const,
    number: 1,
    mode: "work" as const,
    text: promptOf(comments),
  };
  const begun = { type: "prompt_started" as const, number: 1, round: 2 };
  const commit = {
    type: "git_commit_created" as const,
    commit_sha: "abc1234567",
    message: "Rename",
    phase: "implementing",
    step: "build",
  };
  const end = { type: "agent_work_order_completed" as const, verification: "passed" };
  const states = (...events: Parameters<typeof eventsOf>) =>
    sentIn(applyEvents(EMPTY, eventsOf(...events))).map(({ state }) => state);

  it("are read back from the prompt they were sent as", () => {
    expect(commentsIn(promptOf(comments))).toEqual(comments);
    expect(commentsIn("- a.py:1\n  Not ours")).toEqual([]);
  });

  it("stay, and say which commit took them up", () => {
    expect(states(accepted)[0]).toBe("Queued");
    expect(states(accepted, begun)[0]).toBe("In progress");
    expect(states(accepted, begun, commit, end)[0]).toBe("Addressed in abc12345");
    expect(states(accepted, begun, end)[0]).toBe("Answered without a change");
  });

  it("are shown with what became of them, and those that wait are not thrown away by mistake", async () => {
    localStorage.setItem(
      "journeyman.comments.wo-00000000",
      JSON.stringify([{ file: "adder.py", line: null, side: "additions", text: "More" }]),
    );
    const user = userEvent.setup();
    renderWith(
      <ChangesPanel
        order={order()}
        transcript={applyEvents(EMPTY, eventsOf(accepted, begun, commit, end))}
      />,
      {
        [`GET ${BASE}/diff`]: new Response(CODE),
      },
    );
    const sent = within(await screen.findByRole("region", { name: "Review comments" }));
    expect(sent.getAllByText("Addressed in abc12345")).toHaveLength(3);
    await user.click(screen.getByRole("button", { name: "Discard" }));
    expect(document.activeElement?.textContent).toBe("Keep");
    await user.keyboard("{Escape}");
    expect(screen.getByText("1 comment")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Discard" }));
    await user.click(within(screen.getByRole("alertdialog")).getByRole("button", { name: "Discard" }));
    expect(screen.queryByText("1 comment")).toBeNull();
  });

  it("half written are still there when the panel is opened again", async () => {
    const shown = () =>
      renderWith(<ChangesPanel order={order()} transcript={EMPTY} />, {
        [`GET ${BASE}/diff`]: new Response(CODE),
      });
    const user = userEvent.setup();
    const { unmount } = shown();
    await user.click(await screen.findByRole("button", { name: "Comment on adder.py" }));
    await user.type(screen.getByRole("textbox", { name: "Comment" }), "Half a thou");
    unmount();
    shown();
    expect(await screen.findByRole("textbox", { name: "Comment" })).toHaveProperty("value", "Half a thou");
  });
});
