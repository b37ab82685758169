/** What to do about an error, for the codes that test suites meet. */
const ADVICE: Record<string, string> = {
  "auth.required": "Pass a key: new Gonebox(url, key).",
  "auth.invalid_token": "The key or the mailbox has ended, or the token is of another service.",
  "auth.scope_missing": "Give the key this scope.",
  "mailbox.expired": "Create the mailbox with a longer ttl, or extend it in time.",
  "mailbox.local_part_taken": "The address is in use or was used recently; leave out localPart to get a fresh one.",
  "mailbox.limit_reached": "Destroy mailboxes after each test.",
  "rate.limited": 'Run "gonebox serve --dev" for tests, or raise the limits (docs/testing.md).',
  "inject.disabled": 'Set "inject: on" on the service, or send the message by SMTP.',
};

/** One thing that happened instead of what was waited for, as docs/spec/messages.md in the source lists them. `at` is RFC 3339. */
export type Cause = { code: string; detail: string; at: string; address?: string; messageId?: string };

/** Why a wait found nothing. `causes` begins with the likeliest. */
export type Diagnosis = { summary: string; causes: Cause[] };

/** An error of the service or of this client. `code` tells which; errors of the client begin with `client.` or `wait.`. */
export class GoneboxError extends Error {
  override readonly name = "GoneboxError";
  readonly code: string;
  readonly status?: number;
  /** Finds the call in the log of the service. */
  readonly traceId?: string;
  /** Seconds after which to try again. */
  readonly retryAfter?: number;
  /** Of `wait.timeout`: why nothing was found. Absent for waits below a second and from older services. */
  readonly diagnosis?: Diagnosis;

  constructor(code: string, message: string, { cause, ...more }: { status?: number; traceId?: string; retryAfter?: number; diagnosis?: Diagnosis; cause?: unknown } = {}) {
    super(message, { cause });
    this.code = code;
    Object.assign(this, more);
  }
}

/** Whether a call that waits may try again: the service could not be reached, is not ready, or had too many calls. */
export const isTransient = (error: unknown): error is GoneboxError =>
  error instanceof GoneboxError && (["client.unreachable", "rate.limited"].includes(error.code) || NOT_READY.includes(error.status ?? 0));

export const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

export const PATIENCE = 30_000; // milliseconds for an answer, beyond what the call itself waits
const NOT_READY = [502, 503, 504]; // of a service that is starting or stopping, or of the proxy in front of it

/** Sends calls with one credential. */
export class Http {
  readonly url: string;
  readonly key: string | undefined;

  constructor(url: string, key?: string) {
    if (!/^https?:\/\/[^/]/.test(url ?? "")) {
      const shown = /x[a-z]?_/.test(url ?? "") ? "a key" : JSON.stringify(url); // a key is never shown
      throw new GoneboxError("client.invalid_url", `${shown} is not the URL of a Gonebox: pass one such as http://localhost:8080`);
    }
    if (key && !/^[!-~]+$/.test(key)) {
      throw new GoneboxError("client.invalid_key", "the key has characters that no key has, such as a line break at its end: pass it as the service showed it");
    }
    this.url = url.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
    this.key = key || undefined;
  }

  /** The same service with another credential. */
  with(key: string): Http {
    return new Http(this.url, key);
  }

  /** The `data` of the answer. */
  async json<T>(method: string, path: string, body?: unknown, type?: string): Promise<T> {
    const answer = await this.send(method, path, { body, type });
    return answer.status === 204 ? (undefined as T) : (await this.#parse<{ data: T }>(answer)).data;
  }

  /** The octets of a download. */
  async octets(path: string): Promise<Uint8Array> {
    const answer = await this.send("GET", path);
    try {
      return new Uint8Array(await answer.arrayBuffer());
    } catch (cause) {
      throw this.#unreachable(cause, `GET ${path}`, PATIENCE);
    }
  }

  /** The whole answer to a GET, which comes within `timeout` milliseconds. */
  async get<T>(path: string, timeout = PATIENCE): Promise<T> {
    return this.#parse(await this.send("GET", path, { timeout }));
  }

  /** Sends a call and returns the answer, or throws what the service says against it. */
  async send(method: string, path: string, more: { body?: unknown; type?: string; timeout?: number; headers?: Record<string, string>; signal?: AbortSignal } = {}): Promise<Response> {
    const headers: Record<string, string> = { Accept: "application/json", ...more.headers };
    if (this.key) headers.Authorization = `Bearer ${this.key}`;
    let body: BodyInit | undefined;
    if (more.body !== undefined) {
      headers["Content-Type"] = more.type ?? "application/json";
      body = more.type ? (more.body as BodyInit) : JSON.stringify(more.body);
    }
    const timeout = more.timeout ?? PATIENCE;
    const call = `${method} ${path.split("?")[0]}`;
    let answer: Response;
    try {
      answer = await fetch(`${this.url}/api/v1${path}`, { method, headers, body, signal: more.signal ?? AbortSignal.timeout(timeout) });
    } catch (cause) {
      throw this.#unreachable(cause, call, timeout);
    }
    if (!answer.ok) throw await this.#problem(answer, call);
    return answer;
  }

  #unreachable(cause: unknown, call: string, timeout: number): GoneboxError {
    const error = cause as Error & { cause?: Error };
    if (error.name === "TimeoutError") {
      return new GoneboxError("client.unreachable", `${this.url} did not answer ${call} within ${timeout / 1000} s.`, { cause });
    }
    return new GoneboxError("client.unreachable", `no Gonebox answers at ${this.url} (${call}: ${error.cause?.message || error.message}). Start one with "gonebox serve --dev", or correct the URL.`, { cause });
  }

  async #parse<T>(answer: Response): Promise<T> {
    let text: string;
    try {
      text = await answer.text();
    } catch (cause) {
      throw this.#unreachable(cause, `of ${new URL(answer.url || this.url).pathname}`, PATIENCE);
    }
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new GoneboxError("client.unexpected_answer", `${this.url} does not answer as Gonebox does: check the URL`, { status: answer.status, cause });
    }
  }

  async #problem(answer: Response, call: string): Promise<GoneboxError> {
    type Problem = { code?: string; title?: string; detail?: string; traceId?: string; errors?: { pointer: string; message: string }[] };
    const p = (await answer.json().catch(() => ({}))) as Problem;
    const retryAfter = Number(answer.headers.get("Retry-After")) || undefined; // it may be a date
    if (!p.code) {
      return new GoneboxError("client.unexpected_answer", `${this.url} answered ${call} with ${answer.status}, not as Gonebox does: check the URL`, { status: answer.status, retryAfter });
    }
    const parts = [p.detail ?? p.title, ...(p.errors ?? []).map((e) => `${e.pointer} ${e.message}`)];
    if (retryAfter) parts.push(`try again in ${retryAfter} s`);
    const advice = ADVICE[p.code] ? ` ${ADVICE[p.code]}` : "";
    return new GoneboxError(p.code, `${p.code}: ${parts.join("; ")} (${call}).${advice}`, { status: answer.status, traceId: p.traceId, retryAfter });
  }
}
