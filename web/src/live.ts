// Keeping a mailbox's messages up to date. Everything that knows how (a long-poll today) is in this file.
import { type ApiError, type Summary, failure, listMessages } from "./api/client";

export type LiveState = "live" | "reconnecting" | "offline";

/** Listener is called with what happens to a mailbox. */
export type Listener = {
  /** first are the newest messages and the cursor of those before; it may be called again after a time without network. */
  first(messages: Summary[], nextCursor: string | null): void;
  /** arrived are messages that came after, newest first. */
  arrived(messages: Summary[]): void;
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
  void follow(token, to, stop.signal);
  return () => stop.abort();
}

async function follow(token: string, to: Listener, stop: AbortSignal): Promise<void> {
  let newest: string | undefined;
  let known = false; // the first page was read since the network was last there
  let failures = 0;
  let grace: ReturnType<typeof setTimeout> | undefined;
  while (!stop.aborted) {
    const call = interruptible(stop);
    try {
      if (!known) {
        const page = await listMessages(token, {}, call.signal);
        newest = page.data[0]?.id ?? newest;
        known = true;
        clearTimeout(grace);
        grace = undefined;
        failures = 0;
        to.first(page.data, page.nextCursor);
        to.state("live");
      }
      const page = await listMessages(token, newest ? { wait: waitSeconds, after: newest } : { wait: waitSeconds }, call.signal);
      if (page.data[0]) {
        newest = page.data[0].id;
        to.arrived(page.data);
      }
    } catch (thrown) {
      if (stop.aborted) break;
      const error = failure(thrown);
      if (error.status === 410 || error.status === 404 || error.status === 401) {
        to.ended(error.status === 410 ? "expired" : "destroyed");
        break;
      }
      known = false;
      failures++;
      if (!navigator.onLine || failures >= offlineAfter) to.state("offline");
      else grace ??= setTimeout(() => to.state(navigator.onLine ? "reconnecting" : "offline"), graceMilliseconds);
      await pause(delayOf(error, failures), stop);
    } finally {
      call.done();
    }
  }
  clearTimeout(grace);
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
