/** A step that waits for approval, with the buttons to approve and reject. Their keys are A and R. */

import { Check, Hand, X } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Textarea } from "@/components/ui/field";
import { commit } from "@/lib/format";
import { useControl } from "./use-control";
import { title } from "./words";

type Props = { id: string; step: string; commitSha: string; keys?: boolean };

export function ApprovalBox({ id, step, commitSha, keys }: Props) {
  const { decide } = useControl(id);
  const [asking, setAsking] = useState<"approve" | "reject" | null>(null);
  const [comment, setComment] = useState("");

  const send = (rework = false) => {
    if (asking)
      decide.mutate({ step, decision: asking, comment, rework }, { onSuccess: () => setAsking(null) });
  };

  return (
    <section
      aria-label={`Approval of ${step} at ${commit(commitSha)}`}
      className="rounded-lg border border-warning/50 bg-warning/8 p-4"
    >
      <p className="flex items-center gap-2 font-medium">
        <Hand aria-hidden className="size-4 text-warning" /> {title(step)} needs your approval
      </p>
      <p className="mt-1 text-[13px] text-muted-foreground">
        It runs once you approve the branch at {commit(commitSha)}.
      </p>
      <div className="mt-3 flex gap-2">
        <Button
          look="primary"
          size="sm"
          data-key={keys ? "a" : undefined}
          onClick={() => setAsking("approve")}
        >
          <Check /> Approve
        </Button>
        <Button look="danger" size="sm" data-key={keys ? "r" : undefined} onClick={() => setAsking("reject")}>
          <X /> Reject
        </Button>
      </div>
      <Dialog
        open={asking !== null}
        onOpenChange={(open) => !open && setAsking(null)}
        title={`${asking === "reject" ? "Reject" : "Approve"} ${title(step).toLowerCase()}`}
        description={
          asking === "reject"
            ? "Reject to fail the step with your comment, or send it back to have the work redone with your comment in mind."
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
