/** The events of a mailbox: Server-Sent Events, resumed after each interruption. */
import { GoneboxError, type Http, pause } from "./http.js";

/** Stops the delivery of events when it is called. */
export interface Subscription {
  (): void;
  /** Resolves when events can no longer be missed. */
  readonly ready: Promise<void>;
}

const SILENCE = 45_000; // milliseconds: three comment lines that did not come
const SLOWEST_RETRY = 10_000;

/** @internal */
export class Stream {
  readonly #http: () => Http;
  readonly #newest: () => Promise<string>;
  #last = "";
  #over = false;
  #connection = new AbortController();

  /** @param newest finds the id of the message after which the events begin */
  constructor(http: () => Http, newest: () => Promise<string>) {
    this.#http = http;
    this.#newest = newest;
  }

  start(event: string, handler: (data: never) => void): Subscription {
    const ready = this.#newest().then((id) => void (this.#last = id));
    const stop = () => {
      this.#over = true;
      this.#connection.abort();
    };
    ready.then(() => this.#run(event, handler)).catch(() => stop());
    return Object.assign(stop, { ready });
  }

  async #run(event: string, handler: (data: never) => void): Promise<void> {
    for (let delay = 250; !this.#over; delay = Math.min(2 * delay, SLOWEST_RETRY)) {
      try {
        await this.#read((name, data) => {
          delay = 250;
          const end = name === "end" && (data as { reason?: string }).reason !== "shutdown";
          if (name === event && (name !== "end" || end)) handler(data as never);
          if (end) this.#over = true;
        });
      } catch (error) {
        const status = error instanceof GoneboxError ? (error.status ?? 0) : 0;
        if (status >= 400 && status < 500 && status !== 429) throw error; // the mailbox or its token has ended
      }
      if (!this.#over) await pause(delay);
    }
  }

  async #read(emit: (event: string, data: unknown) => void): Promise<void> {
    const connection = (this.#connection = new AbortController());
    let alarm = setTimeout(() => connection.abort(), SILENCE);
    try {
      const headers = { Accept: "text/event-stream", "Last-Event-ID": this.#last };
      const answer = await this.#http().send("GET", "/mailboxes/me/events", { headers, signal: connection.signal });
      const reader = answer.body!.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
      let buffer = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done || this.#over) return;
        clearTimeout(alarm);
        alarm = setTimeout(() => connection.abort(), SILENCE);
        const blocks = (buffer + value).replace(/\r\n?/g, "\n").split("\n\n");
        buffer = blocks.pop()!;
        for (const block of blocks) if (!this.#over) this.#parse(block, emit);
      }
    } finally {
      clearTimeout(alarm);
      connection.abort();
    }
  }

  #parse(block: string, emit: (event: string, data: unknown) => void): void {
    let event = "message";
    const data: string[] = [];
    for (const line of block.split("\n")) {
      const [, field, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
      if (field === "event") event = value!;
      if (field === "data") data.push(value!);
      if (field === "id") this.#last = value!;
    }
    if (data.length > 0) emit(event, JSON.parse(data.join("\n")));
  }
}
