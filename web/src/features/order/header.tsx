import { Link } from "@tanstack/react-router";
import { ChevronLeft, GitBranch, Pause, Pencil, Play, RotateCw, Square } from "lucide-react";
import { useState } from "react";
import type { Order } from "@/api/client";
import { ModelPicker } from "@/components/choices";
import { StatusPill } from "@/components/status-pill";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Input } from "@/components/ui/field";
import { Tip } from "@/components/ui/tip";
import { workedSeconds } from "@/events/clock";
import type { Story } from "@/events/story";
import { duration, money, repositoryName } from "@/lib/format";
import { useNow } from "@/lib/now";
import { may, useControl } from "./use-control";

type Props = { order: Order; story: Story };

export function Header({ order, story }: Props) {
  return (
    <header className="border-b bg-card px-4 py-3 sm:px-6">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Link
          to="/orders"
          aria-label="All orders"
          className="-ml-1.5 rounded-md p-1.5 text-muted-foreground hover:bg-muted"
        >
          <ChevronLeft className="size-4" />
        </Link>
        <Title order={order} />
        <span aria-live="polite">
          <StatusPill status={order.status} phase={order.current_phase} />
        </span>
        <Controls order={order} />
      </div>
      <div className="mt-1.5 flex flex-wrap items-center gap-x-4 gap-y-1.5 text-xs text-muted-foreground">
        <span className="inline-flex min-w-0 items-center gap-1.5">
          <GitBranch aria-hidden className="size-3.5 shrink-0" />
          <span className="truncate" title={`${order.repository_url} · ${order.git_branch_name}`}>
            {repositoryName(order.repository_url)} · {order.git_branch_name}
          </span>
        </span>
        <Elapsed order={order} story={story} />
        <span className="tabular-nums">
          {money(order.cost_usd)}
          {order.budget_usd !== null && ` of ${money(order.budget_usd)}`}
        </span>
        <Model order={order} />
      </div>
    </header>
  );
}

function Title({ order }: { order: Order }) {
  const { change } = useControl(order.agent_work_order_id);
  const [text, setText] = useState<string | null>(null);
  if (text === null) {
    return (
      <div className="flex min-w-0 flex-1 items-center gap-1">
        <h1 className="truncate text-[15px] font-semibold">{order.title}</h1>
        <Button look="quiet" size="icon" aria-label="Rename" onClick={() => setText(order.title)}>
          <Pencil className="size-3.5!" />
        </Button>
      </div>
    );
  }
  const save = () => {
    const title = text.trim();
    if (title && title !== order.title) change.mutate({ title });
    setText(null);
  };
  return (
    <form
      className="min-w-0 flex-1"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <Input
        autoFocus
        aria-label="Title"
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={save}
        onKeyDown={(event) => event.key === "Escape" && setText(null)}
        className="h-8"
      />
    </form>
  );
}

/** The time that was worked; what the order waited for people or for its turn does not count. */
function Elapsed({ order, story }: Props) {
  const now = useNow();
  if (!order.execution_started_at) return <span>not started</span>;
  if (!story.last) return null;
  return <span className="tabular-nums">{duration(workedSeconds(story.work, now))}</span>;
}

function Model({ order }: { order: Order }) {
  const { change } = useControl(order.agent_work_order_id);
  const locked = order.status === "running";
  const picker = (
    <ModelPicker
      value={order.model}
      disabled={locked}
      className="h-6"
      onChange={(model) => change.mutate({ model })}
    />
  );
  if (!locked) return picker;
  return (
    <Tip text="Pause the order to change its model.">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the reason must be reachable by keyboard */}
      <span tabIndex={0}>{picker}</span>
    </Tip>
  );
}

function Controls({ order }: { order: Order }) {
  const { act } = useControl(order.agent_work_order_id);
  const [cancelling, setCancelling] = useState(false);
  const busy = act.isPending;
  return (
    <div className="flex items-center gap-1.5">
      {may("pause", order) && (
        <Button size="sm" disabled={busy} onClick={() => act.mutate("pause")}>
          <Pause /> Pause
        </Button>
      )}
      {may("resume", order) && (
        <Button size="sm" look="primary" disabled={busy} onClick={() => act.mutate("resume")}>
          <Play /> Resume
        </Button>
      )}
      {may("retry", order) && (
        <Button size="sm" disabled={busy} onClick={() => act.mutate("retry")}>
          <RotateCw /> Retry
        </Button>
      )}
      {may("cancel", order) && (
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
