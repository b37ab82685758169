// The visitor's mailboxes, kept across reloads on this device. Those after the first are made in a guest session, which lists them.
import { type Mailbox, createMailbox, destroyMailbox, endingOf, extendMailbox, failure, firstMailbox, readMailbox, readSession, startSession } from "./api/client";
import { clock } from "./clock.svelte";
import { earlyMailbox } from "./first";
import { load, onChange, save } from "./store";

/** Ended says when a mailbox ended and why. */
export type Ended = { at: string; reason: "expired" | "destroyed" };

/** Box is a mailbox as this device knows it. */
export type Box = {
  id: string;
  address: string;
  localPart: string;
  domain: string;
  token: string;
  expiresAt: string;
  setAt: string; // when expiresAt was set: the ring is full then
  unread: number;
  ended: Ended | null;
  ofAccount?: boolean; // opened from an account, and put away when that signs out
};

/** Saved is what is stored. gone are mailboxes that were taken off this device, which no other tab may bring back. */
type Saved = { session: string; boxes: Box[]; active: string; gone?: string[] };

const key = "boxes";
const remembered = 100; // ids in gone

function boxOf(mailbox: Mailbox, setAt = mailbox.createdAt): Box {
  const { id, address, localPart, domain, expiresAt, unreadCount, token = "" } = mailbox;
  return { id, address, localPart, domain, token, expiresAt, setAt, unread: unreadCount, ended: null };
}

const isLive = (box: Box) => !box.ended;

class Boxes {
  list = $state<Box[]>([]);
  active = $state("");
  current = $derived(this.list.find((box) => box.id === this.active));
  /** past is the mailbox that had ended when the page was opened, and which a new one replaced. */
  past = $state<Box | null>(null);
  #session = "";
  #gone: string[] = [];
  #listening = false; // other tabs are listened to

  /**
   * start shows the mailboxes of this device, or makes the first. Up to the first call it does not wait, so that the page is
   * drawn with the address that start.js has shown already.
   */
  async start(): Promise<void> {
    this.#restore();
    if (!this.#listening) onChange(key, () => this.#restore(true));
    this.#listening = true;
    // start.js made one because there was none; another tab may have stored its own meanwhile.
    const first = earlyMailbox();
    if (!first && this.list.some(isLive)) {
      await this.refresh();
      if (this.list.some(isLive)) return;
    }
    if (!this.list.some(isLive)) this.past = this.current ?? null;
    const ended = this.list.filter((box) => box.ended).map((box) => box.id);
    if (first) {
      clock.sync(first.date, first.sent);
      this.#add(boxOf(first.mailbox));
    } else await this.#make(firstMailbox, this.#session);
    this.#update((list) => list, ended);
  }

  /** restore takes over what is stored; with changed, because another tab has just stored it. */
  #restore(changed = false): void {
    const saved = load<Saved>(key);
    if (!saved) return;
    if (changed) this.#session = saved.session || this.#session;
    const stored = new Set(saved.boxes.map((box) => box.id));
    this.#merge(saved);
    const wanted = this.active || saved.active; // what this tab shows stays
    this.active = (this.find(wanted) ?? this.list[0])?.id ?? "";
    // Two tabs that stored at the same time: the later one did not know what the other had made.
    if (changed && this.list.some((box) => isLive(box) && !stored.has(box.id))) this.#save();
  }

  /** merge adds what other tabs have stored to what this one knows. What ended is left out unless this tab shows it. */
  #merge(saved: Saved): void {
    this.#session ||= saved.session;
    this.#gone = [...new Set([...(saved.gone ?? []), ...this.#gone])].slice(-remembered);
    const gone = new Set(this.#gone);
    const stored = new Set(saved.boxes.map((box) => box.id));
    const unsaved = this.list.filter((box) => !stored.has(box.id));
    const merged = saved.boxes.map((box) => {
      const { ended } = this.find(box.id) ?? box;
      return ended ? { ...box, ended, unread: 0 } : box;
    });
    const all = [...unsaved, ...merged].filter((box) => !gone.has(box.id));
    const shown = all.filter((box) => isLive(box) || box.id === this.active);
    this.list = shown.length > 0 ? shown : all;
  }

  /** update changes the list as it is stored now, which other tabs may have changed meanwhile, and stores it. */
  #update(change: (list: Box[]) => Box[], gone: string[] = []): void {
    const saved = load<Saved>(key);
    if (saved) this.#merge(saved);
    this.#gone = [...this.#gone, ...gone].slice(-remembered);
    this.list = change(this.list).filter((box) => !gone.includes(box.id));
    this.#save();
  }

  #save(): void {
    save(key, { session: this.#session, boxes: this.list, active: this.active, gone: this.#gone } satisfies Saved);
  }

  choose(id: string): void {
    this.active = id;
    this.#update((list) => list);
  }

  /** addFromAccount shows a mailbox of an account beside those of this device. */
  addFromAccount(mailbox: Mailbox): void {
    this.#add({ ...boxOf(mailbox), ofAccount: true });
  }

  /** removeAccountBoxes takes the mailboxes of an account off this device. */
  removeAccountBoxes(): void {
    this.#restore();
    const gone = this.list.filter((box) => box.ofAccount).map((box) => box.id);
    if (gone.length > 0) save("last", null);
    this.#remove(gone);
  }

  #remove(ids: string[]): void {
    const left = this.list.filter((box) => !ids.includes(box.id));
    if (ids.includes(this.active)) this.active = left[0]?.id ?? "";
    this.#update((list) => list, ids);
    this.active = (this.find(this.active) ?? this.list[0])?.id ?? "";
  }

  find = (id: string): Box | undefined => this.list.find((box) => box.id === id);

  /** create makes a mailbox and shows it. A session that has lapsed is replaced; its mailboxes keep their own time. */
  create = (options: { localPart?: string; domain?: string } = {}): Promise<void> => this.#make((session) => createMailbox(session, options));

  async #make(call: (session: string) => Promise<Mailbox>, known?: string): Promise<void> {
    let session = known ?? (this.#session || (await startSession()).key);
    let made: Mailbox;
    try {
      made = await call(session);
    } catch (thrown) {
      if (failure(thrown).status !== 401) throw thrown;
      session = (await startSession()).key;
      made = await call(session);
    }
    this.#session = session || this.#session;
    this.#add(boxOf(made));
  }

  #add(box: Box): void {
    this.#gone = this.#gone.filter((id) => id !== box.id);
    this.active = box.id;
    this.#update((list) => [box, ...list.filter((other) => other.id !== box.id)]);
  }

  async extend(box: Box): Promise<void> {
    const mailbox = await extendMailbox(box.token);
    this.#change(box.id, { expiresAt: mailbox.expiresAt, token: mailbox.token ?? box.token, setAt: clock.iso() });
  }

  async destroy(box: Box): Promise<void> {
    await destroyMailbox(box.token);
    this.end(box.id, "destroyed");
  }

  /** end marks a mailbox as ended, as the server has said; it stays on screen until the visitor leaves it. */
  end(id: string, reason: Ended["reason"]): void {
    const box = this.find(id);
    if (!box || box.ended) return;
    if (load<{ id: string }>("last")?.id === id) save("last", null); // mail is erased with its mailbox
    this.#change(id, { unread: 0, ended: { at: reason === "expired" ? box.expiresAt : clock.iso(), reason } });
  }

  /** dismiss takes an ended mailbox off the screen. */
  dismiss(id: string): void {
    this.#remove([id]);
  }

  /** replace makes a new mailbox where an ended one was. */
  async replace(id: string): Promise<void> {
    await this.create();
    this.dismiss(id);
  }

  /** setExpiry takes over an extension that was made elsewhere. */
  setExpiry(id: string, expiresAt: string): void {
    if (this.find(id)?.expiresAt !== expiresAt) this.#change(id, { expiresAt, setAt: clock.iso() });
  }

  setUnread(id: string, unread: number): void {
    if (this.find(id)?.unread !== unread) this.#change(id, { unread });
  }

  #change(id: string, change: Partial<Box>): void {
    this.#update((list) => list.map((box) => (box.id === id ? { ...box, ...change } : box)));
  }

  /** refresh asks the server for the state of every mailbox: one call for those of the session, one for each other. */
  async refresh(): Promise<void> {
    const known = await (this.#session ? readSession(this.#session) : Promise.reject())
      .then((session) => new Map(session.mailboxes.map((mailbox) => [mailbox.id, mailbox])))
      .catch(() => new Map<string, Mailbox>());
    await Promise.all(this.list.filter(isLive).map((box) => this.check(box.id, known.get(box.id))));
  }

  /** check asks the server for the state of a mailbox, unless it is known. Only the server's answer ends a mailbox. */
  async check(id: string, known?: Mailbox): Promise<void> {
    const box = this.find(id);
    if (!box || box.ended) return;
    try {
      const { expiresAt, unreadCount, token = box.token } = known ?? (await readMailbox(box.token));
      if (expiresAt !== box.expiresAt || unreadCount !== box.unread) this.#change(id, { expiresAt, unread: unreadCount, token });
    } catch (thrown) {
      const reason = endingOf(failure(thrown));
      if (reason && this.find(id)?.token === box.token) this.end(id, reason); // an extension elsewhere gave it a new token
    }
  }
}

export const boxes = new Boxes();
