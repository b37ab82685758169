// The messages of all mailboxes of an account, kept up to date while the inbox is open.
import { followAccount } from "./api/accountEvents";
import { type ApiError, type Message, deleteMessage, endingOf, failure, readMessage, setSeen } from "./api/client";
import { type Event } from "./api/events";
import { type Chosen, type Mail, type MailCount, countMails, deleteMails, lapse, listMails, markMails, openToken, tagMails } from "./api/mails";
import type { LiveState } from "./live";
import { linkOf } from "./link";
import { joined, merged } from "./rows";
import { looksAtTags } from "./tags";

const pageSize = 100;
const pause = 100; // milliseconds between two readings of what has come: one reading has all of a burst
const countPause = 1000; // milliseconds between two counts
const graceMilliseconds = 2000; // a shorter interruption is not shown
const offlineAfter = 4; // failures in a row

export class AllMail {
  /** messages are those that have been read, newest first. */
  messages = $state.raw<Mail[]>([]);
  /** next is the cursor of those behind; null where there are none. */
  next = $state<string | null>(null);
  loaded = $state(false);
  /** loading is set while the list that was asked for last has not been read. */
  loading = $state(false);
  /** total is how many messages the list has that the list has with those that have not been read yet; null where that is not known. */
  total = $derived.by((): MailCount | null => {
    if (this.next === null && this.loaded) return { count: this.messages.length, unread: this.messages.filter(({ seen }) => !seen).length };
    return this.#counted;
  });
  error = $state<ApiError | null>(null);
  state = $state<LiveState | "connecting">("connecting");
  syncedAt = $state(0);
  q = $state("");
  /** project is the name of the project whose messages are listed; empty for all. */
  project = $state("");
  /** token is the credential that the parts of the reader present. */
  token = $state("");

  #opened = $state.raw<{ id: string; tags: string[] } | null>(null); // the message that was read last; the list may not have it
  #counted = $state.raw<MailCount | null>(null);
  #countTimer: ReturnType<typeof setTimeout> | undefined;
  #loads = 0; // a search ends what an earlier one still reads
  #loading: Promise<void> = Promise.resolve(); // never rejected
  #reading: Promise<void> | null = null;
  #events: Event[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = 0; // performance.now() of the last reading
  #grace: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #stop: (() => void) | null = null;

  /** arrived is called before messages are put in front of the list, and gone with the ids of those that are left out. */
  constructor(
    readonly arrived: (messages: Mail[]) => void,
    readonly gone: (ids: ReadonlySet<string>) => void,
  ) {}

  open(q: string, project: string): void {
    this.q = q;
    this.project = project;
    void this.load();
    let presented = "";
    this.#stop = followAccount(async () => (presented = this.token = await openToken()), {
      opened: () => {
        this.#failures = 0;
        clearTimeout(this.#grace);
        this.#grace = undefined;
        this.state = "live";
        this.#told({ kind: "changed" }); // what came since the list was read
      },
      event: (event) => this.#told(event),
      failed: (error) => {
        this.#failed();
        return endingOf(error) && error.status === 401 ? lapse(presented) : true;
      },
    });
  }

  close(): void {
    this.#stop?.();
    this.#loads++; // what is still read does not count
    for (const timer of [this.#timer, this.#countTimer, this.#grace]) clearTimeout(timer);
    this.#timer = this.#countTimer = this.#grace = undefined; // so that they are set again after open
  }

  #failed(): void {
    this.#failures++;
    if (!navigator.onLine || this.#failures >= offlineAfter) this.state = "offline";
    else this.#grace ??= setTimeout(() => (this.state = navigator.onLine ? "reconnecting" : "offline"), graceMilliseconds);
  }

  /** find shows what a search finds, in all projects or in one. */
  find(q: string, project = this.project): Promise<void> {
    this.q = q;
    this.project = project;
    return this.load();
  }

  /** count counts what is listed, now. */
  async count(): Promise<MailCount | null> {
    if (this.next === null) return this.total;
    const load = this.#loads;
    const counted = await countMails(this.#narrowed());
    if (load === this.#loads) this.#counted = counted;
    return counted;
  }

  /** recount counts again soon, where a part of the list was not read. */
  #recount(): void {
    this.#countTimer ??= setTimeout(() => {
      this.#countTimer = undefined;
      void this.count().catch(() => {}); // it is only shown
    }, this.#counted ? countPause : 0);
  }

  #narrowed() {
    return { ...(this.q.trim() && { q: this.q.trim() }), ...(this.project && { project: this.project }) };
  }

  #query() {
    return { limit: pageSize, ...this.#narrowed() };
  }

  /** load reads the newest page; what is shown stays until it is there. */
  load(): Promise<void> {
    return (this.#loading = this.#load());
  }

  async #load(): Promise<void> {
    const load = ++this.#loads;
    this.loading = true;
    this.#reading = null;
    this.#events = [];
    try {
      const page = await listMails(this.#query());
      this.token = await openToken();
      if (load !== this.#loads) return;
      this.messages = page.data;
      this.next = page.nextCursor;
      this.error = null;
      this.loaded = true;
      this.syncedAt = Date.now();
      this.#counted = null;
      this.#recount();
    } catch (thrown) {
      if (load === this.#loads) this.error = failure(thrown);
    } finally {
      if (load === this.#loads) this.loading = false;
    }
  }

  /** more reads the page behind the last one. */
  more(): Promise<void> {
    if (!this.next) return Promise.resolve();
    return (this.#reading ??= this.#more());
  }

  async #more(): Promise<void> {
    const load = this.#loads;
    try {
      const page = await listMails({ ...this.#query(), cursor: this.next! });
      if (load !== this.#loads) return;
      const last = this.messages.at(-1)?.id;
      this.messages = [...this.messages, ...page.data.filter(({ id }) => !last || id < last)];
      this.next = page.nextCursor;
    } catch (thrown) {
      if (load === this.#loads) this.error = failure(thrown);
    } finally {
      if (load === this.#loads) this.#reading = null;
    }
  }

  #told(event: Event): void {
    this.#events.push(event);
    this.#schedule();
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#apply(), Math.max(0, this.#last + pause - performance.now()));
  }

  /** apply takes over all that was told since the last time. */
  async #apply(): Promise<void> {
    await this.#loading; // or its page, which may be older, would take the place of what is read here
    const events = this.#events.splice(0);
    const seen = new Map<string, boolean>();
    const gone = new Set<string>();
    const tags = new Map<string, string[]>();
    let [arrived, changed] = [false, false];
    for (const event of events) {
      if (event.kind === "seen") seen.set(event.id, event.seen);
      else if (event.kind === "tagged") tags.set(event.id, event.tags);
      else if (event.kind === "deleted") gone.add(event.id);
      else if (event.kind === "message") arrived = true;
      else if (event.kind === "changed") changed = true;
    }
    if (gone.size > 0) this.#leaveOut(gone);
    if (seen.size > 0) this.#mark(seen);
    if (tags.size > 0) this.#tag(tags);
    const load = this.#loads;
    try {
      if (changed) await this.#again(load);
      else if (arrived) await this.#since(load);
      if (tags.size > 0 && !changed && looksAtTags(this.q)) await this.#matching(load);
    } catch (thrown) {
      if (failure(thrown).status !== 0) this.error = failure(thrown);
    }
    this.#recount();
    this.#last = performance.now();
    this.#timer = undefined;
    if (this.#events.length > 0) this.#schedule();
  }

  /** since reads what came after the newest message. */
  async #since(load: number): Promise<void> {
    const after = this.messages[0]?.id;
    if (!this.loaded || !after) return this.#again(load);
    const page = await listMails({ ...this.#query(), after });
    if (load !== this.#loads) return;
    if (page.nextCursor) return this.#again(load); // more than a page: what is behind it is read as one scrolls
    this.#put(page.data);
  }

  /** again reads the newest page again, as after a time without a stream. */
  async #again(load: number): Promise<void> {
    const page = await listMails(this.#query());
    if (load !== this.#loads) return;
    const before = this.messages;
    const after = merged(before, page.data, page.nextCursor === null);
    if (after.length === page.data.length) this.next = page.nextCursor;
    const known = new Set(before.map(({ id }) => id));
    const fresh = page.data.filter(({ id }) => !known.has(id));
    if (this.loaded && fresh.length > 0) this.arrived(fresh);
    this.messages = after;
    this.loaded = true;
    this.error = null;
    this.syncedAt = Date.now();
  }

  /** matching puts what the search finds now among what it found before, which stays as what was read stays in a search for what was not. */
  async #matching(load: number): Promise<void> {
    const page = await listMails(this.#query());
    if (load === this.#loads) this.messages = joined(this.messages, page.data, this.next === null);
  }

  #put(fresh: Mail[]): void {
    const newest = this.messages[0]?.id ?? "";
    const later = fresh.filter(({ id }) => id > newest);
    if (later.length === 0) return;
    this.arrived(later);
    this.messages = [...later, ...this.messages];
    this.syncedAt = Date.now();
  }

  #mark(seen: ReadonlyMap<string, boolean>): void {
    if (this.messages.some((mail) => (seen.get(mail.id) ?? mail.seen) !== mail.seen)) {
      this.messages = this.messages.map((mail) => (seen.has(mail.id) ? { ...mail, seen: seen.get(mail.id)! } : mail));
    }
  }

  #tag(tags: ReadonlyMap<string, string[]>): void {
    if (this.messages.some(({ id }) => tags.has(id))) {
      this.messages = this.messages.map((mail) => (tags.has(mail.id) ? { ...mail, tags: tags.get(mail.id)! } : mail));
    }
    const opened = this.#opened && tags.get(this.#opened.id);
    if (opened) this.#opened = { id: this.#opened!.id, tags: opened };
  }

  #leaveOut(gone: ReadonlySet<string>): void {
    this.gone(gone);
    if (this.messages.some(({ id }) => gone.has(id))) this.messages = this.messages.filter(({ id }) => !gone.has(id));
  }

  // What the reader calls.

  /** linkIn is the link that a message asks to open; under profile dev many of them are of http. */
  linkIn = (message: Message) => linkOf(message.action?.url);

  /** read returns a message in full, which marks it as seen. */
  async read(id: string): Promise<Message> {
    const message = await readMessage(await openToken(), id);
    this.#opened = { id, tags: message.tags ?? [] };
    this.#mark(new Map([[id, true]]));
    return message;
  }

  async markUnseen(id: string): Promise<void> {
    await setSeen(await openToken(), id, false);
    this.#mark(new Map([[id, false]]));
  }

  async delete(id: string): Promise<void> {
    try {
      await deleteMessage(await openToken(), id);
    } catch (thrown) {
      if (failure(thrown).status !== 404) throw thrown; // it is gone either way
    }
    this.#leaveOut(new Set([id]));
  }

  // What is done to many.

  async mark(ids: string[], seen: boolean): Promise<void> {
    await markMails({ ids }, seen);
    this.#mark(new Map(ids.map((id) => [id, seen])));
    this.#recount();
  }

  /** markAll marks all that is listed, also what has not been read yet. Messages of a project alone cannot be named. */
  async markAll(seen: boolean): Promise<void> {
    const q = this.q.trim();
    await markMails(q ? { q } : { all: true }, seen);
    if (this.q.trim() === q) this.#mark(new Map(this.messages.map(({ id }) => [id, seen])));
    this.#recount();
  }

  /** tagsOf returns the tags of those of some messages that are listed or open. */
  tagsOf(ids: readonly string[]): Map<string, string[]> {
    const wanted = new Set(ids);
    const tags = new Map<string, string[]>();
    if (this.#opened && wanted.has(this.#opened.id)) tags.set(this.#opened.id, this.#opened.tags);
    for (const mail of this.messages) if (wanted.has(mail.id)) tags.set(mail.id, mail.tags ?? []);
    return tags;
  }

  /** retag gives messages other tags. They are shown at once; the events of the change have them as the service spells them. */
  async retag(tags: ReadonlyMap<string, string[]>): Promise<void> {
    const undone = this.tagsOf([...tags.keys()]);
    const calls = new Map<string, { ids: string[]; tags: string[] }>();
    for (const [id, those] of tags) {
      const key = those.join();
      const one = calls.get(key) ?? { ids: [], tags: those };
      calls.set(key, one);
      one.ids.push(id);
    }
    this.#tag(tags);
    try {
      for (const { ids, tags } of calls.values()) {
        await tagMails(ids, tags);
        for (const id of ids) undone.delete(id);
      }
    } catch (thrown) {
      this.#tag(undone);
      throw thrown;
    }
  }

  async remove(ids: string[]): Promise<void> {
    await deleteMails({ ids });
    this.#leaveOut(new Set(ids));
    this.#recount();
  }

  /** removeAll deletes all that is listed, also what has not been read yet, and returns how many they were. */
  async removeAll(): Promise<number> {
    const q = this.q.trim();
    const listed = () => ({ ids: this.messages.map(({ id }) => id) }); // no selection of the API names a project
    const count = await deleteMails((this.project ? listed() : q ? { q } : { all: true }) satisfies Chosen);
    await this.load();
    return count;
  }
}
