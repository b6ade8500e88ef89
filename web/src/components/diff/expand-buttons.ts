/** Gives the diff view's expand buttons an accessible name and keyboard support, which they lack. */

const press = (event: KeyboardEvent) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  (event.currentTarget as HTMLElement).click();
};

export function nameExpandButtons(container: HTMLElement) {
  const buttons = container.shadowRoot?.querySelectorAll<HTMLElement>("[data-expand-button]") ?? [];
  for (const button of buttons) {
    button.ariaLabel = "Show hidden lines";
    button.tabIndex = 0;
    button.onkeydown = press;
  }
}
