import { Clock, X } from "lucide-react";
import { Button } from "@/components/ui/button";
import type { PromptItem } from "@/events/items";

/** Messages that are queued until the running round ends. */
export function Queue({ queue, onWithdraw }: { queue: PromptItem[]; onWithdraw: (number: number) => void }) {
  return (
    <ul aria-label="Queued messages" className="mb-2 flex flex-col gap-1">
      {queue.map((prompt) => (
        <li
          key={prompt.number}
          className="flex items-center gap-2 rounded-md border bg-muted/50 py-1 pr-1 pl-3 text-[13px]"
        >
          <Clock aria-hidden className="size-3.5 shrink-0 text-muted-foreground" />
          <span className="min-w-0 flex-1 truncate">{prompt.text}</span>
          <Button
            look="quiet"
            size="sm"
            aria-label={`Withdraw: ${prompt.text}`}
            onClick={() => onWithdraw(prompt.number)}
          >
            <X />
          </Button>
        </li>
      ))}
    </ul>
  );
}
