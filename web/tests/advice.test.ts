import { expect, it } from "vitest";
import { adviceFor, plainText } from "@/lib/advice";

it.each([
  ["Try again later. More workers, or a higher JOURNEYMAN_MAX_ORDERS, help.", "Try again later."],
  [
    "It can be read but not pushed to. Set GITHUB_TOKEN.",
    "It can be read but not pushed to. Settings shows how to add keys and tokens.",
  ],
  ["Set ANTHROPIC_API_KEY.", "Settings shows how to add keys and tokens."],
  ["Install it: jm agents install opencode.", ""],
  ["Run `git init` there and commit first.", ""],
  ["Split the task, or raise JOURNEYMAN_AGENT_MAX_TURNS.", "Split the task."],
  ["Install it on this machine and name it in JOURNEYMAN_SANDBOX_PATHS.", "Install it on this machine."],
  ["Wait a moment; the log and `jm doctor` say why.", "Wait a moment."],
  ["Reopen the pull request. Or start a new order.", "Reopen the pull request. Or start a new order."],
  [null, ""],
])("of %o a browser shows %o", (text, shown) => {
  expect(plainText(text)).toBe(shown);
});

it("where a hint has nothing for a browser, the kind of error says what helps", () => {
  expect(adviceFor("budget", "Run `jm budget`.")).toBe("Raise the budget to continue.");
  expect(adviceFor("budget", "Ask for more.")).toBe("Ask for more.");
});

const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;

it("no text of the page names a command; only Settings names settings", () => {
  const sources = import.meta.glob<string>("../src/**/*.tsx", {
    query: "?raw",
    import: "default",
    eager: true,
  });
  const named = (pattern: RegExp) =>
    Object.entries(sources)
      .filter(([, text]) => pattern.test(text.replaceAll(COMMENTS, "")))
      .map(([path]) => path);
  expect(Object.keys(sources).length).toBeGreaterThan(50);
  expect(named(/\bjm [a-z]/)).toEqual([]);
  expect(named(/JOURNEYMAN_|_API_KEY|GITHUB_TOKEN/)).toEqual(["../src/features/settings/keys.tsx"]);
});
