/**
 * Comments on a diff as one prompt, and back: what was sent is read from the prompts themselves, so that
 * everybody who opens the order sees it, with the commit that took it up.
 */

import type { Place } from "@/components/diff/diff-view";
import type { PromptItem } from "@/events/items";
import type { Story } from "@/events/story";
import { commit } from "@/lib/format";

export type Comment = Place & { text: string };
export type SentComment = Comment & { key: string; state: string };

const HEAD = "Review comments on the changes so far. Take each of them up:";
const REMOVED = " (removed line)";

/** All comments as one prompt, each with the place it is about. */
export function promptOf(comments: Comment[]): string {
  const sorted = comments.toSorted((a, b) => a.file.localeCompare(b.file) || (a.line ?? 0) - (b.line ?? 0));
  const told = sorted.map(
    (comment) => `- ${whereOf(comment)}\n  ${comment.text.trim().replaceAll("\n", "\n  ")}`,
  );
  return `${HEAD}\n\n${told.join("\n")}`;
}

export function whereOf({ file, line, side }: Place): string {
  if (line === null) return file;
  return `${file}:${line}${side === "deletions" ? REMOVED : ""}`;
}

/** The comments that a prompt was made of; none if it was not. */
export function commentsIn(prompt: string): Comment[] {
  if (!prompt.startsWith(HEAD)) return [];
  return prompt
    .slice(HEAD.length)
    .split(/^- /m)
    .slice(1)
    .flatMap((told) => {
      const [where = "", ...lines] = told.trimEnd().split("\n");
      const found = /^(.+?)(?::(\d+)( \(removed line\))?)?$/.exec(where);
      if (!found?.[1]) return [];
      const side = found[3] ? ("deletions" as const) : ("additions" as const);
      const text = lines.map((line) => line.replace(/^ {2}/, "")).join("\n");
      return [{ file: found[1], line: found[2] ? Number(found[2]) : null, side, text }];
    });
}

/** Everything that was sent for review, the newest last. */
export function sentIn({ items, queue }: Story): SentComment[] {
  const prompts = [...items.filter((item): item is PromptItem => item.kind === "prompt"), ...queue];
  return prompts.flatMap((prompt) =>
    commentsIn(prompt.text).map((comment, index) => ({
      ...comment,
      key: `${prompt.number} ${index}`,
      state: stateOf(prompt),
    })),
  );
}

function stateOf({ state, commits }: PromptItem): string {
  if (state === "queued") return "Queued";
  const newest = commits.at(-1);
  if (newest) return `Addressed in ${commit(newest)}`;
  return state === "running" ? "In progress" : "Answered without a change";
}
