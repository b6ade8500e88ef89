/** The diff stat of a patch, from its text alone, so that the diff view need not be loaded. */

export type Stat = { files: number; added: number; removed: number };

const RECORD = /^\.journeyman\/wo-[0-9a-z]{8}\//;

/** Plan and test results, which Journeyman commits itself; they are not part of the change. */
export const isRecord = (name: string) => RECORD.test(name);

export function statOf(patch: string): Stat {
  const stat = { files: 0, added: 0, removed: 0 };
  let counted = false;
  let inHunk = false;
  for (const line of patch.split("\n")) {
    if (line.startsWith("diff --git ")) {
      counted = !isRecord(line.replace(/^diff --git "?a\//, ""));
      inHunk = false;
      if (counted) stat.files += 1;
    } else if (line.startsWith("@@")) {
      inHunk = true;
    } else if (counted && inHunk) {
      if (line.startsWith("+")) stat.added += 1;
      else if (line.startsWith("-")) stat.removed += 1;
    }
  }
  return stat;
}
