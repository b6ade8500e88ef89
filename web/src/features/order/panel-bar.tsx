/** The tabs of the panels, with badges. */

import { CircleCheck, CircleX, LoaderCircle, Maximize2, Minimize2 } from "lucide-react";
import type { OneOrder, Order } from "@/api/client";
import { Button } from "@/components/ui/button";
import { runningStep } from "@/events/rows";
import type { Transcript } from "@/events/transcript";
import { cn } from "@/lib/cn";
import { PANELS, type Panel } from "@/router";
import { useStat } from "./use-stat";

const NAMES: Record<Panel | "chat", string> = {
  chat: "Chat",
  plan: "Plan",
  changes: "Changes",
  checks: "Checks",
  "pull-request": "Pull request",
  info: "Info",
};

type Props = {
  answer: OneOrder;
  transcript: Transcript;
  current: Panel | "chat";
  onOpen: (panel: Panel | "chat") => void;
  wide?: boolean;
  onWide?: (wide: boolean) => void;
  className?: string;
};

export function PanelBar({ answer, transcript, current, onOpen, wide = false, onWide, className }: Props) {
  const order = answer.agent_work_order;
  // On a small screen the chat is a tab as well.
  const shown = onWide ? PANELS : (["chat", ...PANELS] as const);
  return (
    <div className={cn("flex shrink-0 items-center border-b bg-card pr-2", className)}>
      <nav aria-label="Panels" className="flex min-w-0 flex-1 gap-1 overflow-x-auto px-3 py-1.5">
        {shown.map((panel) => (
          <button
            key={panel}
            type="button"
            data-key={panel === "chat" ? "0" : PANELS.indexOf(panel) + 1}
            aria-current={panel === current ? "page" : undefined}
            onClick={() => onOpen(panel)}
            className={cn(
              "inline-flex shrink-0 items-center gap-1.5 rounded-md px-2.5 py-1.5 text-xs font-medium whitespace-nowrap",
              panel === current ? "bg-accent text-accent-foreground" : "text-muted-foreground hover:bg-muted",
            )}
          >
            {NAMES[panel]}
            {panel === "changes" && <ChangedFiles order={order} />}
            {panel === "checks" && <Verdict order={order} transcript={transcript} />}
          </button>
        ))}
      </nav>
      {onWide && (
        <Button
          look="quiet"
          size="icon"
          data-key="f"
          aria-pressed={wide}
          aria-label={wide ? "Show the chat again" : "Full width"}
          onClick={() => onWide(!wide)}
        >
          {wide ? <Minimize2 /> : <Maximize2 />}
        </Button>
      )}
    </div>
  );
}

function ChangedFiles({ order }: { order: Order }) {
  const stat = useStat(order);
  if (!order.git_commit_count) return null;
  return (
    <span className="h-4 min-w-5 rounded-full bg-muted px-1.5 text-center leading-4 tabular-nums">
      {stat?.files}
      {stat && <span className="sr-only">{stat.files === 1 ? " file" : " files"}</span>}
    </span>
  );
}

const VERDICTS = {
  running: { icon: LoaderCircle, look: "text-info animate-spin [animation-duration:2s]" },
  passed: { icon: CircleCheck, look: "text-success" },
  failed: { icon: CircleX, look: "text-destructive" },
} as const;

/** The verdict, or `running` while the checks run again. */
export const verdictOf = (order: Order, { items }: Transcript): string =>
  order.status === "running" && runningStep(items)?.stepKind === "verify" ? "running" : order.verification;

function Verdict({ order, transcript }: { order: Order; transcript: Transcript }) {
  const verdict = verdictOf(order, transcript);
  const sign = VERDICTS[verdict as keyof typeof VERDICTS];
  if (!sign) return null;
  const { icon: Icon, look } = sign;
  return (
    <>
      <Icon aria-hidden className={cn("size-3.5", look)} />
      <span className="sr-only">{verdict}</span>
    </>
  );
}
