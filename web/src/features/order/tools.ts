/** Classifies the tools of all agents into a few kinds. */

import {
  FilePen,
  FileText,
  Globe,
  ListChecks,
  type LucideIcon,
  Search,
  SquareTerminal,
  Wrench,
} from "lucide-react";
import type { ToolItem } from "@/events/items";
import { plural } from "@/lib/format";

type Kind = "command" | "read" | "edit" | "search" | "web" | "plan" | "other";

const NAMES: Record<Exclude<Kind, "other">, RegExp> = {
  command: /^(shell|bash|execute|exec(_command)?|run_shell_command|bashoutput|killshell)$/,
  read: /^(read(_file|_many_files)?|view|cat|notebookread)$/,
  edit: /^((write|edit|delete|move)(_file)?|multiedit|notebookedit|replace|apply_patch|patch|file_change)$/,
  search: /^(search(_file_content)?|grep|glob|find|list|ls|list_directory)$/,
  web: /^(web_?fetch|web_?search|google_web_search|fetch)$/,
  plan: /^(todo_?(write|read|list)|task|think|update_plan|write_todos)$/,
};

export function kindOf(tool: string): Kind {
  const name = tool.toLowerCase();
  const kinds = Object.entries(NAMES) as [Exclude<Kind, "other">, RegExp][];
  return kinds.find(([, pattern]) => pattern.test(name))?.[0] ?? "other";
}

export const ICONS: Record<Kind, LucideIcon> = {
  command: SquareTerminal,
  read: FileText,
  edit: FilePen,
  search: Search,
  web: Globe,
  plan: ListChecks,
  other: Wrench,
};

const SAID: Record<Kind, (times: number) => string> = {
  command: (times) => `ran ${plural(times, "command")}`,
  read: (times) => `read ${plural(times, "file")}`,
  edit: (times) => `edited ${plural(times, "file")}`,
  search: (times) => `searched ${plural(times, "time")}`,
  web: (times) => `opened ${plural(times, "page")}`,
  plan: (times) => `planned ${plural(times, "time")}`,
  other: (times) => `used ${plural(times, "tool")}`,
};

/** "Ran 3 commands, read 2 files". */
export function summaryOf(calls: ToolItem[]): string {
  const counted = new Map<Kind, number>();
  for (const { tool } of calls) counted.set(kindOf(tool), (counted.get(kindOf(tool)) ?? 0) + 1);
  const said = [...counted].map(([kind, times]) => SAID[kind](times)).join(", ");
  return said.charAt(0).toUpperCase() + said.slice(1);
}

/** The arguments to show for a call, the most telling first. */
const MAIN_ARGUMENTS: Record<Kind, string[]> = {
  command: ["command", "cmd"],
  read: [],
  edit: [],
  search: ["pattern", "query"],
  web: ["url", "query"],
  plan: ["description", "prompt"],
  other: [],
};
const ANY = ["file_path", "filePath", "absolute_path", "path", "command", "pattern", "query", "url"];

/** The subject of a call, on one line. */
export function aboutOf({ tool, arguments: given }: ToolItem): string {
  const name = [...MAIN_ARGUMENTS[kindOf(tool)], ...ANY].find(
    (one) => typeof given[one] === "string" && given[one],
  );
  const text = name ? String(given[name]) : JSON.stringify(given);
  return text.split("\n")[0] ?? "";
}
