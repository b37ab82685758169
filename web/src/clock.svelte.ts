// The time of the server, as far as its answers tell. Every time that the API gives is the server's, so what is left of a
// mailbox must not depend on the clock of the device, which may be wrong or be set while the page is open.
import { load, save } from "./store";

const key = "clock";
const second = 1000;
const jump = 3 * second; // what the clock of the device may deviate from a second's tick

class Clock {
  /** now is the server's time in milliseconds, to the second. It stands still while the tab is hidden. */
  now = $state(0);
  /** elapsed is the time since the page was opened, in milliseconds and to the second; it never goes back. */
  elapsed = $state(0);
  // The server's time minus performance.now() lies between these two: each answer narrows them down.
  #low = -Infinity;
  #high = Infinity;
  #offset: number;
  #device = 0; // Date.now() minus performance.now() at the last tick
  #jumped: (() => void)[] = [];

  constructor() {
    this.#offset = this.#deviceOffset() + (load<number>(key) ?? 0);
    this.#tick();
  }

  /** read returns the server's time at this moment. */
  read = (): number => Math.round(performance.now() + this.#offset);

  /** iso returns the server's time at this moment as the API writes times. */
  iso = (): string => new Date(this.read()).toISOString();

  /** at returns what time it was for the server, at the earliest, when performance.now() was so much. */
  at = (moment: number): number => moment + (Number.isFinite(this.#low) ? this.#low : this.#offset - second / 2);

  /** sync takes over the server's time from a response, from its Date field (RFC 9110 §6.6.1). sent is performance.now() before the call. */
  sync(date: string | null, sent: number): void {
    const at = Date.parse(date ?? "");
    if (Number.isNaN(at)) return;
    // The field has no fractions of a second: the server wrote it between at and a second later, after sent and before now.
    const [low, high] = [at - performance.now(), at + second - sent];
    this.#low = Math.max(this.#low, low);
    this.#high = Math.min(this.#high, high);
    if (this.#low > this.#high) [this.#low, this.#high] = [low, high]; // the device slept, or the server's clock was set
    const offset = (this.#low + this.#high) / 2;
    if (Math.abs(offset - this.#offset) > second) {
      // A page that is opened without network begins with it.
      save(key, Math.round(offset - this.#deviceOffset()));
      this.#offset = offset;
      this.#tick();
    }
    this.#offset = offset;
  }

  /** onJump calls f when the clock of the device was set, or the device slept: then the server's time is not known well. */
  onJump(f: () => void): () => void {
    this.#jumped.push(f);
    return () => void this.#jumped.splice(this.#jumped.indexOf(f), 1);
  }

  start() {
    let timer = 0;
    const tick = () => {
      const before = this.#device;
      this.#tick();
      if (Math.abs(this.#device - before) > jump) for (const f of this.#jumped) f();
    };
    const restart = () => {
      clearInterval(timer);
      if (document.hidden) return;
      tick();
      timer = window.setInterval(tick, second);
    };
    document.addEventListener("visibilitychange", restart);
    restart();
  }

  #deviceOffset = () => Date.now() - performance.now();

  #tick(): void {
    this.#device = this.#deviceOffset();
    this.elapsed = performance.now();
    this.now = this.read();
  }
}

export const clock = new Clock();

/** fetchTimed is fetch, and sets the clock by the response. */
export async function fetchTimed(input: Request | string, init?: RequestInit): Promise<Response> {
  const sent = performance.now();
  const response = await fetch(input, init);
  clock.sync(response.headers.get("Date"), sent);
  return response;
}
