/** A new order as it is being written: what is wrong with it, and which field a refusal is about. */

import type { Problem } from "@/api/client";
import { budgetFault, dollars } from "@/lib/amount";

export type Fields = { repository: string; task: string; issue: string; branch: string; budget: string };
export type Field = keyof Fields | "model";
export type Faults = Partial<Record<Field, string>>;

/** What the server would refuse, told before it is asked. */
export function faultsOf({ repository, task, issue, budget }: Fields, model: string): Faults {
  const isNumber = /^[1-9]\d{0,9}$/.test(issue.trim());
  return present({
    repository: repository.trim() ? undefined : "Enter the repository to work on.",
    task: task.trim() || isNumber ? undefined : "Say what should be done, or name an issue.",
    issue: issue.trim() && !isNumber ? "Enter the issue's number, such as 42." : undefined,
    budget: budgetFault(budget),
    model: model ? undefined : "No model is ready. Set a key for a provider first.",
  });
}

const present = (faults: Record<string, string | undefined>): Faults =>
  Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault));

const FIELD_OF: Record<string, Field> = {
  repository_url: "repository",
  initial_prompt: "task",
  github_issue_number: "issue",
  base_branch: "branch",
  budget_usd: "budget",
  model: "model",
};

/** What the server refused, at the fields it is about; empty where it is about the order as a whole. */
export function refusedFields(problem: Problem, { branch, issue }: Fields): Faults {
  const named = problem.fields.filter(({ field }) => FIELD_OF[field]);
  if (named.length) return Object.fromEntries(named.map(({ field, message }) => [FIELD_OF[field], message]));
  const field = subjectOf(problem, branch.trim(), issue.trim());
  return field ? { [field]: [sentence(problem.detail), problem.hint].filter(Boolean).join(" ") } : {};
}

/** The field whose value the refusal quotes, else the one that its kind is about. */
function subjectOf({ status, detail, kind }: Problem, branch: string, issue: string): Field | null {
  if (branch && detail.includes(`'${branch}'`)) return "branch";
  if (issue && new RegExp(`\\b${issue}\\b`).test(detail) && /issue/i.test(detail)) return "issue";
  if (kind === "invalid-repository" || status === 403) return "repository";
  return status === 401 ? "model" : null;
}

const sentence = (text: string) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

/** What of the form goes into the order; what was left empty is the server's choice. */
export const orderOf = ({ repository, task, issue, branch, budget }: Fields) => ({
  repository_url: repository.trim(),
  initial_prompt: task.trim() ? task : null,
  github_issue_number: issue.trim() || null,
  base_branch: branch.trim() || null,
  budget_usd: dollars(budget) ?? null,
});
