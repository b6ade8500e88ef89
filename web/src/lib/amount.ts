/** The dollars that a text says: null for an empty one, undefined for what is no amount. */
export function dollars(text: string): number | null | undefined {
  const trimmed = text.trim();
  if (!trimmed) return null;
  return /^(\d+(\.\d*)?|\.\d+)$/.test(trimmed) ? Number(trimmed) : undefined;
}

/** What is wrong with a budget as it was typed. */
export const budgetFault = (text: string) =>
  dollars(text) === undefined ? "Enter an amount in dollars, such as 2.50." : undefined;
