/** An inline confirmation before an action that cannot be undone. The safe button has the focus; Escape presses it. */

import { useEffect, useRef } from "react";
import { Button } from "./button";

type Props = {
  question: string;
  /** What happens, and what is kept. */
  detail?: string;
  /** The label of the button that confirms. */
  act: string;
  keep?: string;
  busy?: boolean;
  onAct: () => void;
  onKeep: () => void;
};

export function Confirm({ question, detail, act, keep = "Keep it", busy, onAct, onKeep }: Props) {
  const safe = useRef<HTMLButtonElement>(null);
  useEffect(() => safe.current?.focus(), []);
  return (
    <div
      role="alertdialog"
      aria-label={question}
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-destructive/40 bg-card px-4 py-3"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onKeep();
      }}
    >
      <p className="min-w-48 flex-1">
        <span className="font-medium">{question}</span>
        {detail && <span className="block text-[13px] text-muted-foreground">{detail}</span>}
      </p>
      <span className="flex gap-2">
        <Button ref={safe} size="sm" onClick={onKeep}>
          {keep}
        </Button>
        <Button size="sm" look="danger" disabled={busy} onClick={onAct}>
          {act}
        </Button>
      </span>
    </div>
  );
}
