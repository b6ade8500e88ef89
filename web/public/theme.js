// Before the first paint, and therefore not a part of the bundle: the wrong theme never flashes.
{
  const chosen = localStorage.getItem("journeyman.theme") ?? "system";
  const dark =
    chosen === "dark" || (chosen === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", dark);
}
