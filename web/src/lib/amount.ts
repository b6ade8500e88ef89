/** Parses an amount of dollars: null when empty, undefined when invalid. */
export function dollars(text: string): number | null | undefined {
  const trimmed = text.trim();
  if (!trimmed) return null;
  return /^(\d+(\.\d*)?|\.\d+)$/.test(trimmed) ? Number(trimmed) : undefined;
}

/** The validation error of a budget. */
export const budgetFault = (text: string) =>
  dollars(text) === undefined ? "Enter an amount in dollars, such as 2.50." : undefined;
