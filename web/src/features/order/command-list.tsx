/** The autocomplete list of slash commands, and those of the repository that cannot be used. */

import { TriangleAlert } from "lucide-react";
import type { CommandProblem } from "@/api/client";
import { cn } from "@/lib/cn";
import type { Command } from "./commands";

type Props = {
  id: string;
  offered: Command[];
  chosen: Command | undefined;
  problems: CommandProblem[];
  onPick: (command: Command) => void;
};

export function CommandList({ id, offered, chosen, problems, onPick }: Props) {
  return (
    <div className="absolute bottom-full left-0 z-10 mb-2 w-120 max-w-full overflow-hidden rounded-lg border bg-popover shadow-lg">
      <div id={id} role="listbox" aria-label="Commands" className="max-h-72 overflow-y-auto p-1">
        {offered.map((command) => (
          <div
            key={command.name}
            id={optionId(id, command)}
            ref={command === chosen ? (option) => option?.scrollIntoView({ block: "nearest" }) : undefined}
            role="option"
            tabIndex={-1}
            aria-selected={command === chosen}
            onMouseDown={(event) => {
              event.preventDefault();
              onPick(command);
            }}
            className={cn("flex gap-3 rounded-md px-2.5 py-1.5", command === chosen && "bg-accent")}
          >
            <code className="shrink-0 font-mono text-xs leading-5">
              /{command.name}
              {command.hint && <span className="text-muted-foreground"> {command.hint}</span>}
            </code>
            <span className="min-w-0 truncate text-xs leading-5 text-muted-foreground">
              {command.meaning}
            </span>
          </div>
        ))}
      </div>
      {problems.length > 0 && (
        <ul aria-label="Commands that cannot be used" className="border-t px-3 py-2 text-xs">
          {problems.map(({ path, message, hint }) => (
            <li key={path} className="flex gap-2 py-0.5">
              <TriangleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0 text-warning" />
              <span className="min-w-0 break-words">
                <code className="font-mono">{path}</code>: {message}{" "}
                <span className="text-muted-foreground">{hint}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

export const optionId = (list: string, command: Command) => `${list}-${command.name}`;
