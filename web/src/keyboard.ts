// The keyboard shortcuts. A key presses the control that names it in aria-keyshortcuts, so that both do the same.
import { page } from "./page.svelte";

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName));

const visible = (element: HTMLElement) => element.checkVisibility?.() ?? element.offsetParent !== null;

function press(key: string): boolean {
  const control = [...document.querySelectorAll<HTMLElement>(`[aria-keyshortcuts="${key}"]`)].find(visible);
  control?.click();
  return control !== undefined;
}

/** listen answers keys; step goes to the next (1) or previous (-1) message. */
export function listen(step: (by: 1 | -1) => void): () => void {
  const answer = (event: KeyboardEvent) => {
    if (!page.keysOn || page.dialog || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return;
    const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
    let done = true;
    if (["C", "A", "N", "E"].includes(key)) done = press(key);
    else if (key === "J") step(1);
    else if (key === "K") step(-1);
    else if (key === "?") page.dialog = "keys";
    else if (key === "Escape") page.close();
    else done = false;
    if (done) event.preventDefault();
  };
  addEventListener("keydown", answer);
  return () => removeEventListener("keydown", answer);
}
