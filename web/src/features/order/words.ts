/** Display names and times. */

/** `open_pull_request` as "Open pull request". */
export const title = (name: string) => {
  const words = name.replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export const hourAndMinute = (moment: string) =>
  new Date(moment).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });

/** Whether a duration is long enough to show. */
export const isNotable = (seconds: number | null | undefined): seconds is number =>
  seconds != null && seconds >= 1;
