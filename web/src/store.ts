// What the page remembers on this device. A browser may forbid it: then the page works for as long as it is open.
import { base } from "./base";

const prefix = `gonebox${base}.`; // another service may be at another path of the host

export function load<T>(key: string): T | null {
  try {
    return JSON.parse(localStorage.getItem(prefix + key) ?? "null") as T | null;
  } catch {
    return null;
  }
}

export function save(key: string, value: unknown): void {
  try {
    localStorage.setItem(prefix + key, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden.
  }
}

/** onChange calls f when another tab saves under key. */
export function onChange(key: string, f: () => void): void {
  addEventListener("storage", (event) => {
    if (event.key === prefix + key) f();
  });
}
