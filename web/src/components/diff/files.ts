/** Parses a patch into files, with a note for those that have no lines to show. */

import type { FileDiffMetadata } from "@pierre/diffs";
import { parsePatchFiles } from "@pierre/diffs";
import { isRecord } from "./stat";

export type ChangedFile = {
  name: string;
  diff: FileDiffMetadata;
  added: number;
  removed: number;
  /** Why there are no lines to show; empty where there are. */
  nothing: string;
  /** Journeyman's own: plan and test results. */
  record: boolean;
  /** Differs when the content does. */
  version: string;
};
export type Patch = { files: ChangedFile[]; cut: boolean };

const CUT = /\n\[cut after [\d,]+ bytes\]\n$/;

export function filesOf(patch: string): Patch {
  const cut = CUT.test(patch);
  const text = cut ? patch.replace(CUT, "\n") : patch;
  const sections = text.split(/^(?=diff --git )/m);
  const files = parsePatchFiles(text)
    .flatMap((one) => one.files)
    .map((diff, index) => fileOf(diff, sections[index] ?? ""));
  return { files, cut };
}

function fileOf(diff: FileDiffMetadata, section: string): ChangedFile {
  const added = diff.hunks.reduce((sum, hunk) => sum + hunk.additionLines, 0);
  const removed = diff.hunks.reduce((sum, hunk) => sum + hunk.deletionLines, 0);
  return {
    name: diff.name,
    diff,
    added,
    removed,
    nothing: diff.hunks.length ? "" : whyNothing(diff, section),
    record: isRecord(diff.name),
    version: diff.newObjectId ?? `${diff.type} ${diff.mode}`,
  };
}

function whyNothing({ type, mode, prevMode, prevName }: FileDiffMetadata, section: string): string {
  if (/^(Binary files |GIT binary patch)/m.test(section)) {
    const what = { new: "added", deleted: "deleted" }[type as string] ?? "changed";
    return `Binary file ${what}`;
  }
  if (type === "rename-pure") return `Renamed from ${prevName} without changes`;
  if (prevMode && mode && prevMode !== mode) return `File mode changed from ${prevMode} to ${mode}`;
  return { new: "Empty file added", deleted: "Empty file deleted" }[type as string] ?? "No changed lines";
}

export type Side = "additions" | "deletions";

/** Whether the patch shows this line, so that a note can be placed below it. */
export const shows = ({ diff }: ChangedFile, line: number, side: Side) =>
  diff.hunks.some((hunk) => {
    const [start, count] =
      side === "additions"
        ? [hunk.additionStart, hunk.additionCount]
        : [hunk.deletionStart, hunk.deletionCount];
    return line >= start && line < start + count;
  });

/** Both sides as plain patch lines. */
export function plainLines({ hunks, additionLines, deletionLines }: FileDiffMetadata): string[] {
  const marked = (sign: string, lines: string[]) => lines.map((line) => sign + line.replace(/\n$/, ""));
  return hunks.flatMap((hunk) => [
    (hunk.hunkSpecs ?? "").trimEnd(),
    ...hunk.hunkContent.flatMap((part) =>
      part.type === "context"
        ? marked(" ", additionLines.slice(part.additionLineIndex, part.additionLineIndex + part.lines))
        : [
            ...marked(
              "-",
              deletionLines.slice(part.deletionLineIndex, part.deletionLineIndex + part.deletions),
            ),
            ...marked(
              "+",
              additionLines.slice(part.additionLineIndex, part.additionLineIndex + part.additions),
            ),
          ],
    ),
  ]);
}

/** Both sides of a file, from a patch with full context. */
export function contentsOf(patch: string, name: string) {
  const file = filesOf(patch).files.find((one) => one.name === name);
  if (!file) throw new Error(`the patch has no ${name}`);
  const { additionLines, deletionLines, prevName } = file.diff;
  return {
    oldFile: { name: prevName ?? name, contents: deletionLines.join("") },
    newFile: { name, contents: additionLines.join("") },
  };
}
