// Keeping a mailbox's messages up to date, by its event stream, or by long-polls where streams do not come through.
import { type ApiError, type Summary, failure, listMessages } from "./api/client";
import { follow as followEvents } from "./api/events";

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
const longestPause = 10_000;
const offlineAfter = 4; // failures in a row

/** watch follows a mailbox until the function it returns is called. */
export function watch(token: string, to: Listener): () => void {
  const stop = new AbortController();
  void new Watch(token, to, stop.signal).run();
  return () => stop.abort();
}

class Watch {
  #newest: string | undefined;
  #known = false; // the first page was read since the network was last there
  #streams = true; // the server has event streams, as far as is known
  #failures = 0;
  #grace: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly token: string,
    readonly to: Listener,
    readonly stop: AbortSignal,
  ) {}

  async run(): Promise<void> {
    while (!this.stop.aborted) {
      const call = interruptible(this.stop);
      try {
        if (!this.#known) await this.#first(call.signal);
        if (this.#streams ? await this.#stream(call.signal) : await this.#poll(call.signal)) break;
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
    this.to.first(page.data, page.nextCursor);
    this.to.state("live");
  }

  /** poll waits for one page of messages. */
  async #poll(signal: AbortSignal): Promise<boolean> {
    const after = this.#newest;
    const page = await listMessages(this.token, after ? { wait: waitSeconds, after } : { wait: waitSeconds }, signal);
    this.#arrived(page.data);
    return false;
  }

  #arrived(messages: Summary[]): void {
    if (!messages[0]) return;
    this.#newest = messages[0].id;
    this.to.arrived(messages);
  }

  /** stream follows the event stream until it ends, and answers whether the mailbox has. */
  async #stream(signal: AbortSignal): Promise<boolean> {
    let opened = false;
    const ready = async () => {
      opened = true;
      // A stream without a message to begin after tells what comes from now on: what came since the list was read is asked for.
      if (!this.#newest) this.#arrived((await listMessages(this.token, {}, signal)).data);
    };
    try {
      for await (const event of followEvents(this.token, this.#newest, signal, () => void ready().catch(() => {}))) {
        if (event.kind === "message") this.#arrived([event.message]);
        if (event.kind === "seen") this.to.seen(event.id, event.seen);
        if (event.kind === "deleted") this.to.deleted(event.id);
        if (event.kind === "mailbox") this.to.extended(event.expiresAt);
        if (event.kind !== "end") continue;
        if (event.reason === "shutdown") break;
        this.to.ended(event.reason);
        return true;
      }
    } catch (thrown) {
      const { status } = failure(thrown);
      if (opened || status === 0 || status === 401 || status === 410 || status === 429 || status >= 500) throw thrown;
      this.#streams = false; // an older server, or a proxy that forbids streams
      return false;
    }
    this.#known = false; // what came while no stream was open
    await pause(delayOf(failure(null), 1), this.stop);
    return false;
  }

  /** failed waits before the next attempt, and answers whether the mailbox has ended. */
  async #failed(error: ApiError): Promise<boolean> {
    if (error.status === 410 || error.status === 404 || error.status === 401) {
      this.to.ended(error.status === 410 ? "expired" : "destroyed");
      return true;
    }
    this.#known = false;
    this.#failures++;
    if (!navigator.onLine || this.#failures >= offlineAfter) this.to.state("offline");
    else this.#grace ??= setTimeout(() => this.to.state(navigator.onLine ? "reconnecting" : "offline"), graceMilliseconds);
    await pause(delayOf(error, this.#failures), this.stop);
    return false;
  }
}

/** interruptible gives a signal that ends a call when the watch is stopped, and when the browser says that it is offline. */
function interruptible(stop: AbortSignal): { signal: AbortSignal; done: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  stop.addEventListener("abort", abort);
  addEventListener("offline", abort);
  return {
    signal: controller.signal,
    done() {
      stop.removeEventListener("abort", abort);
      removeEventListener("offline", abort);
    },
  };
}

/** delayOf is how long to wait after so many failures in a row, in milliseconds. */
export function delayOf(error: ApiError, failures: number): number {
  if (error.retryAfter > 0) return error.retryAfter * 1000;
  return Math.min(longestPause, 500 * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
}

/** pause ends early where the network comes back. */
function pause(milliseconds: number, stop: AbortSignal): Promise<void> {
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
  });
}
