import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { useKeys } from "@/layout/keys";
import { renderWith } from "./server";

afterEach(cleanup);

function Page({ onReject }: { onReject: () => void }) {
  useKeys(() => {});
  return (
    <button type="button" data-key="r" onClick={onReject}>
      Reject
    </button>
  );
}

it("a key right after the page's start is the page's own, and no second half of `G R`", async () => {
  Element.prototype.checkVisibility ??= () => true;
  const reject = vi.fn();
  renderWith(<Page onReject={reject} />, {});
  await screen.findByRole("button", { name: "Reject" });
  vi.spyOn(Event.prototype, "timeStamp", "get").mockReturnValue(500);
  await userEvent.keyboard("r");
  expect(reject).toHaveBeenCalledOnce();
});
