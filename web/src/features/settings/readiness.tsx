import { CircleCheck, CircleDashed } from "lucide-react";

type Props = { name: string; ready: boolean; children?: string };

/** Whether one thing is ready, and a note. */
export function Readiness({ name, ready, children }: Props) {
  return (
    <div className="flex items-start gap-2.5 px-4 py-2 text-[13px]">
      {ready ? (
        <CircleCheck aria-label="ready" className="mt-0.5 size-4 shrink-0 text-success" />
      ) : (
        <CircleDashed aria-label="not ready" className="mt-0.5 size-4 shrink-0 text-muted-foreground" />
      )}
      <span className="w-44 shrink-0 break-words">{name}</span>
      <span className="min-w-0 text-muted-foreground">{children}</span>
    </div>
  );
}
