/**
 * The event stream of an order, resumed after the last sequence number that was seen.
 *
 * A reconnecting reader misses nothing and sees nothing twice: sequence numbers are dense, and a gap means that
 * the connection lost events.
 */

import { createParser } from "eventsource-parser";
import { type EventMessage, Problem } from "@/api/client";
import { reached, unreachable } from "./connection";

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 8_000;
/** The server sends a keepalive every 15 s. */
const SILENCE_MS = 40_000;

export type FeedOptions = {
  after: number;
  signal: AbortSignal;
  onEvents: (events: EventMessage[]) => void;
  onProblem: (problem: Problem) => void;
  /** Waits before a retry; ends early when aborted. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  fetch?: typeof fetch;
};

export async function follow(orderId: string, options: FeedOptions): Promise<void> {
  const { signal, wait = waitOrOnline } = options;
  // Kept across connections: a broken one may have delivered events.
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

/** The events that directly follow `last`; known ones are dropped, and a gap is reported. */
export function inSequence(batch: EventMessage[], last: number) {
  const fresh: EventMessage[] = [];
  for (const event of batch) {
    const expected = (fresh.at(-1)?.sequence ?? last) + 1;
    if (event.sequence > expected) return { fresh, hole: true };
    if (event.sequence === expected) fresh.push(event);
  }
  return { fresh, hole: false };
}

/** A 4xx is a Problem and final; any other error is retried. */
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
