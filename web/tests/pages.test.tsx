import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { NoSuchPage } from "@/features/orders/orders-page";
import { SettingsPage } from "@/features/settings/settings-page";
import { arranged, openingView } from "@/features/workflows/graph";
import { WorkflowsPage } from "@/features/workflows/workflows-page";
import { Help } from "@/layout/help";
import { renderWith } from "./server";

afterEach(() => {
  cleanup();
  localStorage.clear();
});

it("a page beyond the last one leads back to the last", async () => {
  const go = vi.fn();
  renderWith(<NoSuchPage page={9} last={2} onGo={go} />);
  expect(screen.getByText("There is no page 9")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Go to page 2" }));
  expect(go).toHaveBeenCalledWith(2);
});

it("no keycap in the help is empty", () => {
  renderWith(<Help onClose={() => {}} />);
  const keycaps = [...document.querySelectorAll("kbd")].map((key) => key.textContent);
  expect(keycaps.length).toBeGreaterThan(10);
  expect(keycaps).not.toContain("");
  expect(keycaps).not.toContain("…");
  expect(keycaps).not.toContain(".");
});

it("a workflow with two names is listed once, with both", async () => {
  const one = { version: 1, description: "", steps: [], yaml: "", ready: true, needs: "" };
  renderWith(<WorkflowsPage />, {
    "GET /api/workflows": {
      workflows: [
        { ...one, name: "agent_workflow_build", alias_of: null },
        { ...one, name: "agent_workflow_implement", alias_of: "agent_workflow_build" },
      ],
    },
  });
  await screen.findByText("also agent_workflow_implement");
  expect(screen.getAllByRole("link")).toHaveLength(1);
});

const step = (name: string, ...depends_on: string[]) => ({
  name,
  kind: "build",
  depends_on,
  requires_approval: false,
});
const LONG = arranged([step("a"), step("b", "a"), step("c", "b"), step("d", "c"), step("e", "d")], {}).nodes;

it("a graph that is too wide to be read as a whole opens at its first step", () => {
  const { x, zoom } = openingView(LONG, { clientWidth: 358, clientHeight: 320 });
  expect(x).toBeGreaterThanOrEqual(0);
  expect(zoom).toBeGreaterThanOrEqual(0.7);
});

it("a graph that fits is shown as a whole, in the middle", () => {
  const { x, y, zoom } = openingView(LONG, { clientWidth: 1300, clientHeight: 320 });
  expect(zoom).toBe(1);
  expect(x).toBeCloseTo((1300 - (5 * 168 + 4 * 56)) / 2);
  expect(y).toBe(128);
});

it("the settings say which keys are set and how to add one, and are drawn at once", async () => {
  const setting = (name: string, more = {}) => ({
    name,
    meaning: `What ${name} means`,
    is_secret: false,
    is_set: false,
    value: null,
    ...more,
  });
  renderWith(<SettingsPage />, {
    "GET /api/settings": {
      settings: [
        setting("JOURNEYMAN_HOME", { value: "/data" }),
        setting("JOURNEYMAN_API_KEY", { is_secret: true }),
        setting("OPENAI_API_KEY", { is_secret: true, is_set: true }),
      ],
    },
  });
  expect(screen.queryByRole("heading", { name: "Theme" })).toBeNull();
  const heading = await screen.findByRole("heading", { name: "Keys" });
  await waitFor(() => expect(screen.getByText("/data/journeyman.toml")).toBeTruthy());
  const rows = heading.parentElement?.textContent ?? "";
  expect(rows).toContain("OPENAI_API_KEYSet");
  expect(rows).not.toContain("JOURNEYMAN_API_KEY");
  expect(screen.getByRole("button", { name: "System" })).toBeTruthy();
});
