/** The event feed of an open order: it reduces events into the query cache and invalidates what they changed. */

import { type QueryClient, queryOptions, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { EventMessage, Problem } from "@/api/client";
import { keys } from "@/api/queries";
import { follow } from "./feed";
import { applyEvents, EMPTY, type Transcript } from "./transcript";

const THROTTLE_MS = 300;
/** A hidden page closes its connection: a browser has six per server for all its tabs. */
const HIDDEN_MS = 10_000;

const transcriptOf = (id: string) =>
  queryOptions<Transcript>({
    queryKey: keys.transcript(id),
    // Only the feed writes it: a refresh of everything must not clear it.
    queryFn: skipToken,
    initialData: EMPTY,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 5 * 60_000,
  });

export function useTranscript(id: string): { transcript: Transcript; problem: Problem | null } {
  const client = useQueryClient();
  const visible = useVisible();
  const [problem, setProblem] = useState<Problem | null>(null);
  const { data: transcript = EMPTY } = useQuery(transcriptOf(id));

  useEffect(() => {
    if (!visible) return;
    const stopping = new AbortController();
    const batcher = new EventBatcher(client, id);
    void follow(id, {
      after: client.getQueryData(transcriptOf(id).queryKey)?.last ?? 0,
      signal: stopping.signal,
      onEvents: (events) => batcher.take(events),
      onProblem: setProblem,
    });
    return () => {
      stopping.abort();
      batcher.end();
    };
  }, [client, id, visible]);

  return { transcript, problem };
}

/** Applies events once per frame; the refreshes they cause are throttled. */
class EventBatcher {
  private waiting: EventMessage[] = [];
  private frame = 0;
  private refreshing: ReturnType<typeof setTimeout> | null = null;
  private stale = new Set<string>();

  constructor(
    private client: QueryClient,
    private id: string,
  ) {}

  take(events: EventMessage[]) {
    this.waiting.push(...events);
    this.frame ||= requestAnimationFrame(() => this.show());
    for (const event of events) for (const part of partsChangedBy(event.type)) this.stale.add(part);
    if (this.stale.size) this.refreshing ??= setTimeout(() => this.refresh(), THROTTLE_MS);
  }

  private show() {
    this.frame = 0;
    const events = this.waiting;
    this.waiting = [];
    this.client.setQueryData<Transcript>(keys.transcript(this.id), (transcript) =>
      applyEvents(transcript ?? EMPTY, events),
    );
  }

  private refresh() {
    this.refreshing = null;
    for (const part of this.stale) void this.client.invalidateQueries({ queryKey: keys.part(this.id, part) });
    this.stale.clear();
  }

  end() {
    cancelAnimationFrame(this.frame);
    if (this.waiting.length) this.show();
    if (this.refreshing) {
      clearTimeout(this.refreshing);
      this.refresh();
    }
  }
}

const CHATTER = new Set(["agent_text", "tool_call_started", "tool_call_completed"]);
const PARTS: [RegExp, string][] = [
  [/^(step_|model_call)/, "steps"],
  [/^model_call/, "cost"],
  [/^git_(commit|push|branch_moved)/, "diff"],
  [/^verification_/, "evidence"],
  [/^prompt_/, "prompts"],
  [/^repository_commands_/, "commands"],
  [/^approval_/, "approvals"],
  [/^network_/, "network"],
  [/^github_pull_request|^git_push/, "pull-request"],
];

/** The queries of the order that an event invalidates. */
export function partsChangedBy(type: EventMessage["type"]): string[] {
  if (CHATTER.has(type)) return [];
  return ["order", ...PARTS.filter(([pattern]) => pattern.test(type)).map(([, part]) => part)];
}

/** Debounced: a page that is hidden only for a moment stays visible. */
function useVisible(): boolean {
  const [visible, setVisible] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => setVisible(false), HIDDEN_MS);
      else setVisible(true);
    };
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  return visible;
}
