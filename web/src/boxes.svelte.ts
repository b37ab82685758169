// The visitor's mailboxes: a guest session, and the mailboxes made in it, kept across reloads on this device.
import { type Mailbox, createMailbox, destroyMailbox, extendMailbox, failure, firstMailbox, readMailbox, readSession, startSession } from "./api/client";
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

type Saved = { session: string; boxes: Box[]; active: string };

const key = "boxes";

function boxOf(mailbox: Mailbox, setAt = mailbox.createdAt): Box {
  const { id, address, localPart, domain, expiresAt, unreadCount, token = "" } = mailbox;
  return { id, address, localPart, domain, token, expiresAt, setAt, unread: unreadCount, ended: null };
}

class Boxes {
  list = $state<Box[]>([]);
  active = $state("");
  current = $derived(this.list.find((box) => box.id === this.active));
  /** past is the mailbox that had ended when the page was opened, and which a new one replaced. */
  past = $state<Box | null>(null);
  #session = "";
  #followed = false; // other tabs are listened to

  /** start shows the mailboxes of this device, or makes the first. */
  async start(): Promise<void> {
    this.#restore();
    if (!this.#followed) onChange(key, () => this.#restore());
    this.#followed = true;
    const live = this.list.filter((box) => !box.ended);
    if (live.length > 0) {
      await this.refresh();
      return;
    }
    this.past = this.current ?? null;
    await this.#make(firstMailbox);
    this.list = this.list.filter((box) => !box.ended);
    this.#save();
  }

  #restore(): void {
    const saved = load<Saved>(key);
    if (!saved) return;
    const now = Date.now();
    for (const box of saved.boxes) {
      if (!box.ended && Date.parse(box.expiresAt) <= now) box.ended = { at: box.expiresAt, reason: "expired" };
    }
    const live = saved.boxes.filter((box) => !box.ended || box.id === this.active); // what is on screen stays
    this.#session = saved.session;
    this.list = live.length > 0 ? live : saved.boxes;
    const wanted = this.active || saved.active; // what this tab shows stays
    this.active = (this.list.find((box) => box.id === wanted) ?? this.list[0])?.id ?? "";
  }

  #save(): void {
    save(key, { session: this.#session, boxes: this.list, active: this.active } satisfies Saved);
  }

  choose(id: string): void {
    this.active = id;
    this.#save();
  }

  /** adopt shows a mailbox of an account beside those of this device. */
  adopt(mailbox: Mailbox): void {
    this.#restore();
    this.list = [{ ...boxOf(mailbox), ofAccount: true }, ...this.list.filter((box) => box.id !== mailbox.id)];
    this.choose(mailbox.id);
  }

  /** putAway takes the mailboxes of an account off this device. */
  putAway(): void {
    this.#restore();
    if (this.list.some((box) => box.ofAccount)) save("last", null);
    this.list = this.list.filter((box) => !box.ofAccount);
    this.active = this.find(this.active)?.id ?? this.list[0]?.id ?? "";
    this.#save();
  }

  find = (id: string): Box | undefined => this.list.find((box) => box.id === id);

  /** create makes a mailbox and shows it. A session that has lapsed is replaced; its mailboxes keep their own time. */
  create = (wish: { localPart?: string; domain?: string } = {}): Promise<void> => this.#make((session) => createMailbox(session, wish));

  async #make(call: (session: string) => Promise<Mailbox>): Promise<void> {
    this.#session ||= (await startSession()).key;
    let made: Mailbox;
    try {
      made = await call(this.#session);
    } catch (thrown) {
      if (failure(thrown).status !== 401) throw thrown;
      this.#session = (await startSession()).key;
      made = await call(this.#session);
    }
    this.list = [boxOf(made), ...this.list];
    this.choose(made.id);
  }

  async extend(box: Box): Promise<void> {
    const mailbox = await extendMailbox(box.token);
    this.#change(box.id, { expiresAt: mailbox.expiresAt, token: mailbox.token ?? box.token, setAt: new Date().toISOString() });
  }

  async destroy(box: Box): Promise<void> {
    await destroyMailbox(box.token);
    this.end(box.id, "destroyed");
  }

  /** end marks a mailbox as ended; it stays on screen until the visitor leaves it. */
  end(id: string, reason: Ended["reason"]): void {
    const box = this.find(id);
    if (!box || box.ended) return;
    if (load<{ id: string }>("last")?.id === id) save("last", null); // mail is erased with its mailbox
    this.#change(id, { ended: { at: reason === "expired" ? box.expiresAt : new Date().toISOString(), reason } });
  }

  /** leave takes an ended mailbox off the screen. */
  leave(id: string): void {
    this.list = this.list.filter((box) => box.id !== id);
    if (this.active === id) this.active = this.list[0]?.id ?? "";
    this.#save();
  }

  /** replace makes a new mailbox where an ended one was. */
  async replace(id: string): Promise<void> {
    await this.create();
    this.leave(id);
  }

  /** setExpiry takes over an extension that was made elsewhere. */
  setExpiry(id: string, expiresAt: string): void {
    if (this.find(id)?.expiresAt !== expiresAt) this.#change(id, { expiresAt, setAt: new Date().toISOString() });
  }

  setUnread(id: string, unread: number): void {
    if (this.find(id)?.unread !== unread) this.#change(id, { unread });
  }

  #change(id: string, change: Partial<Box>): void {
    this.list = this.list.map((box) => (box.id === id ? { ...box, ...change } : box));
    this.#save();
  }

  /** refresh asks the server for the state of every mailbox: one call for those of the session, one for each other. */
  async refresh(): Promise<void> {
    const known = await readSession(this.#session)
      .then((session) => new Map(session.mailboxes.map((mailbox) => [mailbox.id, mailbox])))
      .catch(() => new Map<string, Mailbox>());
    for (const box of this.list.filter((box) => !box.ended)) {
      try {
        const mailbox = known.get(box.id) ?? (await readMailbox(box.token));
        if (mailbox.expiresAt !== box.expiresAt || mailbox.unreadCount !== box.unread) {
          this.#change(box.id, { expiresAt: mailbox.expiresAt, unread: mailbox.unreadCount, token: mailbox.token ?? box.token });
        }
      } catch (thrown) {
        const { status } = failure(thrown);
        if (status === 410) this.end(box.id, "expired");
        if (status === 401) this.end(box.id, "destroyed");
      }
    }
  }
}

export const boxes = new Boxes();
