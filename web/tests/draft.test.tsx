import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { PromptBox } from "@/features/order/prompt-box";
import { keepDraft, useDraft } from "@/lib/draft";
import { order, renderWith } from "./server";

beforeEach(() => {
  for (const name of ["here", "there", "reply.wo-00000000"]) keepDraft(name, null);
});
afterEach(cleanup);

function Box({ name }: { name: string }) {
  const [text, setText] = useDraft(name, "");
  return <textarea aria-label={name} value={text} onChange={(event) => setText(event.target.value)} />;
}

const value = (label: string) => (screen.getByLabelText(label) as HTMLTextAreaElement).value;

it("what was written is there again when one comes back, each in its place", async () => {
  const { unmount } = renderWith(<Box name="here" />);
  await userEvent.type(screen.getByLabelText("here"), "half a sen");
  unmount();
  renderWith(
    <>
      <Box name="here" />
      <Box name="there" />
    </>,
  );
  expect([value("here"), value("there")]).toEqual(["half a sen", ""]);
});

it("what was written is there after a reload, and gone from the storage when it was taken back", async () => {
  renderWith(<Box name="here" />);
  await userEvent.type(screen.getByLabelText("here"), "a");
  expect(sessionStorage.getItem("journeyman.draft.here")).toBe('"a"');
  await userEvent.clear(screen.getByLabelText("here"));
  expect(sessionStorage.getItem("journeyman.draft.here")).toBeNull();
});

it("a text that is too large for the storage can be written all the same", async () => {
  vi.spyOn(sessionStorage, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  renderWith(<Box name="here" />);
  await userEvent.type(screen.getByLabelText("here"), "long");
  expect(value("here")).toBe("long");
  vi.restoreAllMocks();
});

const REPLY = "POST /api/agent-work-orders/wo-00000000/prompt";
const reply = () => screen.getByLabelText("Message");

it("a half-written reply waits in its order's box until it is sent", async () => {
  const { unmount } = renderWith(<PromptBox order={order()} queue={[]} />, { [REPLY]: {} });
  await userEvent.type(reply(), "Also the other");
  unmount();
  renderWith(<PromptBox order={order()} queue={[]} />, { [REPLY]: {} });
  expect(reply()).toHaveProperty("value", "Also the other");
  await userEvent.type(reply(), "{Enter}");
  cleanup();
  renderWith(<PromptBox order={order()} queue={[]} />);
  expect(reply()).toHaveProperty("value", "");
});
