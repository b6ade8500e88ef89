/** Events as the server sends them. */

import type { EventMessage } from "@/api/client";

type Fields = Record<string, unknown> & { type: EventMessage["type"] };

export const event = (sequence: number, fields: Fields) =>
  ({
    agent_work_order_id: "wo-00000000",
    sequence,
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, sequence)).toISOString(),
    ...fields,
  }) as EventMessage;

export const said = (sequence: number, text = "word ", step = "build") =>
  event(sequence, { type: "agent_text", step, text });

/** These, numbered from 1. */
export const eventsOf = (...all: Fields[]) => all.map((fields, index) => event(index + 1, fields));
