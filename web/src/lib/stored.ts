/** State that is kept in local storage. */

import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
const parsed = new Map<string, { text: string | null; value: unknown }>();

function read<T>(key: string, otherwise: T): T {
  const text = localStorage.getItem(key);
  const known = parsed.get(key);
  if (known && known.text === text) return known.value as T;
  let value: unknown = otherwise;
  try {
    if (text !== null) value = JSON.parse(text);
  } catch {
    localStorage.removeItem(key);
  }
  parsed.set(key, { text, value });
  return value as T;
}

export function store(key: string, value: unknown) {
  localStorage.setItem(key, JSON.stringify(value));
  for (const listener of listeners) listener();
}

export function useStored<T>(name: string, otherwise: T): [T, (value: T) => void] {
  const key = `journeyman.${name}`;
  const value = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      window.addEventListener("storage", listener);
      return () => {
        listeners.delete(listener);
        window.removeEventListener("storage", listener);
      };
    },
    () => read(key, otherwise),
  );
  return [value, (next) => store(key, next)];
}
