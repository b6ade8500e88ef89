/**
 * A part of the program that is loaded when it is first needed, by somebody who may just then have lost
 * the server: it is asked for again until it comes. One that is missing while the server answers is gone
 * for good, with the version it belonged to.
 */

import { type ComponentType, lazy } from "react";
import { isLost } from "@/events/connection";
import { backoff } from "@/events/feed";

const TRIES_WHILE_THERE = 3;

export async function patiently<T>(
  load: () => Promise<T>,
  wait = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds)),
): Promise<T> {
  let tries = 0;
  for (let failures = 1; ; failures++) {
    try {
      return await load();
    } catch (fault) {
      if (!isLost()) tries += 1;
      if (tries >= TRIES_WHILE_THERE) throw fault;
      await wait(backoff(failures));
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: as React's own lazy has it
export const patient = <T extends ComponentType<any>>(load: () => Promise<{ default: T }>) =>
  lazy(() => patiently(load));
