/** The grid of an order's options; its cells keep their width while the choices load. */

export const OPTIONS = "grid grid-cols-2 items-start gap-2 sm:grid-cols-3";
export const OPTION = "w-full [&>svg]:ml-auto";
/** For wide options on a small screen. */
export const WIDE = "max-sm:col-span-2";
