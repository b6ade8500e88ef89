import { describe, expect, it } from "vitest";
import type { Problem } from "@/api/client";
import { backoff, follow, inSequence } from "@/events/feed";
import { said } from "./events";

const numbers = (events: { sequence: number }[]) => events.map(({ sequence }) => sequence);

describe("the sequence", () => {
  it("drops what was seen before", () => {
    expect(numbers(inSequence([said(3), said(4), said(5)], 4).fresh)).toEqual([5]);
  });

  it("stops at a hole instead of skipping it", () => {
    const { fresh, hole } = inSequence([said(5), said(7)], 4);
    expect(numbers(fresh)).toEqual([5]);
    expect(hole).toBe(true);
  });
});

it("waits longer after each failure, and never longer than eight seconds", () => {
  const waits = [1, 2, 3, 4, 5, 6, 20].map((failures) => backoff(failures, 1));
  expect(waits).toEqual([400, 800, 1600, 3200, 6400, 8000, 8000]);
});

const stream = (...events: { sequence: number }[]) =>
  new Response(events.map((event) => `id: ${event.sequence}\ndata: ${JSON.stringify(event)}\n\n`).join(""));

/** Follow through these answers, one for each connection, and say what was seen and asked for. */
async function followed(answers: (Response | Error)[]) {
  const seen: number[] = [];
  const asked: (string | null)[] = [];
  const problems: Problem[] = [];
  const stopping = new AbortController();
  await follow("wo-00000000", {
    after: 0,
    signal: stopping.signal,
    onEvents: (events) => seen.push(...numbers(events)),
    onProblem: (problem) => problems.push(problem),
    wait: async () => {
      if (!answers.length) stopping.abort();
    },
    fetch: async (_address, options) => {
      asked.push(new Headers(options?.headers).get("Last-Event-ID"));
      const answer = answers.shift() ?? new Error("nobody is there");
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  return { seen, asked, problems };
}

/** A stream that breaks in the middle, as one of a killed server does. */
function broken(...events: { sequence: number }[]) {
  let sent = false;
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(
    new ReadableStream({
      pull(controller) {
        if (sent) controller.error(new TypeError("network error"));
        else controller.enqueue(new TextEncoder().encode(text));
        sent = true;
      },
    }),
  );
}

it("goes on after the last event when the connection breaks, without a gap or a repetition", async () => {
  const { seen, asked } = await followed([
    broken(said(1), said(2)),
    new TypeError("network error"),
    stream(said(2), said(3)),
  ]);
  expect(seen).toEqual([1, 2, 3]);
  expect(asked).toEqual(["0", "2", "2"]);
});

it("asks again from the hole when events are missing", async () => {
  const { seen, asked } = await followed([stream(said(1), said(3)), stream(said(2), said(3))]);
  expect(seen).toEqual([1, 2, 3]);
  expect(asked).toEqual(["0", "1"]);
});

it("gives up when the server refuses, and says why", async () => {
  const refusal = Response.json(
    { detail: "there is no such work order", hint: "list them" },
    { status: 404 },
  );
  const { asked, problems } = await followed([refusal, stream(said(1))]);
  expect(asked).toEqual(["0"]);
  expect(problems[0]?.detail).toBe("there is no such work order");
});
