/**
 * Hints of the server serve every client, and some name a command or a setting. In the browser such a sentence
 * is cut before it, replaced by what helps here, or left out where the page has a button for it.
 */

const FOR_A_TERMINAL = /`|\bjm [a-z]|\b[A-Z]+_[A-Z_]+\b|(^|\s)--[a-z]/;
/** Where a sentence turns to its other advice: "Split the task, or raise …". */
const ALTERNATIVE = /,? (?:or|and) (?=(?:raise|set|name|see|correct) )|; /;
const NAMES_A_KEY = /\b[A-Z]+(_[A-Z]+)*_(KEY|TOKEN)\b/;
export const ADD_A_KEY = "Settings shows how to add keys and tokens.";

const HELPS: Record<string, string> = {
  transient: "Wait a moment and try again.",
  rate_limited: "Wait a little, or choose another model.",
  quota: "Raise the quota at the provider, or choose another model.",
  auth: "Check the key or token in Settings, then try again.",
  permission: "Grant the access that is missing, then try again.",
  budget: "Raise the budget to continue.",
  sandbox: "Try again. If it happens again, check the sandbox in Settings.",
  environment: "Add what is missing, then resume. Resumed as it is, the order goes on unverified.",
  agent: "Describe the task more precisely, or choose another model.",
  verification: "Look at the checks and the changes. Retry, or send a message that says what to change.",
  conflict: "Ask the agent to resolve the conflict, or resolve it on the branch yourself.",
  invalid_input: "Start a new order with a corrected request.",
  internal: "Try again. If it happens again, copy the details and report them.",
};

/** A text of the server without its sentences for a terminal. */
export function plainText(text: string | null | undefined): string {
  const sentences = (text ?? "").split(/(?<=[.!?])\s+/).map((sentence) => {
    const terminal = sentence.search(FOR_A_TERMINAL);
    if (terminal < 0) return sentence;
    if (NAMES_A_KEY.test(sentence)) return ADD_A_KEY;
    const plain = sentence.slice(0, Math.max(sentence.slice(0, terminal).search(ALTERNATIVE), 0));
    return plain && `${plain}.`;
  });
  return [...new Set(sentences.filter(Boolean))].join(" ");
}

/** What helps against an error of this category. */
export const adviceFor = (category: string, hint: string | null | undefined) =>
  plainText(hint) || (HELPS[category] ?? "");

const WHO: Record<string, string> = {
  maintainer: "A maintainer of the repository can do this.",
  operator: "An administrator of the server can do this.",
  anyone: "You can do this.",
};

/** Who can bring what is missing. */
export const whoCan = (who: string) => WHO[who] ?? "";
