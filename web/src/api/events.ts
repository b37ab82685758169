// The event streams of a mailbox and of an account. EventSource cannot present a credential, so the stream is read with fetch.
import { fetchTimed } from "../clock.svelte";
import { apiBase } from "../place";
import { type Summary, bearer, problemIn } from "./client";

/** Event is what a stream of a mailbox or an account tells; "changed" is said of an account that is asked instead. */
export type Event =
  | { kind: "message"; message: Summary }
  | { kind: "seen" | "deleted"; id: string; seen: boolean }
  | { kind: "tagged"; id: string; tags: string[] }
  | { kind: "mailbox"; expiresAt: string }
  | { kind: "changed" }
  | { kind: "end"; reason: "expired" | "destroyed" | "shutdown" };

const silenceTimeout = 45_000; // milliseconds; the server sends a comment every 15 s

/** parse splits a text into the blocks of complete events, and what is left of it (WHATWG HTML §9.2.6). */
export function parse(text: string): { events: Event[]; rest: string } {
  const blocks = text.replace(/\r\n?/g, "\n").split("\n\n");
  const rest = blocks.pop() ?? "";
  return { events: blocks.flatMap(eventOf), rest };
}

function eventOf(block: string): Event[] {
  let kind = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, field, value] = /^(event|data): ?(.*)$/.exec(line) ?? [];
    if (field === "event") kind = value ?? "";
    if (field === "data") data.push(value ?? "");
  }
  if (data.length === 0) return []; // a comment
  const body: unknown = JSON.parse(data.join("\n"));
  switch (kind) {
    case "message":
      return [{ kind, message: body as Summary }];
    case "seen":
    case "deleted":
    case "tagged":
    case "mailbox":
    case "end":
      return [{ kind, ...(body as object) } as Event];
    default:
      return []; // of a later version
  }
}

/**
 * follow opens the stream of a mailbox, or of an account, after a message, and calls opened once it is there.
 * A stream that is silent for silenceTimeout ends.
 */
export async function* follow(token: string, after: string | undefined, stop: AbortSignal, opened: () => void, of = "mailboxes/me"): AsyncGenerator<Event> {
  const query = after ? `?after=${encodeURIComponent(after)}` : "";
  const timeout = new AbortController();
  const signal = AbortSignal.any([stop, timeout.signal]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const resetTimer = () => {
    clearTimeout(timer);
    timer = setTimeout(() => timeout.abort(), silenceTimeout);
  };
  try {
    resetTimer();
    const response = await fetchTimed(`${apiBase}/api/v1/${of}/events${query}`, { headers: { ...bearer(token).headers, Accept: "text/event-stream" }, signal });
    if (!response.ok || !response.body) throw await problemIn(response);
    opened();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      resetTimer();
      const { events, rest } = parse(text + value);
      yield* events;
      text = rest;
    }
  } finally {
    clearTimeout(timer);
    timeout.abort();
  }
}
