/** Keyboard navigation through the rows of a list, the files of a diff, and their hunks. */

const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];

/** Focuses the next or previous element; the first when none has the focus. */
function focusNext(from: HTMLElement[], by: number) {
  const at = from.indexOf(document.activeElement as HTMLElement);
  const next = from[Math.min(from.length - 1, Math.max(0, at + by))];
  next?.focus();
  return next;
}

export const moveRow = (by: number) => void focusNext(all("[data-row]"), by);

export const moveFile = (by: number) => focusNext(all("[data-file]"), by)?.scrollIntoView({ block: "start" });

let hunk: Element | undefined;

/** Lines are not focusable, so the current hunk is remembered. */
export function moveHunk(by: number) {
  const hunks = all("diffs-container").flatMap(({ shadowRoot }) =>
    [...(shadowRoot?.querySelectorAll("[data-content] > [data-line-type^=change]") ?? [])].filter(
      (line) => !line.previousElementSibling?.matches("[data-line-type^=change]"),
    ),
  );
  const at = hunk ? hunks.indexOf(hunk) : -1;
  hunk = hunks[Math.min(hunks.length - 1, Math.max(0, at + by))];
  hunk?.scrollIntoView({ block: "center" });
}

export type Offer = { key: string; name: string };
const reachable = () => all("[data-key]").filter((one) => one.checkVisibility() && !one.matches(":disabled"));
const nameOf = (one: HTMLElement) => one.ariaLabel ?? one.textContent?.trim() ?? "";

/** The shortcuts of this page: every control with a key. */
export const offers = (): Offer[] =>
  reachable().map((one) => ({ key: one.dataset.key ?? "", name: nameOf(one) }));

/** Clicks the control with this key; whether there is one. */
export function pressKey(key: string): boolean {
  const found = reachable().find((one) => one.dataset.key === key);
  found?.click();
  return found !== undefined;
}
