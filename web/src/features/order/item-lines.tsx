/** Timeline items that take one line. */

import {
  Ban,
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
  TriangleAlert,
  Unplug,
} from "lucide-react";
import { ForgeLink } from "@/components/forge-link";
import type { ApprovalItem, ChecksItem, StepItem, SubtaskItem, SystemItem } from "@/events/items";
import { commit, duration } from "@/lib/format";
import { Faint, Line } from "./line";
import { isNotable, title } from "./words";

type Sign = { icon: LucideIcon; look?: string };

const STEPS: Record<StepItem["state"], Sign> = {
  running: { icon: LoaderCircle, look: "text-info" },
  completed: { icon: CircleCheck },
  failed: { icon: CircleX, look: "text-destructive" },
  skipped: { icon: CircleSlash },
  stopped: { icon: Ban },
  interrupted: { icon: Unplug },
};

export function StepLine({ item }: { item: StepItem }) {
  const { icon, look } = STEPS[item.state];
  return (
    <Line icon={icon} look={look} at={item.at} spin={item.state === "running"}>
      <span className="font-medium">{title(item.step)}</span>
      {item.state !== "completed" && <Faint>{item.state}</Faint>}
      {isNotable(item.seconds) && <Faint>{duration(item.seconds)}</Faint>}
      {item.note && <p className="text-xs text-muted-foreground">{item.note}</p>}
    </Line>
  );
}

const SUBTASKS: Record<SubtaskItem["state"], Sign> = {
  running: { icon: ListChecks, look: "text-primary" },
  done: { icon: CircleCheck },
  stopped: { icon: Ban },
  interrupted: { icon: Unplug },
};

export function SubtaskLine({ item }: { item: SubtaskItem }) {
  const { icon, look } = SUBTASKS[item.state];
  return (
    <Line icon={icon} look={look} at={item.at}>
      <span className="font-medium">{item.title}</span>
      {item.place && <Faint>{item.place}</Faint>}
      {item.commit && <Faint>{commit(item.commit)}</Faint>}
      {(item.state === "stopped" || item.state === "interrupted") && <Faint>{item.state}</Faint>}
    </Line>
  );
}

const VERDICTS = {
  true: { icon: CircleCheck, look: "text-success", word: "Checks passed" },
  false: { icon: CircleX, look: "text-destructive", word: "Checks failed" },
  null: { icon: CircleDot, look: "text-muted-foreground", word: "Not verified" },
};

export function ChecksLine({ item: { event, at } }: { item: ChecksItem }) {
  const { icon, look, word } = VERDICTS[String(event.passed) as keyof typeof VERDICTS];
  return (
    <Line icon={icon} look={look} at={at}>
      <span className="font-medium">{word}</span>
      {event.attempt > 1 && <Faint>attempt {event.attempt}</Faint>}
      <Faint>{commit(event.commit_sha)}</Faint>
      <p className="text-muted-foreground">{event.summary.replace(/^not verified: /, "")}</p>
    </Line>
  );
}

const DECISIONS: Record<ApprovalItem["decision"], string> = {
  waiting: "Waiting for approval",
  approved: "Approved",
  rejected: "Rejected",
  rework: "Sent back for rework",
};

export function ApprovalLine({ item }: { item: ApprovalItem }) {
  const look = item.decision === "waiting" ? "text-warning" : undefined;
  return (
    <Line icon={Hand} look={look} at={item.at}>
      {DECISIONS[item.decision]}: <span className="font-medium">{title(item.step)}</span>
      <Faint>at {commit(item.commit)}</Faint>
      {item.comment && <p className="text-muted-foreground">“{item.comment}”</p>}
    </Line>
  );
}

const SIGNS: Record<SystemItem["sign"], Sign> = {
  branch: { icon: GitBranch },
  commit: { icon: GitCommitHorizontal },
  pull_request: { icon: GitPullRequest },
  issue: { icon: CircleDot },
  plan: { icon: ListChecks },
  notice: { icon: TriangleAlert, look: "text-warning" },
  state: { icon: Info },
  done: { icon: CheckCheck, look: "text-success" },
};

export function SystemLine({ item }: { item: SystemItem }) {
  const { icon, look } = SIGNS[item.sign];
  return (
    <Line icon={icon} look={look} at={item.at}>
      {item.href ? <ForgeLink url={item.href}>{item.text}</ForgeLink> : <span>{item.text}</span>}
      {item.detail && <Faint>{item.detail}</Faint>}
    </Line>
  );
}
