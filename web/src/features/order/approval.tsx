/** A step waits for a person: what it is about, and the two answers. A and R are their keys. */

import { Check, Hand, X } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Textarea } from "@/components/ui/field";
import { isTyping } from "@/layout/keys";
import { commit } from "@/lib/format";
import { useControl } from "./use-control";

type Props = { id: string; step: string; commitSha: string; keys?: boolean };

export function ApprovalBox({ id, step, commitSha, keys = false }: Props) {
  const { decide } = useControl(id);
  const [asking, setAsking] = useState<"approve" | "reject" | null>(null);
  const [comment, setComment] = useState("");

  useEffect(() => {
    if (!keys) return;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "a") setAsking("approve");
      if (event.key === "r") setAsking("reject");
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [keys]);

  const send = (rework = false) => {
    if (asking)
      decide.mutate({ step, decision: asking, comment, rework }, { onSuccess: () => setAsking(null) });
  };

  return (
    <section aria-label="Approval" className="rounded-lg border border-warning/50 bg-warning/8 p-4">
      <p className="flex items-center gap-2 font-medium">
        <Hand aria-hidden className="size-4 text-warning" /> {step} waits for your decision
      </p>
      <p className="mt-1 text-[13px] text-muted-foreground">
        It begins when you agree to what the branch holds at {commit(commitSha)}.
      </p>
      <div className="mt-3 flex gap-2">
        <Button look="primary" size="sm" onClick={() => setAsking("approve")}>
          <Check /> Approve
        </Button>
        <Button look="danger" size="sm" onClick={() => setAsking("reject")}>
          <X /> Reject
        </Button>
      </div>
      <Dialog
        open={asking !== null}
        onOpenChange={(open) => !open && setAsking(null)}
        title={asking === "reject" ? `Reject ${step}` : `Approve ${step}`}
        description={
          asking === "reject"
            ? "Rejected, the step fails with your comment. Sent back, what led to it is done again with your comment in mind."
            : undefined
        }
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            send();
          }}
        >
          <Textarea
            aria-label="Comment"
            placeholder="Comment (optional)"
            value={comment}
            onChange={(event) => setComment(event.target.value)}
          />
          <div className="mt-3 flex justify-end gap-2">
            <Button onClick={() => setAsking(null)}>Back</Button>
            {asking === "reject" && (
              <Button disabled={decide.isPending || !comment.trim()} onClick={() => send(true)}>
                Send back for rework
              </Button>
            )}
            <Button
              type="submit"
              look={asking === "reject" ? "danger" : "primary"}
              disabled={decide.isPending}
            >
              {asking === "reject" ? "Reject" : "Approve"}
            </Button>
          </div>
        </form>
      </Dialog>
    </section>
  );
}
