/** Keyboard shortcuts, inactive while typing; the palette has the same actions. */

import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { moveFile, moveHunk, moveRow, pressKey } from "./moves";

export const PLACES = [
  { key: "h", to: "/", name: "Home" },
  { key: "i", to: "/inbox", name: "Inbox" },
  { key: "o", to: "/orders", name: "Orders" },
  { key: "r", to: "/repositories", name: "Repositories", short: "Repos" },
  { key: "w", to: "/workflows", name: "Workflows" },
  { key: "l", to: "/local-forge/pull-requests", name: "Local forge", short: "Forge" },
  { key: ",", to: "/settings", name: "Settings" },
] as const;

export const MAP: [string, string][] = [
  ["Ctrl K", "Command palette"],
  ["C", "New order"],
  ...PLACES.map(({ key, name }): [string, string] => [`G ${key.toUpperCase()}`, `Go to ${name}`]),
  ["J K", "Next, previous row in a list"],
  ["Enter", "Open the row"],
  ["/", "Search, or write to the order, or edit the definition"],
  ["1 … 5", "Panels of an order"],
  ["] [", "Next, previous file of a diff"],
  ["} {", "Next, previous hunk"],
  ["A R", "Approve, reject"],
  ["X", "Check a repository"],
  [".", "Cancel the order"],
  ["?", "Keyboard shortcuts"],
  ["Esc", "Close"],
];

export const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const SEQUENCE_MS = 1200;
/** `G` was not pressed. Not 0: a key's time counts from the page's start. */
const NEVER = Number.NEGATIVE_INFINITY;

export function useKeys(show: (what: "palette" | "help") => void) {
  const navigate = useNavigate();
  useEffect(() => {
    let goneTo = NEVER;
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)) {
        event.preventDefault();
        show("palette");
        return;
      }
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target))
        return;
      if (document.querySelector("[role=dialog]")) return;
      const place = PLACES.find(({ key }) => key === event.key.toLowerCase());
      if (place && event.timeStamp - goneTo < SEQUENCE_MS) {
        goneTo = NEVER;
        event.preventDefault();
        void navigate({ to: place.to });
        return;
      }
      goneTo = NEVER;
      const acts: Record<string, () => void> = {
        g: () => {
          goneTo = event.timeStamp;
        },
        c: () =>
          void navigate({ to: "/" }).then(() => document.querySelector<HTMLElement>("[data-task]")?.focus()),
        "?": () => show("help"),
        "/": () => document.querySelector<HTMLElement>("[data-slash]")?.focus(),
        j: () => moveRow(1),
        k: () => moveRow(-1),
        "]": () => moveFile(1),
        "[": () => moveFile(-1),
        "}": () => moveHunk(1),
        "{": () => moveHunk(-1),
      };
      const key = event.key.toLowerCase();
      const act = acts[key];
      act?.();
      if (act || pressKey(key)) event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [navigate, show]);
}
