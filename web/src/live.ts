// Keeping a mailbox's messages up to date, by its event stream, or by long-polls where streams do not come through.
import { abortOn } from "./abort";
import { type ApiError, type Summary, endingOf, failure, listMessages } from "./api/client";
import { type Event, follow as followEvents } from "./api/events";
import { type Opened, delay, shared } from "./api/shared";

export type LiveState = "live" | "reconnecting" | "offline";

/** Listener is called with what happens to a mailbox. */
export type Listener = {
  /** first are the newest messages and the cursor of those before; it may be called again after a time without network. */
  first(messages: Summary[], nextCursor: string | null): void;
  /** arrived are messages that came after, newest first. */
  arrived(messages: Summary[]): void;
  /** seen and deleted tell what happened to a message elsewhere; extended is the new end of the mailbox. */
  seen(id: string, seen: boolean): unknown;
  deleted(id: string): void;
  extended(expiresAt: string): void;
  state(state: LiveState): void;
  /** ended is called once, where the mailbox has expired or its token is no longer good. */
  ended(reason: "expired" | "destroyed"): void;
};

const waitSeconds = 50;
const graceMilliseconds = 2000; // a shorter interruption is not shown
const maxDelay = 10_000;
const offlineAfter = 4; // failures in a row

/** watch follows a mailbox until the function it returns is called. */
export function watch(id: string, token: string, listener: Listener): () => void {
  const stop = new AbortController();
  void new Watch(id, token, listener, stop.signal).run();
  return () => stop.abort();
}

class Watch {
  #newest: string | undefined;
  #known = false; // the first page was read since the network was last there
  #streams = true; // the server has event streams, as far as is known
  #failures = 0;
  #grace: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly id: string,
    readonly token: string,
    readonly listener: Listener,
    readonly stop: AbortSignal,
  ) {}

  async run(): Promise<void> {
    while (!this.stop.aborted) {
      const call = abortOn([this.stop, "abort"], [globalThis, "offline"]); // the browser says that it is offline
      try {
        if (!this.#known) await this.#first(call.signal);
        if (await this.#follow(call.signal)) break;
      } catch (thrown) {
        if (this.stop.aborted || (await this.#failed(failure(thrown)))) break;
      } finally {
        call.done();
      }
    }
    clearTimeout(this.#grace);
  }

  async #first(signal: AbortSignal): Promise<void> {
    const page = await listMessages(this.token, {}, signal);
    this.#newest = page.data[0]?.id ?? this.#newest;
    this.#known = true;
    clearTimeout(this.#grace);
    this.#grace = undefined;
    this.#failures = 0;
    this.listener.first(page.data, page.nextCursor);
    this.listener.state("live");
  }

  #arrived(messages: Summary[]): void {
    if (!messages[0]) return;
    this.#newest = messages[0].id;
    this.listener.arrived(messages);
  }

  /** follow passes on events, together with the other tabs, until the stream ends, and returns whether the mailbox has ended. */
  async #follow(signal: AbortSignal): Promise<boolean> {
    const opened: Opened = (relayed) => {
      // What begins now and not behind a message lacks what came since the list was read.
      if (relayed || !this.#newest) void this.#since(signal).then((page) => this.#arrived(page.data), () => {});
    };
    const source = {
      topic: this.id,
      open: (signal: AbortSignal, opened: () => void) => this.#open(signal, opened),
      poll: async (signal: AbortSignal) => messagesOf((await this.#since(signal)).data),
    };
    for await (const event of shared(source, signal, opened)) {
      if (event.kind === "message") this.#arrived([event.message]);
      if (event.kind === "seen") this.listener.seen(event.id, event.seen);
      if (event.kind === "deleted") this.listener.deleted(event.id);
      if (event.kind === "mailbox") this.listener.extended(event.expiresAt);
      if (event.kind !== "end") continue;
      if (event.reason === "shutdown") break;
      this.listener.ended(event.reason);
      return true;
    }
    this.#known = false; // what came while no stream was open
    await delay(retryDelay(failure(null), 1), this.stop);
    return false;
  }

  /** since lists what came after the newest message that is known. */
  #since(signal: AbortSignal, wait?: number) {
    const after = this.#newest;
    return listMessages(this.token, { ...(wait && { wait }), ...(after && { after }) }, signal);
  }

  /** open gives the event stream, or what long-polls tell where a proxy forbids streams. */
  async *#open(signal: AbortSignal, opened: () => void): AsyncGenerator<Event> {
    let streams = false;
    const ready = () => {
      streams = true;
      opened();
    };
    if (this.#streams) {
      try {
        yield* followEvents(this.token, this.#newest, signal, ready);
        return;
      } catch (thrown) {
        const { status } = failure(thrown);
        if (streams || status === 0 || status === 401 || status === 410 || status === 429 || status >= 500) throw thrown;
        this.#streams = false;
      }
    }
    for (;;) yield* messagesOf((await this.#since(signal, waitSeconds)).data);
  }

  /** failed waits before the next attempt, and returns whether the mailbox has ended. */
  async #failed(error: ApiError): Promise<boolean> {
    const reason = endingOf(error);
    if (reason) {
      this.listener.ended(reason);
      return true;
    }
    this.#known = false;
    this.#failures++;
    if (!navigator.onLine || this.#failures >= offlineAfter) this.listener.state("offline");
    else this.#grace ??= setTimeout(() => this.listener.state(navigator.onLine ? "reconnecting" : "offline"), graceMilliseconds);
    await delay(retryDelay(error, this.#failures), this.stop);
    return false;
  }
}

/** messagesOf turns a page of a list, which is newest first, into what a stream would have told. */
const messagesOf = (page: Summary[]): Event[] => page.map((message): Event => ({ kind: "message", message })).reverse();

/** retryDelay returns how long to wait after so many failures in a row, in milliseconds. */
export function retryDelay(error: ApiError, failures: number): number {
  if (error.retryAfter > 0) return error.retryAfter * 1000;
  return Math.min(maxDelay, 500 * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
}
