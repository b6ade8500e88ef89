/** Toasts: short feedback after an action of the user. */

import { X } from "lucide-react";
import { Toast } from "radix-ui";
import { useSyncExternalStore } from "react";
import { problemOf } from "@/api/client";
import { plainText } from "@/lib/advice";
import { cn } from "@/lib/cn";

type Message = { id: number; text: string; detail?: string; bad: boolean };
let messages: Message[] = [];
let counted = 0;
const listeners = new Set<() => void>();

function become(next: Message[]) {
  messages = next;
  for (const listener of listeners) listener();
}

const say = (text: string, detail?: string, bad = false) =>
  become([...messages.slice(-2), { id: ++counted, text, detail, bad }]);

export const toast = (text: string, detail?: string) => say(text, detail);

export function toastProblem(fault: unknown) {
  const problem = problemOf(fault);
  say(problem.detail, plainText(problem.hint), true);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => messages,
  );
  return (
    <Toast.Provider duration={6000}>
      {shown.map((one) => (
        <Toast.Root
          key={one.id}
          onOpenChange={(open) => !open && become(messages.filter((other) => other.id !== one.id))}
          className={cn(
            "flex items-start gap-3 rounded-lg border bg-popover p-3 shadow-lg",
            one.bad && "border-destructive/50",
          )}
        >
          <div className="min-w-0 flex-1">
            <Toast.Title className={cn("font-medium", one.bad && "text-destructive")}>{one.text}</Toast.Title>
            {one.detail && (
              <Toast.Description className="mt-0.5 text-xs text-muted-foreground">
                {one.detail}
              </Toast.Description>
            )}
          </div>
          <Toast.Close aria-label="Dismiss" className="rounded p-0.5 text-muted-foreground hover:bg-muted">
            <X className="size-4" />
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2" />
    </Toast.Provider>
  );
}
