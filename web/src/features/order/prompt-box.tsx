/** The message box of an order. While a round runs, messages are queued and can be withdrawn. */

import { useQuery } from "@tanstack/react-query";
import { ArrowUp, Clock } from "lucide-react";
import { useId, useRef, useState } from "react";
import type { Order } from "@/api/client";
import { commandsQuery } from "@/api/queries";
import { Button } from "@/components/ui/button";
import { Confirm } from "@/components/ui/confirm";
import type { PromptItem } from "@/events/items";
import { useDraft } from "@/lib/draft";
import { CommandList, optionId } from "./command-list";
import { type Command, calledBy, commandsOf, offeredFor, saidBy } from "./commands";
import { Queue } from "./queue";
import { type SimpleAction, useControl } from "./use-control";

type Props = { order: Order; queue: PromptItem[] };

export function PromptBox({ order, queue }: Props) {
  const { prompt, act, withdraw } = useControl(order.agent_work_order_id);
  const [text, setText] = useDraft(`reply.${order.agent_work_order_id}`, "");
  const [asking, setAsking] = useState<SimpleAction | null>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const [place, setPlace] = useState(0);
  const [closed, setClosed] = useState(false);
  const list = useId();
  const slash = text.startsWith("/");
  const { data: kept } = useQuery({ ...commandsQuery(order.agent_work_order_id), enabled: slash });
  const commands = commandsOf(order, kept?.commands ?? []);
  const offered = closed ? [] : offeredFor(text, commands);
  const chosen = offered[Math.min(place, offered.length - 1)];
  const called = calledBy(text, commands);
  const runs = order.status === "running" || order.status === "pending";

  const type = (next: string) => {
    setText(next);
    setPlace(0);
    setClosed(false);
  };
  const pick = (command: Command) => {
    if (!command.act) return type(`/${command.name} `);
    type("");
    if (command.act === "cancel") setAsking("cancel");
    else act.mutate(command.act);
  };
  const send = () => {
    const said = saidBy(text, commands);
    if (!said.text) return;
    // Cleared at once, so that the response does not overwrite what is typed next.
    type("");
    prompt.mutate(said, { onError: () => box.current?.value || setText(text) });
  };
  const answered = () => {
    setAsking(null);
    box.current?.focus();
  };
  const press = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    if (chosen && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      setPlace((place + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length);
    } else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      if (chosen) pick(chosen);
      else send();
    } else if (event.key === "Escape") {
      if (chosen) setClosed(true);
      else event.currentTarget.blur();
    }
  };

  return (
    <div className="border-t bg-card px-4 py-3 sm:px-6">
      <div className="relative mx-auto max-w-3xl">
        {asking && (
          <div className="mb-2">
            <Confirm
              question="Cancel this order?"
              detail="Running work stops and queued messages are withdrawn. The branch and its commits are kept."
              act="Cancel the order"
              onAct={() => {
                act.mutate(asking);
                answered();
              }}
              onKeep={answered}
            />
          </div>
        )}
        {queue.length > 0 && <Queue queue={queue} onWithdraw={(number) => withdraw.mutate(number)} />}
        {chosen && (
          <CommandList
            id={list}
            offered={offered}
            chosen={chosen}
            problems={kept?.problems ?? []}
            onPick={pick}
          />
        )}
        {called && (
          <p role="status" className="mb-1.5 truncate text-xs text-muted-foreground">
            <code className="font-mono">
              /{called.name} {called.hint}
            </code>{" "}
            · {called.meaning}
          </p>
        )}
        <div className="flex items-end gap-2">
          <textarea
            ref={box}
            data-slash
            aria-label="Message"
            aria-autocomplete="list"
            aria-haspopup="listbox"
            aria-controls={chosen && list}
            aria-activedescendant={chosen && optionId(list, chosen)}
            rows={1}
            value={text}
            onChange={(event) => type(event.target.value)}
            onKeyDown={press}
            placeholder="Message, or / for commands"
            className="max-h-48 min-h-10 w-full resize-none rounded-lg border border-input bg-background px-3 py-2.5 text-sm [field-sizing:content] placeholder:text-muted-foreground"
          />
          <Button look="primary" className="h-10" disabled={!text.trim()} onClick={send}>
            {runs ? <Clock /> : <ArrowUp />} {runs ? "Queue" : "Send"}
          </Button>
        </div>
      </div>
    </div>
  );
}
