// The keyboard shortcuts. A key presses the control that names it in aria-keyshortcuts, so that both do the same.
import { page } from "./page.svelte";

/** typing reports whether keys are for a field and not for the page. */
export const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName));

const visible = (element: HTMLElement) => element.checkVisibility?.() ?? element.offsetParent !== null;

function press(key: string): boolean {
  const control = [...document.querySelectorAll<HTMLElement>(`[aria-keyshortcuts="${key}"]`)].find(visible);
  control?.click();
  return control !== undefined;
}

/**
 * keyOf is the key as its cap says in Latin letters. On a layout of another script, or under an input method, the position of
 * the key decides (UI Events KeyboardEvent code Values): with a Cyrillic, Greek or Arabic layout the key of C is the key of C.
 */
function keyOf({ key, code, shiftKey }: KeyboardEvent): string {
  const foreign = /^[^\0-\x7f]/.test(key) || ["Dead", "Process", "Unidentified"].includes(key);
  if (!foreign) return key.length === 1 ? key.toUpperCase() : key;
  return code === "Slash" && shiftKey ? "?" : (/^Key([A-Z])$/.exec(code)?.[1] ?? key);
}

/**
 * listen answers keys; step goes to the next (1) or previous (-1) message, and more answers keys that only one page has, and
 * returns whether it did.
 */
export function listen(step: (by: 1 | -1) => void, more: (key: string, event: KeyboardEvent) => boolean = () => false): () => void {
  const answer = (event: KeyboardEvent) => {
    if (!page.keysOn || page.dialog || document.querySelector("dialog:modal") || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return;
    const key = keyOf(event);
    let done = true;
    if (more(key, event)) {
      event.preventDefault();
      return;
    }
    if (["C", "A", "N", "E", "T"].includes(key)) done = press(key);
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
