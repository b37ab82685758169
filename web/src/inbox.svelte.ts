// The messages of one mailbox, kept up to date while it is open.
import type { Component } from "svelte";
import { type Message, type Summary, deleteMessage, failure, listMessages, readMessage, setSeen } from "./api/client";
import { type Box, boxes } from "./boxes.svelte";
import { clock } from "./clock.svelte";
import { type LiveState, watch } from "./live";
import type { Link } from "./link";
import { load, save } from "./store";

/** Last is what the list of the mailbox that was looked at last showed, kept for a time without network. */
type Last = { id: string; at: number; messages: Summary[] };
const lastKey = "last";
const lastMessages = 20;

/** Linked is a message with a verification link and without a code, and what shows the link (linked.ts). */
export type Linked = { id: string; link: Link; title: () => string; Head: Component<{ link: Link }> };

/** Reading is what the reader needs of the list that a message is in. */
export type Reading = Pick<Inbox, "state" | "read" | "markUnseen" | "delete" | "linkIn">;

/** Arrival is called for each message that comes while the page is open. */
type Arrival = (box: Box, message: Summary) => void;

export class Inbox {
  messages = $state<Summary[]>([]);
  nextCursor = $state<string | null>(null);
  state = $state<LiveState | "connecting">("connecting");
  syncedAt = $state(0); // milliseconds; when the list was last known to be complete
  openedWhen = performance.now(); // for durations, which do not change when the time of the server becomes known
  link = $state.raw<Linked | null>(null);
  /** newest is the newest message that has a code or is that of link. */
  newest = $derived(this.messages.find((message) => message.otp || message.id === this.link?.id) ?? null);
  #full = new Map<string, Message>();
  #stop: (() => void) | null = null;

  constructor(
    readonly id: string,
    readonly arrival: Arrival,
  ) {}

  /** openedAt is the server's time when the page was opened, as early as it may have been: what came since is news. */
  get openedAt(): number {
    return clock.at(this.openedWhen);
  }

  get #box(): Box | undefined {
    return boxes.find(this.id);
  }

  open(): void {
    const box = this.#box;
    if (!box || box.ended || this.#stop) return;
    this.#recall();
    this.#stop = watch(this.id, box.token, {
      first: (messages, nextCursor) => {
        const known = new Set(this.messages.map((message) => message.id));
        const later = this.syncedAt > 0 && !this.#recalled ? messages.filter((message) => !known.has(message.id)) : [];
        this.#recalled = false;
        this.messages = messages;
        this.nextCursor = nextCursor;
        this.#changed();
        for (const message of later.reverse()) this.arrival(box, message);
      },
      arrived: (messages) => {
        const known = new Set(this.messages.map((message) => message.id));
        const fresh = messages.filter((message) => !known.has(message.id));
        this.messages = [...fresh, ...this.messages];
        this.#changed();
        for (const message of [...fresh].reverse()) this.arrival(box, message);
      },
      seen: (id, seen) => this.#mark(id, seen),
      deleted: (id) => this.#remove(id),
      extended: (expiresAt) => boxes.setExpiry(this.id, expiresAt),
      state: (state) => (this.state = state),
      ended: (reason) => {
        this.close();
        if (this.#box?.token === box.token) boxes.end(this.id, reason);
        else this.open(); // it was the old token that ended: the mailbox was extended in another tab
      },
    });
  }

  close(): void {
    this.#stop?.();
    this.#stop = null;
    if (this.state !== "connecting") this.syncedAt = clock.read();
  }

  /** recall shows the list as it was last, until the server has answered. */
  #recall(): void {
    const last = load<Last>(lastKey);
    if (this.syncedAt > 0 || last?.id !== this.id) return;
    this.messages = last.messages;
    this.syncedAt = last.at;
    this.#recalled = true;
  }
  #recalled = false;

  #changed(): void {
    this.syncedAt = clock.read();
    save(lastKey, { id: this.id, at: this.syncedAt, messages: this.messages.slice(0, lastMessages) } satisfies Last);
    if (this.nextCursor === null) boxes.setUnread(this.id, this.messages.filter((message) => !message.seen).length);
  }

  /** older loads the page behind the last message shown. */
  async older(): Promise<void> {
    const box = this.#box;
    if (!box || !this.nextCursor) return;
    const page = await listMessages(box.token, { cursor: this.nextCursor });
    this.messages = [...this.messages, ...page.data];
    this.nextCursor = page.nextCursor;
  }

  /** read returns a message in full and marks it as seen. */
  async read(id: string): Promise<Message> {
    const known = this.#full.get(id);
    if (known) return known;
    const message = await readMessage(this.#box?.token ?? "", id);
    this.#full.set(id, message);
    this.#mark(id, true);
    return message;
  }

  /** linkIn is the link that a message asks to open, where the card has found it. */
  linkIn = (message: Message): Link | null => (this.link?.id === message.id ? this.link.link : null);

  /** markUnseen makes a message look new again; reading it anew marks it as seen. */
  async markUnseen(id: string): Promise<void> {
    await setSeen(this.#box?.token ?? "", id, false);
    this.#full.delete(id);
    this.#mark(id, false);
  }

  #mark(id: string, seen: boolean): void {
    this.messages = this.messages.map((message) => (message.id === id ? { ...message, seen } : message));
    this.#changed();
  }

  #remove(id: string): void {
    this.#full.delete(id);
    this.messages = this.messages.filter((message) => message.id !== id);
    this.#changed();
  }

  async delete(id: string): Promise<void> {
    try {
      await deleteMessage(this.#box?.token ?? "", id);
    } catch (thrown) {
      if (failure(thrown).status !== 404) throw thrown; // it is gone either way
    }
    this.#remove(id);
  }
}
