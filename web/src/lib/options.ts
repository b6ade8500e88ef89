/** How the options of an order are laid out: what a picker shows changes its length when its choices are known. */

export const OPTIONS = "grid grid-cols-2 items-start gap-2 sm:grid-cols-3";
export const OPTION = "w-full [&>svg]:ml-auto";
/** For the longer ones, on a phone. */
export const WIDE = "max-sm:col-span-2";
