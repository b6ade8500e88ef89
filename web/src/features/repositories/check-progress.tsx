/** How far a check is, from the events of its order. */

import { Link } from "@tanstack/react-router";
import { LoaderCircle } from "lucide-react";
import { Card } from "@/components/page";
import { useTranscript } from "@/events/use-transcript";

const LAST = 5;

export function CheckProgress({ id }: { id: string }) {
  const { transcript } = useTranscript(id);
  const lines = transcript.items.filter((item) => item.kind === "system").slice(-LAST);
  return (
    <Card className="p-4">
      <div className="flex items-center gap-2">
        <LoaderCircle aria-hidden className="size-4 animate-spin text-info" />
        <h2 className="flex-1 font-medium">Check in progress</h2>
        <Link to="/orders/$id" params={{ id }} className="text-primary hover:underline">
          Details
        </Link>
      </div>
      <ol
        aria-live="polite"
        aria-label="Progress"
        className="mt-2 min-h-25 text-[13px] text-muted-foreground"
      >
        {lines.map((line) => (
          <li key={line.key} className="truncate leading-5">
            {line.text}
            {line.detail && ` · ${line.detail}`}
          </li>
        ))}
      </ol>
    </Card>
  );
}
