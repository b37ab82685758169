// What happens in the mailboxes of an account, as it happens, so that its pages need not ask again and again.
import { signedIn } from "../signedIn.svelte";
import { failure } from "./client";
import { follow } from "./events";

const longestPause = 30_000; // milliseconds between attempts to open the stream
const gather = 300; // milliseconds; events that come together are one change

/** whenChanged calls changed after each change in a mailbox of the account, until the function it returns is called. */
export function whenChanged(changed: () => unknown): () => void {
  const stop = new AbortController();
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const tell = () => {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      if (!stop.signal.aborted) changed();
    }, gather);
  };
  void run(stop.signal, tell);
  return () => {
    stop.abort();
    clearTimeout(waiting);
  };
}

async function run(stop: AbortSignal, tell: () => void): Promise<void> {
  let missed = false; // no stream was open for a time
  for (let failures = 0; !stop.aborted; ) {
    const opened = () => {
      failures = 0;
      if (missed) tell();
    };
    try {
      for await (const event of follow(signedIn.token, undefined, stop, opened, "me")) {
        if (event.kind !== "end") tell();
      }
    } catch (thrown) {
      const { status } = failure(thrown);
      if (stop.aborted || status === 401 || status === 403 || status === 404) return;
    }
    missed = true;
    await pause(Math.min(longestPause, 1000 * 2 ** failures++), stop);
  }
}

function pause(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    stop.addEventListener("abort", done, { once: true });
  });
}
