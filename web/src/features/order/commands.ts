/** Slash commands: our own, and those of the order's repository. */

import type { Order, RepositoryCommand } from "@/api/client";
import { allows, type SimpleAction } from "./use-control";

type Mode = "work" | "ask";
export type Command = { name: string; meaning: string; hint?: string; act?: SimpleAction; mode?: Mode };

const OWN: Command[] = [
  { name: "ask", meaning: "Ask a question without changing anything", hint: "question", mode: "ask" },
  { name: "work", meaning: "Request work, even if it reads like a question", hint: "task", mode: "work" },
  { name: "pause", meaning: "Pause the order", act: "pause" },
  { name: "resume", meaning: "Resume the order", act: "resume" },
  { name: "retry", meaning: "Retry from the step that failed", act: "retry" },
  { name: "cancel", meaning: "Cancel the order", act: "cancel" },
  { name: "ready", meaning: "Mark the pull request ready for review", act: "mark_ready" },
];

const fits = ({ act }: Command, order: Order) => act === undefined || allows(order, act);

/** The commands that the order allows now; our own names take precedence. */
export function commandsOf(order: Order, theirs: RepositoryCommand[]): Command[] {
  const taken = new Set(OWN.map(({ name }) => name));
  const kept = theirs
    .filter(({ name }) => !taken.has(name))
    .map(({ name, description, argument_hint }) => ({ name, meaning: description, hint: argument_hint }));
  return [...OWN.filter((command) => fits(command, order)), ...kept];
}

/** Completions for what was typed; none once the name is complete. */
export function offeredFor(text: string, commands: Command[]): Command[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1];
  return typed === undefined ? [] : commands.filter(({ name }) => name.startsWith(typed));
}

/** The command that the text calls, once its name is complete. */
export function calledBy(text: string, commands: Command[]): Command | undefined {
  const name = /^\/(\S+)\s/.exec(text)?.[1];
  return commands.find((command) => command.name === name);
}

/** What is sent: our own commands set the mode, the repository's are sent as typed. */
export function saidBy(text: string, commands: Command[]): { text: string; mode: Mode | null } {
  const called = calledBy(text, commands);
  if (!called?.mode) return { text: text.trim(), mode: null };
  return { text: text.slice(called.name.length + 1).trim(), mode: called.mode };
}
