/** Say more to an order. While a round runs, what is said waits in a queue that can be seen and changed. */

import { ArrowUp, Clock, X } from "lucide-react";
import { useState } from "react";
import type { Order } from "@/api/client";
import { Button } from "@/components/ui/button";
import type { PromptItem } from "@/events/story";
import { cn } from "@/lib/cn";
import { type Act, may, useControl } from "./use-control";

type Command = { name: string; meaning: string; act?: Act; mode?: "work" | "ask" };
const COMMANDS: Command[] = [
  { name: "ask", meaning: "Ask something; nothing is changed", mode: "ask" },
  { name: "work", meaning: "Ask for work, whatever the sentence looks like", mode: "work" },
  { name: "pause", meaning: "Stop where it is", act: "pause" },
  { name: "resume", meaning: "Go on after a pause", act: "resume" },
  { name: "retry", meaning: "Go on from the step that failed", act: "retry" },
  { name: "cancel", meaning: "Stop for good", act: "cancel" },
  { name: "ready", meaning: "Take the pull request out of draft", act: "ready" },
];

const fits = (command: Command, order: Order) =>
  command.mode !== undefined ||
  (command.act === "ready"
    ? order.github_pull_request_url !== null
    : command.act !== undefined && may(command.act, order));

type Props = { order: Order; queue: PromptItem[] };

export function PromptBox({ order, queue }: Props) {
  const { say, act, takeBack } = useControl(order.agent_work_order_id);
  const [text, setText] = useState("");
  const [place, setPlace] = useState(0);
  const typed = /^\/(\w*)$/.exec(text)?.[1];
  const offered =
    typed === undefined ? [] : COMMANDS.filter((one) => one.name.startsWith(typed) && fits(one, order));
  const chosen = offered[Math.min(place, offered.length - 1)];
  const runs = order.status === "running" || order.status === "pending";

  const pick = (command: Command) => {
    if (command.mode) return setText(`/${command.name} `);
    if (command.act) act.mutate(command.act);
    setText("");
  };
  const send = () => {
    const [, name, rest = ""] = /^\/(ask|work)\s+([\s\S]*)$/.exec(text) ?? [];
    const words = (name ? rest : text).trim();
    if (!words) return;
    // Emptied at once: who goes on typing must not lose the next words to the answer for the last.
    setText("");
    say.mutate(
      { text: words, mode: name === "ask" || name === "work" ? name : null },
      { onError: () => setText((typed) => typed || text) },
    );
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
      event.currentTarget.blur();
    }
  };

  return (
    <div className="border-t bg-card px-4 py-3 sm:px-6">
      <div className="relative mx-auto max-w-3xl">
        {queue.length > 0 && <Queue queue={queue} onTakeBack={(number) => takeBack.mutate(number)} />}
        {offered.length > 0 && (
          <div
            id="commands"
            role="listbox"
            aria-label="Commands"
            className="absolute bottom-full left-0 z-10 mb-2 w-80 max-w-full rounded-lg border bg-popover p-1 shadow-lg"
          >
            {offered.map((command) => (
              <div
                key={command.name}
                id={`command-${command.name}`}
                role="option"
                tabIndex={-1}
                aria-selected={command === chosen}
                onMouseDown={(event) => {
                  event.preventDefault();
                  pick(command);
                }}
                className={cn("flex gap-3 rounded-md px-2.5 py-1.5", command === chosen && "bg-accent")}
              >
                <code className="w-16 font-mono text-xs leading-5">/{command.name}</code>
                <span className="text-xs leading-5 text-muted-foreground">{command.meaning}</span>
              </div>
            ))}
          </div>
        )}
        <div className="flex items-end gap-2">
          <textarea
            data-slash
            aria-label="Say something to the order"
            aria-autocomplete="list"
            aria-controls={chosen && "commands"}
            aria-activedescendant={chosen ? `command-${chosen.name}` : undefined}
            rows={1}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setPlace(0);
            }}
            onKeyDown={press}
            placeholder={
              runs
                ? "Say what comes next; it waits in line. / for commands"
                : "Ask, or ask for more work. / for commands"
            }
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

function Queue({ queue, onTakeBack }: { queue: PromptItem[]; onTakeBack: (number: number) => void }) {
  return (
    <ul aria-label="Waiting prompts" className="mb-2 flex flex-col gap-1">
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
            aria-label={`Take back: ${prompt.text}`}
            onClick={() => onTakeBack(prompt.number)}
          >
            <X />
          </Button>
        </li>
      ))}
    </ul>
  );
}
