/**
 * Lazy loading with retries, on demand or ahead while the browser is idle.
 *
 * An import is retried while the server is unreachable. A chunk that is missing while the server responds belongs
 * to an older version, and the page has to be reloaded.
 */

import { type ComponentType, lazy } from "react";
import { api, Problem } from "@/api/client";
import { backoff } from "@/events/feed";

const TRIES_WHILE_THERE = 3;

export class ChunkMissing extends Problem {
  constructor() {
    super(
      0,
      "This part of the page could not be loaded",
      "Journeyman was probably updated. Reload the page.",
    );
  }
}

/** The request also updates the connection store, and so the offline bar. */
const isThere = () =>
  api.GET("/health").then(
    () => true,
    () => false,
  );
const pause = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds));

export async function importWithRetry<T>(
  load: () => Promise<T>,
  { wait = pause, serverIsThere = isThere } = {},
): Promise<T> {
  let tries = 0;
  for (let failures = 1; ; failures++) {
    try {
      return await load();
    } catch {
      if (await serverIsThere()) tries += 1;
      if (tries >= TRIES_WHILE_THERE) throw new ChunkMissing();
      await wait(backoff(failures));
    }
  }
}

const unloaded: (() => Promise<unknown>)[] = [];

/** An import that is retried, and that `preloadAll` loads ahead. */
export function part<T>(load: () => Promise<T>): () => Promise<T> {
  unloaded.push(load);
  return () => importWithRetry(load);
}

// biome-ignore lint/suspicious/noExplicitAny: as React's own lazy has it
export const lazyWithRetry = <T extends ComponentType<any>>(load: () => Promise<{ default: T }>) =>
  lazy(part(load));

const idle = () =>
  new Promise<void>((done) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => done());
    else setTimeout(done, 200);
  });

/** Loads every chunk, one at a time, so that no page needs the server for its code. */
export async function preloadAll(whenIdle = idle) {
  for (let load = unloaded.shift(); load; load = unloaded.shift()) {
    await whenIdle();
    // A failed one is retried when it is needed.
    await load().catch(() => {});
  }
}
