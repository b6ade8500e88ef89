/** One choice of several, each with a note, or with what it needs where it is not ready. */

import { Command } from "cmdk";
import { Check, ChevronsUpDown } from "lucide-react";
import { Popover } from "radix-ui";
import { useState } from "react";
import { cn } from "@/lib/cn";

export type Choice = {
  value: string;
  label: string;
  note?: string;
  needs?: string;
  group?: string;
  /** The text shown once it is chosen, where its label says too little without its group. */
  chosen?: string;
};

type Props = {
  label: string;
  choices: Choice[];
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  disabled?: boolean;
  className?: string;
};

export function Picker({
  label,
  choices,
  value,
  onChange,
  placeholder = "Choose",
  disabled,
  className,
}: Props) {
  const [open, setOpen] = useState(false);
  const chosen = choices.find((choice) => choice.value === value);
  const groups = [...new Set(choices.map((choice) => choice.group ?? ""))];
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger
        disabled={disabled}
        className={cn(
          "inline-flex h-8 max-w-full min-w-0 items-center gap-1.5 rounded-md border bg-card px-2.5 text-xs hover:bg-muted",
          "disabled:pointer-events-none disabled:opacity-60",
          className,
        )}
      >
        <span className="text-muted-foreground">{label}</span>
        <span className="truncate font-medium">
          {chosen?.chosen ?? chosen?.label ?? (value || placeholder)}
        </span>
        <ChevronsUpDown className="size-3 shrink-0 text-muted-foreground" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={6}
          className="z-50 w-80 max-w-[calc(100vw-2rem)] rounded-lg border bg-popover shadow-lg"
        >
          <Command label={label} loop>
            {choices.length > 7 && (
              <Command.Input
                autoFocus
                placeholder={`Search ${choices.length}…`}
                className="w-full border-b bg-transparent px-3 py-2.5 text-sm outline-none placeholder:text-muted-foreground"
              />
            )}
            <Command.List tabIndex={0} className="max-h-72 overflow-y-auto p-1">
              <Command.Empty className="px-3 py-4 text-sm text-muted-foreground">No matches.</Command.Empty>
              {groups.map((group) => (
                <Command.Group
                  key={group}
                  heading={group || undefined}
                  className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted-foreground"
                >
                  {choices
                    .filter((choice) => (choice.group ?? "") === group)
                    .map((choice) => (
                      <Command.Item
                        key={choice.value}
                        value={choice.value}
                        keywords={[choice.label]}
                        disabled={Boolean(choice.needs)}
                        onSelect={() => {
                          onChange(choice.value);
                          setOpen(false);
                        }}
                        className="flex items-start gap-2 rounded-md px-2 py-1.5 data-[selected=true]:bg-accent"
                      >
                        <Check
                          className={cn(
                            "mt-0.5 size-4 shrink-0 text-primary",
                            choice.value !== value && "invisible",
                          )}
                        />
                        <span className="min-w-0">
                          <span className={cn("block", choice.needs && "text-muted-foreground")}>
                            {choice.label}
                          </span>
                          {(choice.needs || choice.note) && (
                            <span
                              className={cn(
                                "block text-xs",
                                choice.needs ? "text-warning" : "text-muted-foreground",
                              )}
                            >
                              {choice.needs || choice.note}
                            </span>
                          )}
                        </span>
                      </Command.Item>
                    ))}
                </Command.Group>
              ))}
            </Command.List>
          </Command>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
