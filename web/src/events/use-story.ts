/** The one feed of an open order: it tells the story into the query cache and marks what it made stale. */

import { type QueryClient, queryOptions, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { EventMessage, Problem } from "@/api/client";
import { keys } from "@/api/queries";
import { follow } from "./feed";
import { EMPTY, type Story, tell } from "./story";

const BETWEEN_REFRESHES_MS = 300;
/** A page that nobody looks at gives its connection back: a browser has six for all its tabs. */
const HIDDEN_MS = 10_000;

const storyOf = (id: string) =>
  queryOptions<Story>({
    queryKey: keys.story(id),
    // Only the feed writes it: whoever refreshes everything must not empty it.
    queryFn: skipToken,
    initialData: EMPTY,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 5 * 60_000,
  });

export function useStory(id: string): { story: Story; problem: Problem | null } {
  const client = useQueryClient();
  const visible = useVisible();
  const [problem, setProblem] = useState<Problem | null>(null);
  const { data: story = EMPTY } = useQuery(storyOf(id));

  useEffect(() => {
    if (!visible) return;
    const stopping = new AbortController();
    const teller = new Teller(client, id);
    void follow(id, {
      after: client.getQueryData(storyOf(id).queryKey)?.last ?? 0,
      signal: stopping.signal,
      onEvents: (events) => teller.take(events),
      onProblem: setProblem,
    });
    return () => {
      stopping.abort();
      teller.end();
    };
  }, [client, id, visible]);

  return { story, problem };
}

/** Takes events in as they come and shows them once a frame. */
class Teller {
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
    if (this.stale.size) this.refreshing ??= setTimeout(() => this.refresh(), BETWEEN_REFRESHES_MS);
  }

  private show() {
    this.frame = 0;
    const events = this.waiting;
    this.waiting = [];
    this.client.setQueryData<Story>(keys.story(this.id), (story) => tell(story ?? EMPTY, events));
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
  [/^github_pull_request|^git_push/, "pull-request"],
];

/** Which readings of the order an event makes stale. */
export function partsChangedBy(type: EventMessage["type"]): string[] {
  if (CHATTER.has(type)) return [];
  return ["order", ...PARTS.filter(([pattern]) => pattern.test(type)).map(([, part]) => part)];
}

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
