/**
 * An order's events as they happen: read from the stream, resumed after the last number that was seen.
 *
 * A reader that comes back misses nothing and sees nothing twice: events are taken in their dense
 * sequence, and a hole in it means that the connection, not the order, lost something.
 */

import { createParser } from "eventsource-parser";
import { type EventMessage, Problem } from "@/api/client";
import { reached, unreachable } from "./connection";

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 8_000;
/** The server says something at least every 15 s, if only that it is there. */
const SILENCE_MS = 40_000;

export type FeedOptions = {
  after: number;
  signal: AbortSignal;
  onEvents: (events: EventMessage[]) => void;
  onProblem: (problem: Problem) => void;
  /** How to wait before another try; ends early when the signal does. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  fetch?: typeof fetch;
};

export async function follow(orderId: string, options: FeedOptions): Promise<void> {
  const { signal, wait = waitOrOnline } = options;
  // Kept outside of the reading: a connection that breaks has brought events too.
  const place = { last: options.after };
  let failures = 0;
  while (!signal.aborted) {
    try {
      await readOnce(orderId, place, options, () => {
        failures = 0;
      });
    } catch (fault) {
      if (signal.aborted) return;
      if (fault instanceof Problem) {
        options.onProblem(fault);
        return;
      }
      unreachable();
    }
    failures += 1;
    await wait(backoff(failures), signal);
  }
}

export const backoff = (failures: number, random = Math.random()) =>
  Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)) * (0.75 + random / 4);

async function readOnce(
  orderId: string,
  place: { last: number },
  options: FeedOptions,
  onOpen: () => void,
): Promise<void> {
  const ending = new AbortController();
  const stop = () => ending.abort();
  options.signal.addEventListener("abort", stop);
  let silence = setTimeout(stop, SILENCE_MS);
  try {
    const answer = await (options.fetch ?? fetch)(`/api/agent-work-orders/${orderId}/events`, {
      headers: { Accept: "text/event-stream", "Last-Event-ID": String(place.last) },
      signal: ending.signal,
    });
    if (!answer.ok || !answer.body) throw await refusalOf(answer);
    reached();
    onOpen();
    let batch: EventMessage[] = [];
    const parser = createParser({
      onEvent: ({ data }) => batch.push(JSON.parse(data) as EventMessage),
    });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(stop, SILENCE_MS);
      parser.feed(value);
      const { fresh, hole } = inSequence(batch, place.last);
      batch = [];
      place.last = fresh.at(-1)?.sequence ?? place.last;
      if (fresh.length) options.onEvents(fresh);
      reached();
      if (hole) return;
    }
  } finally {
    clearTimeout(silence);
    options.signal.removeEventListener("abort", stop);
    ending.abort();
  }
}

/** The events that follow directly on `last`; those seen before are dropped, and nothing is skipped. */
export function inSequence(batch: EventMessage[], last: number) {
  const fresh: EventMessage[] = [];
  for (const event of batch) {
    const expected = (fresh.at(-1)?.sequence ?? last) + 1;
    if (event.sequence > expected) return { fresh, hole: true };
    if (event.sequence === expected) fresh.push(event);
  }
  return { fresh, hole: false };
}

/** A refusal that will not change is a Problem; a fault of the moment is any other error. */
async function refusalOf(answer: Response): Promise<Error> {
  if (answer.status >= 500) return new Error(`the stream answered ${answer.status}`);
  const body = await answer.json().catch(() => ({}));
  return new Problem(answer.status, body.detail ?? `The stream answered ${answer.status}`, body.hint);
}

function waitOrOnline(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    window.addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}
