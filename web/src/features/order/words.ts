/** The names of things as people read them. */

/** `open_pull_request` as "Open pull request". */
export const title = (name: string) => {
  const words = name.replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export const hourAndMinute = (moment: string) =>
  new Date(moment).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });

/** A time that is worth reading; what took less than a second took none. */
export const worthTelling = (seconds: number | null | undefined): seconds is number =>
  seconds != null && seconds >= 1;
