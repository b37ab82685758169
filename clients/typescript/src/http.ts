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

/** An error of the service or of this client. `code` tells which; errors of the client begin with `client.` or `wait.`. */
export class GoneboxError extends Error {
  override readonly name = "GoneboxError";
  readonly code: string;
  readonly status?: number;
  /** Finds the call in the log of the service. */
  readonly traceId?: string;
  /** Seconds after which to try again. */
  readonly retryAfter?: number;

  constructor(code: string, message: string, { cause, ...more }: { status?: number; traceId?: string; retryAfter?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.code = code;
    Object.assign(this, more);
  }
}

export const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const PATIENCE = 30_000; // milliseconds for an answer, beyond what the call itself waits

/** Sends calls with one credential. */
export class Http {
  readonly url: string;
  readonly key: string | undefined;

  constructor(url: string, key?: string) {
    if (!/^https?:\/\/[^/]/.test(url ?? "")) {
      throw new GoneboxError("client.invalid_url", `${JSON.stringify(url)} is not the URL of a Gonebox: pass one such as http://localhost:8080`);
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
    return new Uint8Array(await (await this.send("GET", path)).arrayBuffer());
  }

  /** A page of a list. */
  async page<T>(path: string, wait = 0): Promise<{ data: T[]; nextCursor: string | null }> {
    return this.#parse(await this.send("GET", path, { wait }));
  }

  /** Sends a call and returns the answer, or throws what the service says against it. */
  async send(method: string, path: string, more: { body?: unknown; type?: string; wait?: number; headers?: Record<string, string>; signal?: AbortSignal } = {}): Promise<Response> {
    const headers: Record<string, string> = { Accept: "application/json", ...more.headers };
    if (this.key) headers.Authorization = `Bearer ${this.key}`;
    let body: BodyInit | undefined;
    if (more.body !== undefined) {
      headers["Content-Type"] = more.type ?? "application/json";
      body = more.type ? (more.body as BodyInit) : JSON.stringify(more.body);
    }
    const signal = more.signal ?? AbortSignal.timeout((more.wait ?? 0) * 1000 + PATIENCE);
    let answer: Response;
    try {
      answer = await fetch(`${this.url}/api/v1${path}`, { method, headers, body, signal });
    } catch (cause) {
      const reason = (cause as { cause?: Error }).cause?.message || (cause as Error).message;
      throw new GoneboxError("client.unreachable", `no Gonebox answers at ${this.url} (${reason}). Start one with "gonebox serve --dev", or correct the URL.`, { cause });
    }
    if (!answer.ok) throw await this.#problem(answer, `${method} ${path.split("?")[0]}`);
    return answer;
  }

  async #parse<T>(answer: Response): Promise<T> {
    try {
      return (await answer.json()) as T;
    } catch (cause) {
      throw new GoneboxError("client.unexpected_answer", `${this.url} does not answer as Gonebox does: check the URL`, { status: answer.status, cause });
    }
  }

  async #problem(answer: Response, call: string): Promise<GoneboxError> {
    type Problem = { code?: string; title?: string; detail?: string; traceId?: string; errors?: { pointer: string; message: string }[] };
    const p = (await answer.json().catch(() => ({}))) as Problem;
    if (!p.code) {
      return new GoneboxError("client.unexpected_answer", `${this.url} answered ${call} with ${answer.status}, not as Gonebox does: check the URL`, { status: answer.status });
    }
    const retryAfter = Number(answer.headers.get("Retry-After")) || undefined;
    const parts = [p.detail ?? p.title, ...(p.errors ?? []).map((e) => `${e.pointer} ${e.message}`)];
    if (retryAfter) parts.push(`try again in ${retryAfter} s`);
    const advice = ADVICE[p.code] ? ` ${ADVICE[p.code]}` : "";
    return new GoneboxError(p.code, `${p.code}: ${parts.join("; ")} (${call}).${advice}`, { status: answer.status, traceId: p.traceId, retryAfter });
  }
}
