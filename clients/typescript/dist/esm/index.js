/**
 * Client of Gonebox, a disposable mailbox service. It uses nothing but `fetch`, so it runs in Node 20 and later, in
 * browsers and in Deno. Times are in milliseconds.
 */
import { GoneboxError, Http, pause } from "./http.js";
import { Stream } from "./stream.js";
export { GoneboxError };
const DEFAULT_TIMEOUT = 30_000;
const DEFAULT_QUIET = 3_000;
const LONGEST_POLL = 25; // seconds: shorter than the idle limit of proxies
const FIRST = "msg_00000000000000000000000001"; // sorts before every message
const ACTION = /reset|verif|confirm|activat|token|magic|sign-?in|log-?in|invit|auth|code=/i;
/** A Gonebox service. */
export class Gonebox {
    url;
    #http;
    /**
     * @param url the address of the service, such as http://localhost:8080
     * @param key a developer key (`x_…`) or user token (`xu_…`); without one, mailboxes are made anonymously
     */
    constructor(url, key) {
        this.#http = new Http(url, key);
        this.url = this.#http.url;
    }
    /** Makes a mailbox. It ends by itself after its `ttl`, or with {@link Mailbox.destroy}. */
    async createMailbox(options = {}) {
        const { ttl, ...rest } = options;
        const path = this.#http.key?.startsWith("x_") ? "/keys/mailboxes" : "/mailboxes";
        const data = await this.#http.json("POST", path, { ...rest, ...seconds(ttl) });
        if (!data.token) {
            throw new GoneboxError("client.scope_missing", "the key cannot read what it creates: give it the scopes mailboxes:write, messages:read and otp:read");
        }
        return new Mailbox(this.#http, data);
    }
    /** Opens the mailbox that a mailbox token (`xm_…`) belongs to. */
    async openMailbox(token) {
        const data = await this.#http.with(token).json("GET", "/mailboxes/me");
        return new Mailbox(this.#http, { ...data, token });
    }
    /** Calls any other operation of the API, such as `POST /me/webhooks`, and returns the `data` of its answer. */
    request(method, path, body) {
        return this.#http.json(method, path, body);
    }
}
/** A mailbox, as {@link Gonebox.createMailbox} returns it. */
export class Mailbox {
    id;
    address;
    /** Opens this mailbox and nothing else. */
    token;
    expiresAt;
    #http;
    #opening = Promise.resolve();
    /** @internal */
    constructor(http, data) {
        this.id = data.id;
        this.address = data.address;
        this.token = data.token;
        this.expiresAt = new Date(data.expiresAt);
        this.#http = http.with(this.token);
    }
    /** Waits for a message with a one-time code and returns the code. A message that is already there counts. */
    async waitForCode(options = {}) {
        return (await this.#wait(options, "code")).otp.code;
    }
    /** Waits for a message with a link and returns the link: the one that signs in, confirms or resets, else the first. */
    async waitForLink(options = {}) {
        const { otp, links } = await this.message((await this.#wait(options, "link")).id);
        return otp?.links[0] ?? links.find((link) => ACTION.test(link)) ?? links[0];
    }
    /** Waits for a message that matches and returns it whole. A message that is already there counts; the newest wins. */
    async waitForMessage(options = {}) {
        return this.message((await this.#wait(options)).id);
    }
    /** Resolves if no message that matches arrives within `timeout` (3 seconds if absent) nor is there already; else throws. */
    async expectNoMessage(options = {}) {
        const m = await this.#next({ timeout: DEFAULT_QUIET, ...options });
        if (m) {
            throw new GoneboxError("wait.unexpected_message", `${this.address} has a message${describe(options)}: ${title(m)}. To ignore earlier ones, pass the id of the last as "after".`);
        }
    }
    /** Lists the messages that match, newest first. */
    async messages(filter = {}) {
        const { limit = Infinity, ...rest } = filter;
        const found = [];
        let cursor = null;
        do {
            const page = await this.#list({ ...rest, limit: Math.min(100, limit - found.length), cursor });
            found.push(...page.data);
            cursor = page.nextCursor;
        } while (cursor && found.length < limit);
        return found;
    }
    /** Reads a message, which marks it as seen. */
    message(messageId) {
        return this.#http.json("GET", `/messages/${messageId}`);
    }
    /** Deletes a message. */
    deleteMessage(messageId) {
        return this.#http.json("DELETE", `/messages/${messageId}`);
    }
    /** Reads the octets of an attachment. */
    attachment(messageId, attachmentId) {
        return this.#http.octets(`/messages/${messageId}/attachments/${attachmentId}`);
    }
    /** Reads a message as it was received. The service keeps this for a short time only. */
    raw(messageId) {
        return this.#http.octets(`/messages/${messageId}/raw`);
    }
    /** Puts a message into the mailbox as if it had been received: its parts, or a whole message of RFC 5322 as text or octets. */
    async inject(message) {
        await this.#opening;
        if (typeof message === "string" || message instanceof Uint8Array) {
            return this.#http.json("POST", "/mailboxes/me/messages", message, "message/rfc822");
        }
        const attachments = message.attachments?.map((a) => ({ ...a, content: typeof a.content === "string" ? a.content : base64(a.content) }));
        return this.#http.json("POST", "/mailboxes/me/messages", { from: "test@gonebox.localhost", ...message, attachments });
    }
    /** Lets the mailbox live for `ttl` milliseconds from now, or for the default time of its plan. */
    async extend(options = {}) {
        const data = await this.#http.json("POST", "/mailboxes/me/extend", seconds(options.ttl));
        this.token = data.token ?? this.token;
        this.expiresAt = new Date(data.expiresAt);
        this.#http = this.#http.with(this.token);
        return this;
    }
    /** Ends the mailbox and erases its messages. Its address is not given to others for some time. */
    destroy() {
        return this.#http.json("DELETE", "/mailboxes/me");
    }
    /**
     * Calls `handler` for each event from now on, across interruptions of the connection.
     * @returns a function that stops this; its `ready` resolves when events can no longer be missed
     */
    on(event, handler) {
        const stream = new Stream(() => this.#http, async () => (await this.#list({ limit: 1 })).data[0]?.id ?? FIRST);
        const subscription = stream.start(event, handler);
        this.#opening = subscription.ready.catch(() => undefined);
        return subscription;
    }
    async #wait(options, has) {
        const filter = has ? { ...options, has: [has, ...[options.has ?? []].flat()] } : options;
        const found = await this.#next(filter);
        if (found)
            return found;
        const others = await this.messages({ limit: 5 });
        const there = others.length === 0 ? "The mailbox is empty: check that the application sends to this address and to this service." : `It has other messages: ${others.map(title).join(", ")}.`;
        throw new GoneboxError("wait.timeout", `no message${describe(filter)} came to ${this.address} within ${(options.timeout ?? DEFAULT_TIMEOUT) / 1000} s. ${there}`);
    }
    /** The newest message that matches, or undefined at the end of the timeout. */
    async #next({ timeout = DEFAULT_TIMEOUT, ...filter }) {
        const deadline = Date.now() + timeout;
        for (;;) {
            const left = Math.max(0, deadline - Date.now());
            const wait = Math.min(LONGEST_POLL, Math.floor(left / 1000));
            try {
                const asked = Date.now();
                let page = await this.#list({ ...filter, limit: 1, wait });
                while (page.data.length === 0 && page.nextCursor)
                    page = await this.#list({ ...filter, limit: 1, cursor: page.nextCursor });
                if (page.data[0] || left === 0)
                    return page.data[0];
                if (wait === 0)
                    await pause(left);
                else if (Date.now() - asked < wait * 500)
                    await pause(200); // it did not wait
            }
            catch (error) {
                const delay = error instanceof GoneboxError && error.code === "rate.limited" ? (error.retryAfter ?? 1) * 1000 : Infinity;
                if (delay > left)
                    throw error;
                await pause(delay);
            }
        }
    }
    #list(query) {
        const parameters = new URLSearchParams();
        for (const [name, value] of Object.entries(query)) {
            for (const one of [value].flat()) {
                if (one !== undefined && one !== null && one !== false && one !== "" && one !== 0)
                    parameters.append(name, String(one));
            }
        }
        return this.#http.page(`/mailboxes/me/messages?${parameters}`, query.wait);
    }
}
function seconds(ttl) {
    return ttl === undefined ? {} : { ttl: Math.ceil(ttl / 1000) };
}
function title(m) {
    return `${JSON.stringify(m.subject)} from ${m.from.address}`;
}
function describe({ from, subject, has }) {
    const all = [from && `from ${JSON.stringify(from)}`, subject && `with subject ${JSON.stringify(subject)}`, has?.length && `with ${[...new Set([has].flat())].join(" and ")}`];
    return all.map((part) => (part ? ` ${part}` : "")).join("");
}
function base64(octets) {
    let text = "";
    for (let i = 0; i < octets.length; i += 0x8000)
        text += String.fromCharCode(...octets.subarray(i, i + 0x8000));
    return btoa(text);
}
