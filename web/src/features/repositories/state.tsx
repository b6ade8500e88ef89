/** The state of a repository's environment, as a pill and in words. */

import { CircleAlert, CircleCheck, CircleDashed, LoaderCircle, type LucideIcon } from "lucide-react";
import type { Repository } from "@/api/client";
import { cn } from "@/lib/cn";
import { ago } from "@/lib/format";

type State = Repository["environment_state"];

const LOOKS: Record<State, { icon: LucideIcon; word: string; look: string }> = {
  unknown: { icon: CircleDashed, word: "Not checked", look: "text-muted-foreground bg-muted" },
  checking: { icon: LoaderCircle, word: "Checking", look: "text-info bg-info/10" },
  ready: { icon: CircleCheck, word: "Ready", look: "text-success bg-success/10" },
  needs_attention: { icon: CircleAlert, word: "Needs attention", look: "text-warning bg-warning/12" },
};

export function StatePill({ state, tried }: { state: State; tried?: boolean }) {
  const { icon: Icon, word, look } = LOOKS[state];
  return (
    <span
      className={cn(
        "inline-flex shrink-0 items-center gap-1.5 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap",
        look,
      )}
    >
      <Icon
        aria-hidden
        className={cn("size-3.5", state === "checking" && "animate-spin [animation-duration:2s]")}
      />
      {tried ? "Tried" : word}
    </span>
  );
}

/** What stands beside the pill: why, or since when. */
export function stateDetail(repository: Repository | null, now: number): string {
  const checked = repository?.checked_at && ago(repository.checked_at, now);
  switch (repository?.environment_state) {
    case "ready":
      return checked ? `Checked ${checked}` : "";
    case "checking":
      return "Installing what it needs and running its checks";
    case "needs_attention":
      return repository.attention ?? "See the last check";
    default:
      return checked ? "Not checked as it is now" : "Not checked yet";
  }
}

/** One line about the environment, for where an order is started. */
export function stateLine(repository: Repository | null, now: number): string {
  const detail = stateDetail(repository, now);
  switch (repository?.environment_state) {
    case "ready":
      return detail ? `Ready · ${detail.toLowerCase()}` : "Ready";
    case "checking":
      return "Checking now";
    case "needs_attention":
      return `Needs attention: ${detail}`;
    default:
      return detail;
  }
}
