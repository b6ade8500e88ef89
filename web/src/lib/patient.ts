/**
 * Parts of the program that are loaded when they are first needed, or before, while the browser is idle.
 *
 * Somebody may need one just when the server is away: it is asked for again until it comes. One that is
 * missing while the server answers is gone for good, with the version it belonged to.
 */

import { type ComponentType, lazy } from "react";
import { api, Problem } from "@/api/client";
import { backoff } from "@/events/feed";

const TRIES_WHILE_THERE = 3;

export class PartMissing extends Problem {
  constructor() {
    super(
      0,
      "This part of the page could not be loaded",
      "Journeyman was probably updated. Reload the page.",
    );
  }
}

/** Asking also tells the connection, and so the person, that the server is away. */
const isThere = () =>
  api.GET("/health").then(
    () => true,
    () => false,
  );
const pause = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds));

export async function patiently<T>(
  load: () => Promise<T>,
  { wait = pause, serverIsThere = isThere } = {},
): Promise<T> {
  let tries = 0;
  for (let failures = 1; ; failures++) {
    try {
      return await load();
    } catch {
      if (await serverIsThere()) tries += 1;
      if (tries >= TRIES_WHILE_THERE) throw new PartMissing();
      await wait(backoff(failures));
    }
  }
}

const unloaded: (() => Promise<unknown>)[] = [];

/** A part that can be loaded now or ahead of time. */
export function part<T>(load: () => Promise<T>): () => Promise<T> {
  unloaded.push(load);
  return () => patiently(load);
}

// biome-ignore lint/suspicious/noExplicitAny: as React's own lazy has it
export const patient = <T extends ComponentType<any>>(load: () => Promise<{ default: T }>) =>
  lazy(part(load));

const idle = () =>
  new Promise<void>((done) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => done());
    else setTimeout(done, 200);
  });

/** Load every part, one at a time, and those that they bring, so that no page needs the server for its program. */
export async function loadAhead(whenIdle = idle) {
  for (let load = unloaded.shift(); load; load = unloaded.shift()) {
    await whenIdle();
    // One that does not come now is asked for again when it is needed.
    await load().catch(() => {});
  }
}
