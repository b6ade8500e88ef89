/** A line of the timeline: an icon, the text, and the time as a tooltip. */

import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "@/lib/cn";
import { whole } from "@/lib/format";

type Props = { icon: LucideIcon; look?: string; at?: string; spin?: boolean; children: ReactNode };

export function Line({ icon: Icon, look = "text-muted-foreground", at, spin, children }: Props) {
  return (
    <div title={at && whole(at)} className="flex items-start gap-2.5 py-1 text-[13px]">
      <Icon
        aria-hidden
        className={cn("mt-0.5 size-4 shrink-0", look, spin && "animate-spin [animation-duration:2s]")}
      />
      <div className="min-w-0 flex-1 break-words">{children}</div>
    </div>
  );
}

export const Faint = ({ children }: { children: ReactNode }) => (
  <span className="ml-2 text-xs text-muted-foreground">{children}</span>
);
