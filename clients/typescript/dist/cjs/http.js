"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Http = exports.pause = exports.GoneboxError = void 0;
/** What to do about an error, for the codes that test suites meet. */
const ADVICE = {
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
class GoneboxError extends Error {
    name = "GoneboxError";
    code;
    status;
    /** Finds the call in the log of the service. */
    traceId;
    /** Seconds after which to try again. */
    retryAfter;
    constructor(code, message, { cause, ...more } = {}) {
        super(message, { cause });
        this.code = code;
        Object.assign(this, more);
    }
}
exports.GoneboxError = GoneboxError;
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
exports.pause = pause;
const PATIENCE = 30_000; // milliseconds for an answer, beyond what the call itself waits
/** Sends calls with one credential. */
class Http {
    url;
    key;
    constructor(url, key) {
        if (!/^https?:\/\/[^/]/.test(url ?? "")) {
            throw new GoneboxError("client.invalid_url", `${JSON.stringify(url)} is not the URL of a Gonebox: pass one such as http://localhost:8080`);
        }
        this.url = url.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
        this.key = key || undefined;
    }
    /** The same service with another credential. */
    with(key) {
        return new Http(this.url, key);
    }
    /** The `data` of the answer. */
    async json(method, path, body, type) {
        const answer = await this.send(method, path, { body, type });
        return answer.status === 204 ? undefined : (await this.#parse(answer)).data;
    }
    /** The octets of a download. */
    async octets(path) {
        return new Uint8Array(await (await this.send("GET", path)).arrayBuffer());
    }
    /** A page of a list. */
    async page(path, wait = 0) {
        return this.#parse(await this.send("GET", path, { wait }));
    }
    /** Sends a call and returns the answer, or throws what the service says against it. */
    async send(method, path, more = {}) {
        const headers = { Accept: "application/json", ...more.headers };
        if (this.key)
            headers.Authorization = `Bearer ${this.key}`;
        let body;
        if (more.body !== undefined) {
            headers["Content-Type"] = more.type ?? "application/json";
            body = more.type ? more.body : JSON.stringify(more.body);
        }
        const signal = more.signal ?? AbortSignal.timeout((more.wait ?? 0) * 1000 + PATIENCE);
        let answer;
        try {
            answer = await fetch(`${this.url}/api/v1${path}`, { method, headers, body, signal });
        }
        catch (cause) {
            const reason = cause.cause?.message || cause.message;
            throw new GoneboxError("client.unreachable", `no Gonebox answers at ${this.url} (${reason}). Start one with "gonebox serve --dev", or correct the URL.`, { cause });
        }
        if (!answer.ok)
            throw await this.#problem(answer, `${method} ${path.split("?")[0]}`);
        return answer;
    }
    async #parse(answer) {
        try {
            return (await answer.json());
        }
        catch (cause) {
            throw new GoneboxError("client.unexpected_answer", `${this.url} does not answer as Gonebox does: check the URL`, { status: answer.status, cause });
        }
    }
    async #problem(answer, call) {
        const p = (await answer.json().catch(() => ({})));
        if (!p.code) {
            return new GoneboxError("client.unexpected_answer", `${this.url} answered ${call} with ${answer.status}, not as Gonebox does: check the URL`, { status: answer.status });
        }
        const retryAfter = Number(answer.headers.get("Retry-After")) || undefined;
        const parts = [p.detail ?? p.title, ...(p.errors ?? []).map((e) => `${e.pointer} ${e.message}`)];
        if (retryAfter)
            parts.push(`try again in ${retryAfter} s`);
        const advice = ADVICE[p.code] ? ` ${ADVICE[p.code]}` : "";
        return new GoneboxError(p.code, `${p.code}: ${parts.join("; ")} (${call}).${advice}`, { status: answer.status, traceId: p.traceId, retryAfter });
    }
}
exports.Http = Http;
