// One event stream for all tabs of a browser. Over HTTP/1.1 a browser opens six connections to a host, all tabs together, so
// six tabs with a stream each could do nothing else. The tab that holds the lock of a topic reads its stream and passes what
// it tells to the others; the lock goes to another tab when that one is closed, leaves, or no longer answers.
import { abortOn } from "../abort";
import { ApiError, endingOf, failure } from "./client";
import type { Event } from "./events";

/** Source is what is followed. topic names it, the same in every tab. */
export type Source = {
  topic: string;
  /** open gives the stream, and calls opened once it is there. */
  open(signal: AbortSignal, opened: () => void): AsyncGenerator<Event>;
  /** poll tells what happened since the last event, where no connection is left for a stream. */
  poll(signal: AbortSignal): Promise<Event[]>;
};

/** Opened is called once events come; relayed, if they come from another tab, from some moment on. */
export type Opened = (relayed: boolean) => void;

const prefix = "gonebox.events.";
const pollEvery = 5000; // milliseconds
const askEvery = 3000; // milliseconds between questions to the tab that has the stream
const maxUnanswered = 2; // questions without an answer after which that tab is taken to sleep

/** streams is how many streams the tabs have open together; over HTTP/2 they share a connection. */
const streams = () => {
  const [navigation] = (globalThis.performance?.getEntriesByType?.("navigation") ?? []) as PerformanceNavigationTiming[];
  return /^h[23]/.test(navigation?.nextHopProtocol ?? "") ? 12 : 3;
};

/** Message is what tabs tell each other. sent is the number of events that were passed on so far. */
type Message =
  | { kind: "ask" }
  | { kind: "here"; open: boolean; sent: number }
  | { kind: "event"; event: Event; sent: number }
  | { kind: "failed"; status: number; code: string; detail: string; retryAfter: number };

/** shared yields the events of a source, for as long as they come without a gap; what was missed then has to be read anew. */
export async function* shared(source: Source, stop: AbortSignal, opened: Opened): AsyncGenerator<Event> {
  // Web Locks need a secure context, which plain HTTP to another machine is not.
  if (!globalThis.navigator?.locks || !globalThis.BroadcastChannel) return yield* unshared(source, stop, opened);
  const leaving = abortOn([document, "freeze"], [globalThis, "pagehide"]); // before the page sleeps or is kept for the Back button
  try {
    const lock = await acquireLock(prefix + source.topic, { ifAvailable: true });
    if (lock) yield* publish(source, lock, AbortSignal.any([stop, lock.lost, leaving.signal]), opened);
    else yield* subscribe(source.topic, AbortSignal.any([stop, leaving.signal]), opened);
  } catch (thrown) {
    if (!leaving.signal.aborted) throw thrown;
  } finally {
    leaving.done();
  }
}

type Lock = { release: () => void; lost: AbortSignal };

/** acquireLock takes a lock until it is released; null where it cannot be had. lost is aborted when another tab takes it away. */
function acquireLock(name: string, options: LockOptions): Promise<Lock | null> {
  return new Promise((resolve) => {
    const lost = new AbortController();
    const granted = (lock: unknown) => lock && new Promise<void>((release) => resolve({ release, lost: lost.signal }));
    const settled = () => {
      lost.abort();
      resolve(null); // it was not available
    };
    navigator.locks.request(name, options, granted).then(settled, settled);
  });
}

/** publish reads the source and passes on what it tells. */
async function* publish(source: Source, lock: Lock, signal: AbortSignal, opened: Opened): AsyncGenerator<Event> {
  const channel = new BroadcastChannel(prefix + source.topic);
  const post = (message: Message) => channel.postMessage(message);
  let open = false;
  let sent = 0;
  const postState = () => post({ kind: "here", open, sent });
  channel.onmessage = ({ data }: MessageEvent<Message>) => data.kind === "ask" && postState();
  postState();
  try {
    const ready = () => {
      open = true;
      postState();
      opened(false);
    };
    for await (const event of connected(source, signal, ready)) {
      post({ kind: "event", event, sent: ++sent });
      yield event;
    }
  } catch (thrown) {
    if (lock.lost.aborted) return;
    const { status, code, detail, retryAfter } = failure(thrown);
    if (!signal.aborted) post({ kind: "failed", status, code, detail, retryAfter });
    throw thrown;
  } finally {
    channel.close();
    lock.release();
  }
}

/** connected yields the stream of a source, or asks again and again while others have all streams that may be open. */
async function* connected(source: Source, signal: AbortSignal, opened: () => void): AsyncGenerator<Event> {
  let slot = await freeSlot();
  if (!slot) opened();
  for (; !slot; slot = await freeSlot()) {
    yield* await source.poll(signal);
    await delay(pollEvery, signal);
    if (signal.aborted) return;
  }
  try {
    yield* source.open(AbortSignal.any([signal, slot.lost]), opened);
  } finally {
    slot.release();
  }
}

async function freeSlot(): Promise<Lock | null> {
  for (let i = streams(); i > 0; i--) {
    const slot = await acquireLock(`gonebox.stream.${i}`, { ifAvailable: true });
    if (slot) return slot;
  }
  return null;
}

/** subscribe yields what the tab that has the stream passes on. It ends when that tab is gone or sleeps, or an event was missed. */
async function* subscribe(topic: string, stop: AbortSignal, opened: Opened): AsyncGenerator<Event> {
  const channel = new BroadcastChannel(prefix + topic);
  const end = new AbortController();
  const queue: Event[] = [];
  let problem: ApiError | null = null;
  let wake = () => {};
  const finish = () => {
    end.abort();
    wake();
  };
  let open = false;
  let seen = -1; // of what was passed on; not known yet
  let unanswered = 0;
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === "ask") return;
    unanswered = 0;
    // How a mailbox ended each tab asks itself: the other one may have an older token, which ends before the mailbox does.
    if (data.kind === "event" && data.event.kind === "end") return finish();
    if (data.kind === "failed") {
      const refused = new ApiError(data.status, data.code, data.detail, data.retryAfter);
      if (!endingOf(refused)) problem = refused;
      return finish();
    }
    const next = data.kind === "event" ? data.sent - 1 : data.sent;
    if (seen >= 0 && seen !== next) return finish();
    seen = data.sent;
    if (data.kind === "event") queue.push(data.event);
    if (!open && (data.kind === "event" || data.open)) {
      open = true;
      opened(true);
    }
    wake();
  };
  // The lock comes here once its holder has gone. It is given back at once: the tab that reads the list first gets it then.
  void acquireLock(prefix + topic, { signal: AbortSignal.any([stop, end.signal]) }).then((lock) => {
    finish();
    lock?.release();
  });
  const ask = () => {
    if (unanswered++ < maxUnanswered) channel.postMessage({ kind: "ask" } satisfies Message);
    else void acquireLock(prefix + topic, { steal: true }).then((lock) => lock?.release());
  };
  const askIfVisible = () => document.hidden || ask();
  ask();
  const timer = setInterval(ask, askEvery);
  document.addEventListener("visibilitychange", askIfVisible);
  stop.addEventListener("abort", finish);
  try {
    for (;;) {
      for (let event = queue.shift(); event; event = queue.shift()) yield event;
      if (problem) throw problem;
      if (end.signal.aborted) return;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", askIfVisible);
    stop.removeEventListener("abort", finish);
    channel.close();
    end.abort();
  }
}

/** unshared is for browsers in which tabs cannot agree: those that are seen have a stream, and the others ask now and then. */
async function* unshared(source: Source, stop: AbortSignal, opened: Opened): AsyncGenerator<Event> {
  const document = globalThis.document as Document | undefined; // none in unit tests
  const toggled = document ? abortOn([document, "visibilitychange"]) : abortOn();
  const signal = AbortSignal.any([stop, toggled.signal]);
  try {
    if (!document?.hidden) yield* source.open(signal, () => opened(false));
    else opened(false);
    while (document?.hidden && !signal.aborted) {
      yield* await source.poll(signal);
      await delay(pollEvery, signal);
    }
  } catch (thrown) {
    if (!toggled.signal.aborted) throw thrown;
  } finally {
    toggled.done();
  }
}

/** delay resolves after so many milliseconds, and earlier where the network comes back. */
export function delay(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      stop.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    addEventListener("online", done);
    stop.addEventListener("abort", done);
    if (stop.aborted) done();
  });
}
