// What concerns the page as a whole: what is announced, the title, the favicon, notifications, copying, and the route.
import type { Summary } from "./api/client";
import { at } from "./base";
import { load, save } from "./store";

// The characters that turn the direction of the text around them (Unicode's property Bidi_Control).
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** withoutBidi removes what would let a text of a mail reorder other text, such as the address beside a name. */
export const withoutBidi = (text: string) => text.replace(bidiControls, "").trim();

/** senderOf is the name that a person knows a sender by. */
export const senderOf = ({ from }: Pick<Summary, "from">) => withoutBidi(from.name) || withoutBidi(from.address) || "?";

/** subjectOf is the subject as it is shown, "" where there is none. */
export const subjectOf = ({ subject }: Pick<Summary, "subject">) => withoutBidi(subject);

/** routeOf reads the message's id from the address of the page: #/m/ID. */
const routeOf = (hash: string) => /^#\/m\/([\w-]+)$/.exec(hash)?.[1] ?? "";

class Page {
  /** announcement is the text of the live region. */
  announcement = $state("");
  /** open is the message that the reader shows. */
  open = $state(routeOf(location.hash));
  dialog = $state<"" | "new" | "delete" | "qr" | "code" | "keys" | "menu" | "boxes">("");
  keysOn = $state(load<boolean>("keys") ?? true);
  notification = $state(globalThis.Notification?.permission ?? "denied");
  #alarm = ""; // what the title says until the tab is looked at

  start(): void {
    addEventListener("popstate", () => this.follow());
    document.addEventListener("visibilitychange", () => this.#clearAlarm());
    addEventListener("focus", () => this.#clearAlarm());
  }

  /** show opens a message; the browser's Back closes it. */
  show(id: string): void {
    if (this.open === id) return;
    if (this.open) history.replaceState(history.state, "", `#/m/${id}`);
    else history.pushState({ list: true }, "", `#/m/${id}`);
    this.open = id;
  }

  /** close leaves the reader. */
  close(): void {
    if (!this.open) return;
    if ((history.state as { list?: boolean } | null)?.list) history.back();
    else history.replaceState(null, "", location.pathname + location.search);
    this.open = "";
  }

  /** follow opens the message that the address of the page names, and none where it names none. */
  follow(): void {
    this.open = routeOf(location.hash);
  }

  announce(sentence: string): void {
    this.announcement = "";
    requestAnimationFrame(() => (this.announcement = sentence));
  }

  setKeys(on: boolean): void {
    this.keysOn = on;
    save("keys", on);
  }

  /** alarm puts a new code into the title and a dot on the favicon until the tab is looked at. */
  alarm(title: string): void {
    if (!this.#away) return;
    this.#alarm = title;
    this.retitle();
  }

  /** retitle writes the title of the page. */
  retitle(usual = this.#usual): void {
    this.#usual = usual;
    document.title = this.#alarm || usual;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon) icon.href = at(this.#alarm ? "/favicon-new.svg" : "/favicon.svg");
  }
  #usual = "Gonebox";

  get #away(): boolean {
    return document.hidden || !document.hasFocus();
  }

  #clearAlarm(): void {
    if (this.#away || !this.#alarm) return;
    this.#alarm = "";
    this.retitle();
  }

  async askToNotify(): Promise<void> {
    this.notification = await Notification.requestPermission();
  }

  /** notify shows a notification of the system, where that was allowed and the tab is not in front. */
  notify(title: string, body: string): void {
    if (this.notification !== "granted" || !this.#away) return;
    try {
      const shown = new Notification(title, { body, icon: at("/favicon.svg"), tag: "gonebox" });
      shown.onclick = () => window.focus();
    } catch {
      // Some phones allow notifications to service workers alone.
    }
  }
}

export const page = new Page();

/** copy puts text on the clipboard; without that permission it falls back to a selection. */
export async function copy(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = value;
    field.className = "sr-only";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy"); // the only way on plain http
    field.remove();
    return done;
  }
}

/** saveFile offers octets for download as a file. */
export function saveFile(content: Blob, filename: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
