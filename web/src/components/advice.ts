/**
 * Hints of the server serve every client, and some name a command or a setting. In the browser a person
 * reads what helps here instead, by the kind of fault, or nothing where buttons say it.
 */

const FOR_A_TERMINAL = /`|\bjm [a-z]|\b[A-Z]+_[A-Z_]+\b|(^|\s)--[a-z]/;

const HELPS: Record<string, string> = {
  transient: "Wait a moment and try again.",
  rate_limited: "Wait a little, or choose another model.",
  quota: "Raise the quota at the provider, or choose another model.",
  auth: "Check the key or token in Settings, then try again.",
  permission: "Grant the access that is missing, then try again.",
  budget: "Raise the budget to continue.",
  sandbox: "Try again. If it happens again, check the sandbox in Settings.",
  agent: "Describe the task more precisely, or choose another model.",
  verification: "Look at the checks and the changes. Retry, or send a message that says what to change.",
  conflict: "Ask the agent to resolve the conflict, or resolve it on the branch yourself.",
  invalid_input: "Start a new order with a corrected request.",
  internal: "Try again. If it happens again, copy the details and report them.",
};

/** The hint where it was written for everybody, else nothing. */
export const readableHint = (hint: string | null | undefined) =>
  hint && !FOR_A_TERMINAL.test(hint) ? hint : "";

/** What helps against a fault of this kind. */
export const adviceFor = (category: string, hint: string | null | undefined) =>
  readableHint(hint) || (HELPS[category] ?? "");
