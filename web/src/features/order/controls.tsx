import { Pause, Play, RotateCw, Square } from "lucide-react";
import { useState } from "react";
import type { Order } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { allows, useControl } from "./use-control";

/** The buttons for what the order allows now. */
export function Controls({ order }: { order: Order }) {
  const { act } = useControl(order.agent_work_order_id);
  const [cancelling, setCancelling] = useState(false);
  const busy = act.isPending;
  return (
    <div className="flex items-center gap-1.5">
      {allows(order, "pause") && (
        <Button size="sm" disabled={busy} onClick={() => act.mutate("pause")}>
          <Pause /> Pause
        </Button>
      )}
      {allows(order, "resume") && (
        <Button size="sm" look="primary" disabled={busy} onClick={() => act.mutate("resume")}>
          <Play /> Resume
        </Button>
      )}
      {allows(order, "retry") && (
        <Button size="sm" disabled={busy} onClick={() => act.mutate("retry")}>
          <RotateCw /> Retry
        </Button>
      )}
      {allows(order, "cancel") && (
        <Button size="sm" look="danger" data-key="." disabled={busy} onClick={() => setCancelling(true)}>
          <Square /> Cancel
        </Button>
      )}
      <Dialog
        open={cancelling}
        onOpenChange={setCancelling}
        title="Cancel this order?"
        description="Running work stops and queued messages are withdrawn. The branch and its commits are kept, and you can retry later."
      >
        <div className="flex justify-end gap-2">
          <Button onClick={() => setCancelling(false)}>Keep it</Button>
          <Button
            look="danger"
            onClick={() => {
              setCancelling(false);
              act.mutate("cancel");
            }}
          >
            Cancel the order
          </Button>
        </div>
      </Dialog>
    </div>
  );
}
