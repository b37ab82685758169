// What happens in the mailboxes of an account, as it happens, so that its pages need not ask again and again.
import { signedIn } from "../signedIn.svelte";
import { type ApiError, endingOf, failure } from "./client";
import { type Event, follow } from "./events";
import { delay, shared } from "./shared";

const maxDelay = 30_000; // milliseconds between attempts to open the stream
const debounce = 300; // milliseconds; events that come together are one change

/** AccountListener is called with what happens in an account. */
export type AccountListener = {
  /** opened is called once events come; with missed there may have been earlier ones that were not delivered. */
  opened(missed: boolean): void;
  event(event: Event): void;
  /** failed is called after each failure; it returns whether the stream is opened again. */
  failed(error: ApiError): boolean;
};

/** followAccount calls listener with the events of an account until the function it returns is called. token gives the credential of each attempt. */
export function followAccount(token: () => Promise<string>, listener: AccountListener): () => void {
  const stop = new AbortController();
  void run(token, listener, stop.signal);
  return () => stop.abort();
}

async function run(token: () => Promise<string>, listener: AccountListener, stop: AbortSignal): Promise<void> {
  let missed = false; // no stream was open for a time
  for (let failures = 0; !stop.aborted; ) {
    const opened = (relayed: boolean) => {
      failures = 0;
      if (!stop.aborted) listener.opened(missed || relayed);
    };
    try {
      const credential = await token();
      const source = {
        topic: `account.${credential}`,
        open: (signal: AbortSignal, opened: () => void) => follow(credential, undefined, signal, opened, "me"),
        poll: async () => [{ kind: "changed" as const }], // the listener reads the list again
      };
      for await (const event of shared(source, stop, opened)) {
        if (event.kind !== "end" && !stop.aborted) listener.event(event);
      }
    } catch (thrown) {
      if (stop.aborted || !listener.failed(failure(thrown))) return;
    }
    missed = true;
    await delay(Math.min(maxDelay, 1000 * 2 ** failures++), stop);
  }
}

/** onAccountChange calls changed after each change in a mailbox of the account that is signed in, until the function it returns is called. */
export function onAccountChange(changed: () => unknown): () => void {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const notify = () => {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      changed();
    }, debounce);
  };
  const token = signedIn.token;
  const stop = followAccount(async () => token, {
    opened: (missed) => missed && notify(),
    event: notify,
    failed: (error) => error.status !== 403 && error.status !== 404 && !endingOf(error),
  });
  return () => {
    stop();
    clearTimeout(waiting);
  };
}
