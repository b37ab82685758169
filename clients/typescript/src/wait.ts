/** The time that a wait has left, and calls that are made again while it has some. */
import { type Diagnosis, GoneboxError, isTransient, PATIENCE, pause } from "./http.js";

const GRACE = 5_000; // milliseconds that an answer may be late at the end of a wait
const FIRST_RETRY = 250;
const SLOWEST_RETRY = 2_000;

/** @internal A wait of a mailbox. */
export class Wait {
  readonly timeout: number;
  /** Why the calls of the wait found nothing, as far as they said so. */
  diagnosis?: Diagnosis;
  readonly #name: string;
  readonly #began = performance.now();

  constructor(method: string, address: string, timeout: number) {
    this.#name = `${method} (${address})`;
    this.timeout = timeout;
  }

  /** The milliseconds that are left. */
  left(): number {
    return Math.max(0, this.#began + this.timeout - performance.now());
  }

  /** Takes over what a call found out, unless an earlier one knows more: each looks at its own time. */
  learn(diagnosis?: Diagnosis): void {
    if (diagnosis && !(this.diagnosis && diagnosis.causes[0]?.code === "nothing_arrived")) this.diagnosis = diagnosis;
  }

  /**
   * Calls `send` with the milliseconds that an answer may take, until it does not fail because of the connection or with
   * 503. A service that restarts refuses connections for a moment and resets those that it has.
   */
  async call<T>(send: (timeout: number) => Promise<T>): Promise<T> {
    for (let delay = FIRST_RETRY; ; delay = Math.min(2 * delay, SLOWEST_RETRY)) {
      const left = this.left();
      try {
        return await send(Math.ceil(Math.min(PATIENCE, left)) + GRACE);
      } catch (error) {
        const after = error instanceof GoneboxError ? (error.retryAfter ?? 0) * 1000 : 0;
        if (!isTransient(error) || left === 0 || after > left) throw this.#ended(error);
        await pause(Math.min(after || delay, this.left()));
      }
    }
  }

  /** The same error, whose message begins with the wait that it ended. */
  #ended(error: unknown): unknown {
    if (!(error instanceof GoneboxError)) return error;
    const { code, status, traceId, retryAfter, cause } = error;
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(1);
    return new GoneboxError(code, `${this.#name} failed after ${seconds} s: ${error.message}`, { status, traceId, retryAfter, cause });
  }
}
