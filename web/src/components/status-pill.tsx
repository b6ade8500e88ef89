import {
  Ban,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleX,
  Hand,
  LoaderCircle,
  type LucideIcon,
} from "lucide-react";
import type { Status } from "@/api/client";
import { cn } from "@/lib/cn";

const LOOKS: Record<Status, { icon: LucideIcon; word: string; look: string }> = {
  pending: { icon: CircleDashed, word: "Pending", look: "text-muted-foreground bg-muted" },
  running: { icon: LoaderCircle, word: "Running", look: "text-info bg-info/10" },
  paused: { icon: CirclePause, word: "Paused", look: "text-muted-foreground bg-muted" },
  awaiting_approval: { icon: Hand, word: "Awaiting approval", look: "text-warning bg-warning/12" },
  completed: { icon: CircleCheck, word: "Completed", look: "text-success bg-success/10" },
  failed: { icon: CircleX, word: "Failed", look: "text-destructive bg-destructive/10" },
  cancelled: { icon: Ban, word: "Cancelled", look: "text-muted-foreground bg-muted" },
};

export const STATUSES = Object.keys(LOOKS) as Status[];
export const statusWord = (status: Status) => LOOKS[status].word;

type Props = { status: Status; phase?: string | null; className?: string };

/** The status, with the phase of a running order. */
export function StatusPill({ status, phase, className }: Props) {
  const { icon: Icon, word, look } = LOOKS[status];
  const doing = status === "running" && phase && phase !== "completed" ? phase : null;
  return (
    <span
      className={cn(
        "inline-flex shrink-0 items-center gap-1.5 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap",
        look,
        className,
      )}
    >
      <Icon
        aria-hidden
        className={cn("size-3.5", status === "running" && "animate-spin [animation-duration:2s]")}
      />
      {doing ? `${word} · ${doing}` : word}
    </span>
  );
}
