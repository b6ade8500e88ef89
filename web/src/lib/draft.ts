/**
 * Drafts: text that is kept for this tab until it is sent. They survive navigation and a reload, and tabs do not
 * share them.
 *
 * Use it instead of `useState`, with a unique name, and reset it when it was sent:
 *
 *     const [text, setText] = useDraft(`reply.${id}`, "");
 *     prompt.mutate(text, { onSuccess: () => setText("") });
 */

import { useCallback, useSyncExternalStore } from "react";

type Change<T> = T | ((before: T) => T);

const PREFIX = "journeyman.draft.";
/** The current drafts; the storage is only for the next load, and may be full. */
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

/** Sets a draft from outside of its component. Null removes it. */
export function keepDraft(name: string, draft: unknown) {
  drafts.set(name, draft ?? undefined);
  try {
    if (draft === null) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(draft));
  } catch {
    // Too large for the storage; it is kept until the next reload.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The draft of that name and its setter; setting it to the default removes it. */
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
