import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "./client";
import type { Event } from "./events";
import { type Source, shared } from "./shared";

type Waiting = { granted: (lock: unknown) => Promise<void> | unknown; resolve: (value?: unknown) => void; reject: (error: Error) => void };

/** Locks is what a browser has as navigator.locks, with exclusive locks alone. */
class Locks {
  /** late are those that lost a lock and do not know it yet, where their tab is asleep. */
  late: (() => void)[] | null = null;
  held = new Map<string, Waiting>();
  queues = new Map<string, Waiting[]>();

  request(name: string, options: LockOptions, granted: Waiting["granted"]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const wanted = { granted, resolve, reject };
      if (options.steal) {
        const loser = this.held.get(name);
        const lose = () => loser?.reject(new DOMException("stolen", "AbortError"));
        if (this.late) this.late.push(lose);
        else lose();
        this.held.delete(name);
        return this.#grant(name, wanted);
      }
      if (!this.held.has(name)) return this.#grant(name, wanted);
      if (options.ifAvailable) return resolve(granted(null));
      this.queues.set(name, [...(this.queues.get(name) ?? []), wanted]);
      options.signal?.addEventListener("abort", () => {
        this.queues.set(name, (this.queues.get(name) ?? []).filter((other) => other !== wanted));
        reject(new DOMException("aborted", "AbortError"));
      });
    });
  }

  #grant(name: string, wanted: Waiting): void {
    this.held.set(name, wanted);
    void Promise.resolve(wanted.granted({ name })).then(() => {
      wanted.resolve();
      if (this.held.get(name) !== wanted) return; // it was stolen
      this.held.delete(name);
      const next = this.queues.get(name)?.shift();
      if (next) this.#grant(name, next);
    });
  }
}

/** Channel is a BroadcastChannel whose messages arrive at once; a deaf one hears nothing, as that of a frozen tab. */
class Channel {
  static all = new Set<Channel>();
  static deaf = new Set<Channel>();
  onmessage: ((event: { data: unknown }) => void) | null = null;
  constructor(readonly name: string) {
    Channel.all.add(this);
  }
  postMessage(data: unknown): void {
    for (const other of Channel.all) {
      if (other !== this && other.name === this.name && !Channel.deaf.has(other)) void Promise.resolve().then(() => other.onmessage?.({ data }));
    }
  }
  close(): void {
    Channel.all.delete(this);
  }
}

/** Tab follows a topic as a tab does: anew each time the events end. */
class Tab {
  heard: string[] = [];
  streams = 0;
  polls = 0;
  leaving = new AbortController();
  emit: (event: Event) => void = () => {};
  fail: (error: Error) => void = () => {};

  constructor(readonly topic: string) {
    void this.run();
  }

  get #source(): Source {
    return {
      topic: this.topic,
      open: (signal, opened) => this.#open(signal, opened),
      poll: async () => {
        this.polls++;
        return [];
      },
    };
  }

  async *#open(signal: AbortSignal, opened: () => void): AsyncGenerator<Event> {
    this.streams++;
    try {
      const queue: (Event | Error)[] = [];
      let wake = () => {};
      const put = (what: Event | Error) => (queue.push(what), wake());
      this.emit = this.fail = put;
      signal.addEventListener("abort", () => put(new DOMException("aborted", "AbortError")));
      opened();
      for (;;) {
        for (let next = queue.shift(); next; next = queue.shift()) {
          if (next instanceof Error) throw next;
          yield next;
        }
        await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      this.streams--;
    }
  }

  async run(): Promise<void> {
    while (!this.leaving.signal.aborted) {
      this.heard.push("list");
      try {
        for await (const event of shared(this.#source, this.leaving.signal, () => {})) this.heard.push(event.kind);
      } catch (thrown) {
        if (this.leaving.signal.aborted) return;
        this.heard.push((thrown as ApiError).code);
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  close(): void {
    this.leaving.abort();
  }
}

const seen: Event = { kind: "seen", id: "1", seen: true };
const settle = (milliseconds = 0) => vi.advanceTimersByTimeAsync(milliseconds);
let tabs: Tab[] = [];
let locks: Locks;
const open = (topic = "a") => {
  const tab = new Tab(topic);
  tabs.push(tab);
  return tab;
};
const streams = () => tabs.reduce((sum, tab) => sum + tab.streams, 0);
const leader = () => tabs.find((tab) => tab.streams > 0)!;

beforeEach(() => {
  vi.useFakeTimers();
  const target = new EventTarget();
  for (const name of ["addEventListener", "removeEventListener"] as const) vi.stubGlobal(name, target[name].bind(target));
  vi.stubGlobal("document", Object.assign(new EventTarget(), { hidden: false }));
  locks = new Locks();
  vi.stubGlobal("navigator", { locks });
  vi.stubGlobal("BroadcastChannel", Channel);
});

afterEach(async () => {
  for (const tab of tabs) tab.close();
  await settle(1000);
  tabs = [];
  Channel.all.clear();
  Channel.deaf.clear();
  vi.useRealTimers();
});

test("eight tabs have one stream, and all hear what it tells", async () => {
  for (let i = 0; i < 8; i++) open();
  await settle();
  expect(streams()).toBe(1);
  leader().emit(seen);
  await settle();
  expect(tabs.map((tab) => tab.heard)).toEqual(tabs.map(() => ["list", "seen"]));
});

test("when the tab with the stream is closed another one takes over, and all read the list again", async () => {
  for (let i = 0; i < 4; i++) open();
  await settle();
  leader().close();
  await settle(1000);
  expect(streams()).toBe(1);
  leader().emit(seen);
  await settle();
  for (const tab of tabs.filter((tab) => !tab.leaving.signal.aborted)) expect(tab.heard).toEqual(["list", "list", "seen"]);
});

test("a tab with the stream that sleeps is replaced", async () => {
  open();
  await settle();
  for (const channel of Channel.all) Channel.deaf.add(channel);
  locks.late = [];
  const asleep = leader();
  const others = [open(), open()];
  await settle(30_000);
  expect(others.filter((tab) => tab.streams === 1).length).toBe(1);
  others.find((tab) => tab.streams === 1)!.emit(seen);
  await settle();
  for (const tab of others) expect(tab.heard.at(-1)).toBe("seen");
  for (const lose of locks.late) lose();
  await settle(10_000);
  expect(asleep.streams).toBe(0); // it listens like the others once it is awake
  expect(streams()).toBe(1);
});

test("a tab that is about to be frozen gives the stream away", async () => {
  for (let i = 0; i < 3; i++) open();
  await settle();
  const before = leader();
  document.dispatchEvent(new globalThis.Event("freeze"));
  await settle(2000);
  expect(streams()).toBe(1);
  expect(before.heard).toEqual(["list", "list"]);
});

test("a listener that missed an event reads the list again", async () => {
  open();
  const other = open();
  await settle();
  Channel.deaf.add([...Channel.all][1]!); // that of the listener
  leader().emit(seen);
  await settle();
  expect(other.heard).toEqual(["list"]);
  Channel.deaf.clear();
  leader().emit(seen);
  await settle(1000);
  expect(other.heard).toEqual(["list", "list"]);
});

test("a refusal reaches every tab", async () => {
  for (let i = 0; i < 3; i++) open();
  await settle();
  leader().fail(new ApiError(429, "rate.limited", "", 7));
  await settle();
  for (const tab of tabs) expect(tab.heard).toEqual(["list", "rate.limited"]);
});

test("that the token of another tab has ended ends nothing here: the list is read by the own token", async () => {
  for (const code of ["mailbox.expired", "auth.invalid_token"]) {
    const asking = [open(code), open(code), open(code)];
    await settle();
    const before = asking.find((tab) => tab.streams > 0)!;
    before.fail(new ApiError(code === "mailbox.expired" ? 410 : 401, code, ""));
    await settle(1000);
    expect(before.heard).toContain(code);
    for (const tab of asking.filter((tab) => tab !== before)) expect(tab.heard).toEqual(["list", "list"]);
  }
});

test("the end of another tab's stream ends the events here, and is not passed on", async () => {
  const asking = [open(), open()];
  await settle();
  leader().emit({ kind: "end", reason: "expired" });
  await settle(1000);
  expect(asking.map((tab) => tab.heard)).toEqual([["list", "end"], ["list", "list"]]);
});

test("of many topics three have a stream, and the others ask until one is free", async () => {
  for (const topic of ["a", "b", "c", "d", "e"]) open(topic);
  await settle(6000);
  expect(streams()).toBe(3);
  const asking = tabs.filter((tab) => tab.streams === 0);
  for (const tab of asking) expect(tab.polls).toBeGreaterThan(0);
  leader().close();
  await settle(6000);
  expect(streams()).toBe(3);
});

test("without locks a tab that is seen has a stream, and a hidden one asks", async () => {
  vi.stubGlobal("navigator", {});
  const tab = open();
  await settle();
  expect(tab.streams).toBe(1);
  Object.assign(document, { hidden: true });
  document.dispatchEvent(new globalThis.Event("visibilitychange"));
  await settle(20_000);
  expect(tab.streams).toBe(0);
  expect(tab.polls).toBeGreaterThan(1);
  Object.assign(document, { hidden: false });
  document.dispatchEvent(new globalThis.Event("visibilitychange"));
  await settle(2000);
  expect(tab.streams).toBe(1);
});
