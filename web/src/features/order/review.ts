/**
 * Formats review comments as one prompt, and parses them back: what was sent is read from the prompts, so that
 * everyone who opens the order sees it, with the commit that addressed it.
 */

import type { Place } from "@/components/diff/diff-view";
import type { PromptItem } from "@/events/items";
import type { Transcript } from "@/events/transcript";
import { commit } from "@/lib/format";

export type Comment = Place & { text: string };
export type SentComment = Comment & { key: string; state: string };

const HEAD = "Review comments on the changes so far. Take each of them up:";
const REMOVED = " (removed line)";

/** All comments as one prompt, each with its file and line. */
export function promptOf(comments: Comment[]): string {
  const sorted = comments.toSorted((a, b) => a.file.localeCompare(b.file) || (a.line ?? 0) - (b.line ?? 0));
  const lines = sorted.map(
    (comment) => `- ${whereOf(comment)}\n  ${comment.text.trim().replaceAll("\n", "\n  ")}`,
  );
  return `${HEAD}\n\n${lines.join("\n")}`;
}

export function whereOf({ file, line, side }: Place): string {
  if (line === null) return file;
  return `${file}:${line}${side === "deletions" ? REMOVED : ""}`;
}

/** The comments of a prompt; none if it is an ordinary one. */
export function commentsIn(prompt: string): Comment[] {
  if (!prompt.startsWith(HEAD)) return [];
  return prompt
    .slice(HEAD.length)
    .split(/^- /m)
    .slice(1)
    .flatMap((comment) => {
      const [where = "", ...lines] = comment.trimEnd().split("\n");
      const found = /^(.+?)(?::(\d+)( \(removed line\))?)?$/.exec(where);
      if (!found?.[1]) return [];
      const side = found[3] ? ("deletions" as const) : ("additions" as const);
      const text = lines.map((line) => line.replace(/^ {2}/, "")).join("\n");
      return [{ file: found[1], line: found[2] ? Number(found[2]) : null, side, text }];
    });
}

/** All review comments that were sent, the newest last. */
export function sentIn({ items, queue }: Transcript): SentComment[] {
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
