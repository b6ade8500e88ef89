import { Send } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Confirm } from "@/components/ui/confirm";
import { plural } from "@/lib/format";
import { type Comment, promptOf } from "./review";
import { useControl } from "./use-control";

type Props = { id: string; comments: Comment[]; onEmpty: () => void };

/** The bar that sends all pending comments together. */
export function SendComments({ id, comments, onEmpty }: Props) {
  const { prompt } = useControl(id);
  const [asking, setAsking] = useState(false);
  const many = plural(comments.length, "comment");
  if (asking) {
    return (
      <div className="sticky bottom-3 mt-3 shadow-lg">
        <Confirm
          question={`Discard ${many}?`}
          act="Discard"
          keep="Keep"
          onAct={onEmpty}
          onKeep={() => setAsking(false)}
        />
      </div>
    );
  }
  const send = () => prompt.mutate({ text: promptOf(comments), mode: "work" }, { onSuccess: onEmpty });
  return (
    <div className="sticky bottom-3 mt-3 flex items-center gap-3 rounded-lg border bg-popover px-4 py-2.5 shadow-lg">
      <span className="flex-1 font-medium">{many}</span>
      <Button size="sm" look="quiet" onClick={() => setAsking(true)}>
        Discard
      </Button>
      <Button size="sm" look="primary" disabled={prompt.isPending} onClick={send}>
        <Send /> Send to agent
      </Button>
    </div>
  );
}
