/** One thing that happened, on one line where that is enough. */

import {
  Ban,
  Box,
  CheckCheck,
  CircleCheck,
  CircleDot,
  CircleSlash,
  CircleX,
  GitBranch,
  GitCommitHorizontal,
  GitPullRequest,
  Hand,
  Info,
  ListChecks,
  LoaderCircle,
  type LucideIcon,
  MessageCircleQuestion,
  RotateCw,
  TriangleAlert,
} from "lucide-react";
import { memo, type ReactNode } from "react";
import { ForgeLink } from "@/components/forge-link";
import { Prose } from "@/components/prose";
import type {
  ApprovalItem,
  ChecksItem,
  Item,
  PromptItem,
  RetryItem,
  StepItem,
  SystemItem,
} from "@/events/story";
import { cn } from "@/lib/cn";
import { clock, commit, duration } from "@/lib/format";
import { useNow } from "@/lib/now";
import { FailureNote } from "./failure";
import { ToolCall } from "./tool-call";

export const ItemView = memo(function ItemView({ item }: { item: Item }) {
  switch (item.kind) {
    case "text":
      return <Prose text={item.text} className="py-1.5" />;
    case "tool":
      return <ToolCall item={item} />;
    case "prompt":
      return <PromptView prompt={item} />;
    case "phase":
      return <PhaseView phase={item.phase} />;
    case "step":
      return <StepView item={item} />;
    case "retry":
      return <RetryView item={item} />;
    case "checks":
      return <ChecksView item={item} />;
    case "approval":
      return <ApprovalView item={item} />;
    case "failure":
      return <FailureNote item={item} />;
    case "system":
      return <SystemView item={item} />;
  }
});

type LineProps = { icon: LucideIcon; look?: string; at?: string; spin?: boolean; children: ReactNode };

function Line({ icon: Icon, look = "text-muted-foreground", at, spin, children }: LineProps) {
  return (
    <div className="flex items-start gap-2.5 py-1 text-[13px]">
      <Icon
        aria-hidden
        className={cn("mt-0.5 size-4 shrink-0", look, spin && "animate-spin [animation-duration:2s]")}
      />
      <div className="min-w-0 flex-1 break-words">{children}</div>
      {at && (
        <time className="shrink-0 text-xs text-muted-foreground tabular-nums max-sm:hidden">{clock(at)}</time>
      )}
    </div>
  );
}

const Faint = ({ children }: { children: ReactNode }) => (
  <span className="ml-2 text-xs text-muted-foreground">{children}</span>
);

export function PromptView({ prompt }: { prompt: Pick<PromptItem, "text" | "mode" | "at"> }) {
  return (
    <div className="my-4 flex justify-end">
      <div className="max-w-[85%] rounded-2xl rounded-br-sm bg-accent px-4 py-2.5 text-accent-foreground">
        {prompt.mode === "ask" && (
          <p className="mb-1 flex items-center gap-1 text-xs opacity-80">
            <MessageCircleQuestion aria-hidden className="size-3.5" /> Question
          </p>
        )}
        <p className="break-words whitespace-pre-wrap">{prompt.text}</p>
      </div>
    </div>
  );
}

function PhaseView({ phase }: { phase: string }) {
  return (
    <div className="mt-5 mb-2 flex items-center gap-3">
      <h2 className="text-xs font-semibold tracking-wide text-muted-foreground uppercase">{phase}</h2>
      <div aria-hidden className="h-px flex-1 bg-border" />
    </div>
  );
}

const STEPS: Record<StepItem["state"], { icon: LucideIcon; look: string }> = {
  running: { icon: LoaderCircle, look: "text-info" },
  completed: { icon: CircleCheck, look: "text-success" },
  failed: { icon: CircleX, look: "text-destructive" },
  skipped: { icon: CircleSlash, look: "text-muted-foreground" },
  stopped: { icon: Ban, look: "text-muted-foreground" },
};

function StepView({ item }: { item: StepItem }) {
  const { icon, look } = STEPS[item.state];
  return (
    <Line icon={icon} look={look} at={item.at} spin={item.state === "running"}>
      <span className="font-medium">{item.step}</span>
      {item.attempt > 1 && <Faint>attempt {item.attempt}</Faint>}
      <Faint>
        {item.state}
        {item.seconds !== null && ` · ${duration(item.seconds)}`}
      </Faint>
      {item.note && <p className="text-xs text-muted-foreground">{item.note}</p>}
    </Line>
  );
}

function RetryView({ item: { event, at, over } }: { item: RetryItem }) {
  return (
    <Line icon={RotateCw} look="text-warning" at={at}>
      Trying {event.step} again, attempt {event.attempt}
      {!over && <Countdown until={new Date(at).getTime() + event.wait_seconds * 1000} />}
      <p className="text-xs text-muted-foreground">
        {event.error_category}: {event.error_message}
      </p>
    </Line>
  );
}

function Countdown({ until }: { until: number }) {
  const left = Math.max(0, Math.ceil((until - useNow()) / 1000));
  return <Faint>{left ? `in ${left} s` : "now"}</Faint>;
}

const VERDICTS = { true: CircleCheck, false: CircleX, null: CircleDot } as const;

function ChecksView({ item: { event, at } }: { item: ChecksItem }) {
  const look = { true: "text-success", false: "text-destructive", null: "text-muted-foreground" };
  const verdict = String(event.passed) as keyof typeof VERDICTS;
  return (
    <Line icon={VERDICTS[verdict]} look={look[verdict]} at={at}>
      <span className="font-medium">Checks, attempt {event.attempt}</span>
      <Faint>{commit(event.commit_sha)}</Faint>
      <p className="text-muted-foreground">{event.summary}</p>
    </Line>
  );
}

function ApprovalView({ item }: { item: ApprovalItem }) {
  const words = {
    waiting: "Waits for approval",
    approved: "Approved",
    rejected: "Rejected",
    rework: "Sent back",
  };
  return (
    <Line
      icon={Hand}
      look={item.decision === "waiting" ? "text-warning" : "text-muted-foreground"}
      at={item.at}
    >
      {words[item.decision]}: <span className="font-medium">{item.step}</span>
      <Faint>on {commit(item.commit)}</Faint>
      {item.comment && <p className="text-muted-foreground">“{item.comment}”</p>}
    </Line>
  );
}

const SIGNS: Record<SystemItem["sign"], { icon: LucideIcon; look?: string }> = {
  sandbox: { icon: Box },
  branch: { icon: GitBranch },
  commit: { icon: GitCommitHorizontal },
  pull_request: { icon: GitPullRequest, look: "text-success" },
  issue: { icon: CircleDot },
  subtask: { icon: ListChecks, look: "text-primary" },
  notice: { icon: TriangleAlert, look: "text-warning" },
  state: { icon: Info },
  done: { icon: CheckCheck, look: "text-success" },
};

function SystemView({ item }: { item: SystemItem }) {
  const { icon, look } = SIGNS[item.sign];
  return (
    <Line icon={icon} look={look} at={item.at}>
      {item.href ? <ForgeLink url={item.href}>{item.text}</ForgeLink> : <span>{item.text}</span>}
      {item.detail && <Faint>{item.detail}</Faint>}
      {item.seconds !== undefined && <Faint>{duration(item.seconds)}</Faint>}
    </Line>
  );
}
