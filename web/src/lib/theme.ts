/** The theme: light, dark or the system's. `theme.js` applies it before the first paint. */

import { useEffect, useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
const KEY = "journeyman.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

export const chosenTheme = () => (localStorage.getItem(KEY) as Theme | null) ?? "system";
const isDark = () => chosenTheme() === "dark" || (chosenTheme() === "system" && system.matches);

function apply() {
  document.documentElement.classList.toggle("dark", isDark());
  for (const listener of listeners) listener();
}

export function chooseTheme(theme: Theme) {
  localStorage.setItem(KEY, theme);
  apply();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useTheme = () => useSyncExternalStore(subscribe, chosenTheme);
export const useIsDark = () => useSyncExternalStore(subscribe, isDark);

export function useSystemTheme() {
  useEffect(() => {
    system.addEventListener("change", apply);
    return () => system.removeEventListener("change", apply);
  }, []);
}
