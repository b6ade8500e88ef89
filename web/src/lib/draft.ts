/**
 * What somebody is writing, kept for this tab until it is sent: it survives going to another page and a
 * reload, and two tabs do not write into each other.
 *
 * Use it in the place of `useState`, under a name that says where it is written, and set it back when it was sent:
 *
 *     const [text, setText] = useDraft(`reply.${id}`, "");
 *     say.mutate(text, { onSuccess: () => setText("") });
 */

import { useCallback, useSyncExternalStore } from "react";

type Change<T> = T | ((before: T) => T);

const PREFIX = "journeyman.draft.";
/** What is shown; the storage is only for the next load, and may be too small. */
const drafts = new Map<string, unknown>();
const listeners = new Set<() => void>();

function read<T>(name: string, otherwise: T): T {
  if (!drafts.has(name)) drafts.set(name, stored(name));
  return (drafts.get(name) as T | undefined) ?? otherwise;
}

function stored(name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keep a draft from outside of the component that shows it. Null forgets it. */
export function keepDraft(name: string, draft: unknown) {
  drafts.set(name, draft ?? undefined);
  try {
    if (draft === null) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(draft));
  } catch {
    // Too large to be kept over a reload; it is still there on every page until then.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The draft of that name and how to change it; what it is when nothing was written, it is set back to. */
export function useDraft<T>(name: string, otherwise: T): [T, (change: Change<T>) => void] {
  const draft = useSyncExternalStore(subscribe, () => read(name, otherwise));
  const change = useCallback(
    (next: Change<T>) => {
      const made = typeof next === "function" ? (next as (before: T) => T)(read(name, otherwise)) : next;
      keepDraft(name, made === otherwise ? null : made);
    },
    [name, otherwise],
  );
  return [draft, change];
}
