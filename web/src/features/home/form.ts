/** Validation of a new order: errors by field, also those that the server reports. */

import type { Problem } from "@/api/client";
import { ADD_A_KEY, plainText } from "@/lib/advice";
import { budgetFault, dollars } from "@/lib/amount";

export type Fields = { repository: string; task: string; issue: string; branch: string; budget: string };
export type Field = keyof Fields | "model";
export type Faults = Partial<Record<Field, string>>;

/** What the server would refuse, found before it is asked. */
export function faultsOf({ repository, task, issue, budget }: Fields, model: string): Faults {
  const isNumber = /^[1-9]\d{0,9}$/.test(issue.trim());
  return present({
    repository: repository.trim() ? undefined : "Enter a repository.",
    task: task.trim() || isNumber ? undefined : "Describe the task, or enter an issue number.",
    issue: issue.trim() && !isNumber ? "Enter an issue number, such as 42." : undefined,
    budget: budgetFault(budget),
    model: model ? undefined : `No model is available. ${ADD_A_KEY}`,
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

/** The server's errors by field; empty where they are about the order as a whole. */
export function refusedFields(problem: Problem, { branch, issue }: Fields): Faults {
  const named = problem.fields.filter(({ field }) => FIELD_OF[field]);
  if (named.length) return Object.fromEntries(named.map(({ field, message }) => [FIELD_OF[field], message]));
  const field = subjectOf(problem, branch.trim(), issue.trim());
  return field
    ? { [field]: [sentence(problem.detail), plainText(problem.hint)].filter(Boolean).join(" ") }
    : {};
}

/** The field whose value the error quotes, else the one that its kind suggests. */
function subjectOf({ status, detail, kind }: Problem, branch: string, issue: string): Field | null {
  if (branch && detail.includes(`'${branch}'`)) return "branch";
  if (issue && new RegExp(`\\b${issue}\\b`).test(detail) && /issue/i.test(detail)) return "issue";
  if (kind === "invalid-repository" || status === 403) return "repository";
  return status === 401 ? "model" : null;
}

const sentence = (text: string) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

/** The form as a request; empty fields are left to the server. */
export const orderOf = ({ repository, task, issue, branch, budget }: Fields) => ({
  repository_url: repository.trim(),
  initial_prompt: task.trim() ? task : null,
  github_issue_number: issue.trim() || null,
  base_branch: branch.trim() || null,
  budget_usd: dollars(budget) ?? null,
});
