/** What a change did to single tests of a check, list by list. */

import { Disclosure } from "@/components/disclosure";

const LISTS = {
  new_failures: "New failures",
  still_failing: "Still failing, and named in the task",
  old_failures: "Failed before the change, too",
  fixed: "Fixed",
  flaky: "Flaky: failed, then passed on the same files",
  removed: "Ran before, and no longer",
  newly_skipped: "Passed before, and skipped now",
} as const;

export type TestList = keyof typeof LISTS;

export function Tests({ check }: { check: Partial<Record<TestList, string[]>> & { name?: string } }) {
  const lists = (Object.keys(LISTS) as TestList[]).filter((list) => check[list]?.length);
  return lists.map((list) => (
    <Disclosure
      key={list}
      title={`${LISTS[list]} (${check[list]?.length})`}
      of={check.name}
      initiallyOpen={list === "new_failures" || list === "still_failing"}
    >
      <ul className="mt-1 max-h-64 overflow-y-auto rounded-md border bg-muted/60 px-3 py-2">
        {check[list]?.map((test) => (
          <li key={test} className="font-mono text-xs break-all">
            {test}
          </li>
        ))}
      </ul>
    </Disclosure>
  ));
}
