/** Formats numbers, times and addresses. */

export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)}s`;
  if (seconds < 60) return `${Math.round(seconds)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${String(Math.floor(seconds % 60)).padStart(2, "0")}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ${String(minutes % 60).padStart(2, "0")}m` : `${Math.floor(hours / 24)}d`;
}

export const secondsBetween = (from: string, to: string | number) =>
  Math.max(0, (new Date(to).getTime() - new Date(from).getTime()) / 1000);

export function ago(moment: string, now: number): string {
  const seconds = secondsBetween(moment, now);
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)}s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ago`;
  if (seconds < 7 * 86_400) return `${Math.floor(seconds / 86_400)}d ago`;
  return new Date(moment).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

export const clock = (moment: string | number) =>
  new Date(moment).toLocaleTimeString(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hour12: false,
  });

export const whole = (moment: string) => new Date(moment).toLocaleString();

export function money(usd: number | null): string {
  if (usd === null) return "–";
  if (usd > 0 && usd < 0.01) return "<$0.01";
  return `$${usd.toFixed(2)}`;
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
export const count = (number: number) => compact.format(number);

const BYTE_UNITS = ["B", "kB", "MB", "GB"];
export function fileSize(bytes: number): string {
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${Number((bytes / 1000 ** power).toFixed(1))} ${BYTE_UNITS[power]}`;
}

export const plural = (number: number, one: string, many = `${one}s`) =>
  `${number} ${number === 1 ? one : many}`;

/** `owner/name` of a repository on a forge, the directory's name of a local one. */
export function repositoryName(url: string): string {
  const parts = decodeURI(url.replace(/\/+$/, "")).split("/");
  return url.startsWith("http") ? parts.slice(-2).join("/") : (parts.at(-1) ?? url);
}

/** Built-in workflows by their steps; others by their own name. */
export function workflowName(type: string): string {
  const name = type.replace(/^agent_workflow_/, "");
  return name === type ? type : name.split("_").join(" → ");
}

export const commit = (sha: string) => sha.slice(0, 8);

/** The body of a pull request without the HTML that our Markdown does not render. */
export const withoutMarkup = (body: string) =>
  body
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/<summary>([^<]*)<\/summary>/g, "\n### $1\n")
    .replace(/<\/?(?:details|sub)>/g, "")
    .trim();
