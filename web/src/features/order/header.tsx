import { Link } from "@tanstack/react-router";
import { ChevronLeft, GitBranch, Pencil } from "lucide-react";
import { useState } from "react";
import type { Order } from "@/api/client";
import { ModelPicker } from "@/components/choices";
import { StatusPill } from "@/components/status-pill";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/field";
import { Tip } from "@/components/ui/tip";
import { workedSeconds } from "@/events/clock";
import type { Transcript } from "@/events/transcript";
import { duration, money, repositoryName } from "@/lib/format";
import { useNow } from "@/lib/now";
import { Controls } from "./controls";
import { allows, useControl } from "./use-control";
import { VerificationBadge } from "./verification-badge";

type Props = { order: Order; transcript: Transcript };

export function Header({ order, transcript }: Props) {
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
        <VerificationBadge order={order} />
        <Elapsed order={order} transcript={transcript} />
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
      <div className="flex min-w-0 flex-1 items-center gap-1 max-sm:basis-[calc(100%-3rem)]">
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

/** The time of active work, without waiting in the queue or for approval. */
function Elapsed({ order, transcript }: Props) {
  const now = useNow();
  if (!order.execution_started_at) return <span>not started</span>;
  const worked = transcript.last ? duration(workedSeconds(transcript.work, now)) : "";
  return <span className="min-w-12 tabular-nums">{worked}</span>;
}

function Model({ order }: { order: Order }) {
  const { change } = useControl(order.agent_work_order_id);
  const locked = !allows(order, "change_model");
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
