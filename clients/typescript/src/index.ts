/**
 * Client of Gonebox, a disposable mailbox service. It uses nothing but `fetch`, so it runs in Node 20 and later, in
 * browsers and in Deno. Times are in milliseconds.
 */
import { type Fault, type FaultRule, type FaultStage, Faults, type Owner, refusedMail, type Transcript, type TranscriptFilter } from "./faults.js";
import { type Cause, type Diagnosis, GoneboxError, Http, pause } from "./http.js";
import { Stream, type Subscription } from "./stream.js";
import { Wait } from "./wait.js";

export { type Cause, type Diagnosis, type Fault, type FaultRule, Faults, type FaultStage, GoneboxError, type Subscription, type Transcript, type TranscriptFilter };

/** The name and address of a sender or recipient. */
export type Address = { name: string; address: string };

/**
 * A one-time code: `code` is ready to be typed in, `display` as it is written, `links` are best first, `confidence` is from 0 to 1.
 * `from`, `subject` and `receivedAt` are those of its message. `filterId` is the filter that found it, if `source` is "filter".
 */
export interface Otp {
  code: string;
  display: string;
  messageId: string;
  confidence: number;
  kind: "numeric" | "alphanumeric" | "phrase";
  links: string[];
  from: Address;
  subject: string;
  receivedAt: string;
  source: "builtin" | "filter";
  filterId: string | null;
}

/** The verdicts on the sender (RFC 8601). `verified` means that `domain`, that of the only address in From, is proven; it is null otherwise. */
export type Authentication = { spf: string; dkim: string; dmarc: string; verified: boolean; domain: string | null };

/** The link that a message asks its reader to open. `host` is where it leads to, `confidence` is from 0 to 1. */
export type Action = { url: string; host: string; kind: "verify" | "sign_in" | "reset" | "invite" | "unlock"; confidence: number };

/** What a list shows of a message. Times are RFC 3339. `verified` means that the domain of the sender is proven. */
export interface Summary {
  id: string;
  mailboxId: string;
  from: Address;
  to: Address[];
  subject: string;
  preview: string;
  receivedAt: string;
  sentAt: string | null;
  size: number;
  seen: boolean;
  hasAttachments: boolean;
  /** How the message came in: over SMTP, by a call of the API, or by an ingress. */
  source: "smtp" | "injected" | "ingress";
  otp: Otp | null;
  verified: boolean;
  /** The one link that the message asks its reader to open. */
  action: Action | null;
  /** The tags of the message, where it has any. */
  tags?: string[];
}

/** A message in the list of an account. `address` is that of its mailbox, and `project` the name of the project whose mailbox it is. */
export type AddressedSummary = Summary & { address: string; project: string | null };

/** A file in a message, whose content {@link Mailbox.attachment} reads; not `available` above the size limit of the service. */
export type Attachment = { id: string; filename: string; contentType: string; size: number; sha256: string; inline: boolean; contentId: string | null; available: boolean };

/** How a message came: the reverse-path, the forward-paths that led to its mailbox, and the client. `from` is empty for bounces and injected messages. */
export type Envelope = { from: string; to: string[]; helo: string; remoteIp: string; tls: boolean };

/** A whole message. Its HTML is sanitized by the service. The raw message is available until `rawExpiresAt`. */
export interface Message extends Summary {
  envelope: Envelope;
  rawExpiresAt: string;
  cc: Address[];
  replyTo: Address[];
  messageId: string | null;
  headers: { name: string; value: string }[];
  text: string;
  html: string | null;
  attachments: Attachment[];
  links: string[];
  /** The link of `action`, else the first of `links` that is no logo's, no front page, and does not manage the mail, cancel or report. */
  bestLink: string | null;
  authentication: Authentication;
}

/** One thing that may go wrong with a message. `clients` do not support the feature that it is about, which `line` of the HTML shows first. */
export type Warning = { code: string; title: string; detail: string; line?: number; clients?: string[]; feature?: string };

/** How a message will fare in mail clients. `score` is from 0 to 100, `clientsAsOf` the day of the data about clients. */
export type Checks = { score: number; clientsAsOf: string; warnings: Warning[] };

/** What a message may have. */
export type Has = "code" | "link" | "action" | "bestLink" | "attachment";

/** Restricts messages. `from`, `to` and `subject` are parts of the sender, a recipient and the subject, in any case; `after` is the id of a message. */
export type Filter = { from?: string; to?: string; subject?: string; has?: Has | Has[]; unseen?: boolean; after?: string };

/** Restricts the messages of an account also by a search, the id or address of a mailbox, a domain, and how mailboxes were created. */
export type AccountFilter = Filter & { q?: string; mailbox?: string; domain?: string; source?: string };

/** Restricts what is waited for, and for how long: 30 seconds if `timeout` is absent. */
export type WaitOptions = Filter & { timeout?: number };

/** How a mailbox is made. What is absent is chosen by the service, which counts `ttl` in whole seconds, 60 at least. */
export type MailboxOptions = { domain?: string; localPart?: string; ttl?: number };

/** A message to put into a mailbox without SMTP. `from` is `address` or `Name <address>`; text as `content` is base64. */
export interface Draft {
  from?: string;
  subject?: string;
  text?: string;
  html?: string;
  attachments?: { filename: string; contentType?: string; content: string | Uint8Array }[];
}

/** What {@link Mailbox.on} passes for each event. */
export interface Events {
  message: Summary;
  seen: { id: string; seen: boolean };
  deleted: { id: string };
  tagged: { id: string; tags: string[] };
  mailbox: { expiresAt: string; ttl: number };
  end: { reason: string };
}

type MailboxData = { id: string; address: string; token?: string; expiresAt: string };
type ProjectData = { id: string; name: string; mailboxId: string; token?: string; smtp: { username: string; password?: string }; mailpit: { url: string } };

const DEFAULT_TIMEOUT = 30_000;
const DEFAULT_QUIET = 3_000;
const LONGEST_POLL = 25; // seconds: shorter than the idle limit of proxies
const FIRST = "msg_00000000000000000000000001"; // sorts before every message

/** A Gonebox service. */
export class Gonebox {
  readonly url: string;
  /** The rules by which the sink and the projects of the account fail on purpose. Without a key, as {@link project}. */
  readonly faults: Faults;
  readonly #http: Http;

  /**
   * @param url the address of the service, such as http://localhost:8080
   * @param key a developer key (`x_…`) or user token (`xu_…`); without one, mailboxes are made anonymously
   */
  constructor(url: string, key?: string) {
    this.#http = new Http(url, key);
    this.url = this.#http.url;
    this.faults = new Faults(this.#owner);
  }

  /** Makes a mailbox. It ends by itself after its `ttl`, or with {@link Mailbox.destroy}. */
  async createMailbox(options: MailboxOptions = {}): Promise<Mailbox> {
    const { ttl, ...rest } = options;
    const path = this.#http.key?.startsWith("x_") ? "/keys/mailboxes" : "/mailboxes";
    const data = await this.#http.json<MailboxData>("POST", path, { ...rest, ...seconds(ttl) });
    if (!data.token) {
      throw new GoneboxError("client.scope_missing", "the key cannot read what it creates: give it the scopes mailboxes:write, messages:read and otp:read");
    }
    return new Mailbox(this.#http, data);
  }

  /**
   * Opens the mailbox that a mailbox token (`xm_…`) belongs to, or the one at an address of the sink, where it can be waited for the
   * first mail: under `gonebox serve --dev` any address that the application under test writes to, otherwise with a key of the sink's account.
   */
  async openMailbox(token: string): Promise<Mailbox> {
    const at = token.lastIndexOf("@");
    if (at >= 0) return this.createMailbox({ localPart: token.slice(0, at), domain: token.slice(at + 1) });
    const data = await this.#http.with(token).json<MailboxData>("GET", "/mailboxes/me");
    return new Mailbox(this.#http, { ...data, token });
  }

  /**
   * Opens the project with a name, and creates it if there is none: a mailbox for every address that an application sends to while it is signed in
   * as the project over SMTP. Without a key this needs a service on this machine that runs with `--dev`.
   */
  async project(name: string): Promise<Project> {
    const owner = await this.#owner();
    const { http } = owner;
    const path = `${owner.path}/projects`;
    const find = () => http.json<ProjectData>("GET", `${path}/${encodeURIComponent(name)}`);
    const otherwise = (code: string, then: () => Promise<ProjectData>) => (error: unknown) => {
      if (error instanceof GoneboxError && error.code === code) return then();
      throw error;
    };
    const create = () => http.json<ProjectData>("POST", path, { name }).catch(otherwise("project.name_taken", find)); // another worker was faster
    const data = await find().catch(otherwise("project.not_found", create));
    if (!data.token) {
      throw new GoneboxError("client.scope_missing", "the key cannot read the project: give it the scopes mailboxes:read, mailboxes:write, messages:read and otp:read");
    }
    return new Project(this.#http, data, this.#owner);
  }

  /** Lists the SMTP dialogs of mails for the sink and for projects of which a command was refused, or answered by closing the connection, newest first. The service keeps them for a day. */
  transcripts(filter: TranscriptFilter = {}): Promise<Transcript[]> {
    return refusedMail(this.#owner, filter);
  }

  /** What the calls on an account are made with: the key, or without one the account of `--dev`. */
  readonly #owner: Owner = async () => {
    const http = this.#http.key ? this.#http : this.#http.with((await this.#http.json<{ token: string }>("POST", "/auth/local")).token);
    return { http, path: http.key?.startsWith("x_") ? "/keys" : "/me" };
  };

  /** Lists the messages of all mailboxes of the account that match, newest first. It needs a key with `messages:read`, or a user token. */
  messages(filter: AccountFilter & { limit?: number } = {}): Promise<AddressedSummary[]> {
    return this.#account().messages(filter) as Promise<AddressedSummary[]>;
  }

  /** {@link Mailbox.waitForCode} for a message in any mailbox of the account: `to` says for which recipient. */
  waitForCode(options: AccountFilter & WaitOptions = {}): Promise<string> {
    return this.#account().waitForCode(options);
  }

  /** {@link Mailbox.waitForLink} for a message in any mailbox of the account. */
  waitForLink(options: AccountFilter & WaitOptions = {}): Promise<string> {
    return this.#account().waitForLink(options);
  }

  /** {@link Mailbox.waitForMessage} for a message in any mailbox of the account. */
  waitForMessage(options: AccountFilter & WaitOptions = {}): Promise<Message> {
    return this.#account().waitForMessage(options);
  }

  /** All mailboxes of the account as one that messages are read from. */
  #account(): Mailbox {
    const { key } = this.#http;
    const data = { id: "", address: "the account", token: key, expiresAt: "" };
    return new Mailbox(this.#http, data, key?.startsWith("x_") ? "/keys/messages" : "/me/messages");
  }

  /** Calls any other operation of the API, such as `POST /me/webhooks`, and returns the `data` of its answer. */
  request<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    return this.#http.json<T>(method, path, body);
  }
}

/** A mailbox, as {@link Gonebox.createMailbox} returns it. */
export class Mailbox {
  readonly id: string;
  readonly address: string;
  /** Opens this mailbox and nothing else. */
  token: string;
  expiresAt: Date;
  #http: Http;
  readonly #path: string;
  #opening: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(http: Http, data: MailboxData, path = "/mailboxes/me/messages") {
    this.#path = path;
    this.id = data.id;
    this.address = data.address;
    this.token = data.token!;
    this.expiresAt = new Date(data.expiresAt);
    this.#http = http.with(this.token);
  }

  /** Waits for a message with a one-time code and returns the code. A message that is already there counts. */
  async waitForCode(options: WaitOptions = {}): Promise<string> {
    return (await this.#found(this.#wait("waitForCode", options), options, "code")).otp!.code;
  }

  /**
   * Waits for a message with a link to follow and returns the link: the one that the message asks to open, else the first that is none to
   * avoid, such as one that unsubscribes. `waitForMessage({has: "bestLink"})` also tells which, by `action`, and `has: "action"` waits for the former alone.
   */
  async waitForLink(options: WaitOptions = {}): Promise<string> {
    return (await this.#foundWhole("waitForLink", options, "bestLink")).bestLink!;
  }

  /** Waits for a message that matches and returns it whole. A message that is already there counts; the newest wins. */
  async waitForMessage(options: WaitOptions = {}): Promise<Message> {
    return this.#foundWhole("waitForMessage", options);
  }

  /** Resolves if no message that matches arrives within `timeout` (3 seconds if absent) nor is there already; else throws. */
  async expectNoMessage(options: WaitOptions = {}): Promise<void> {
    const m = await this.#next(this.#wait("expectNoMessage", { timeout: DEFAULT_QUIET, ...options }), options);
    if (m) {
      throw new GoneboxError("wait.unexpected_message", `${this.address} has a message${describe(options)}: ${title(m)}. To ignore earlier ones, pass the id of the last as "after".`);
    }
  }

  /** Lists the messages that match, newest first. */
  async messages(filter: Filter & { limit?: number } = {}): Promise<Summary[]> {
    const { limit = Infinity, ...rest } = filter;
    const found: Summary[] = [];
    let cursor: string | null = null;
    do {
      const page = await this.#list({ ...rest, limit: Math.min(100, limit - found.length), cursor });
      found.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor && found.length < limit);
    return found;
  }

  /** Reads a message, which marks it as seen. */
  message(messageId: string): Promise<Message> {
    return this.#http.json("GET", `/messages/${messageId}`);
  }

  /** Deletes a message. */
  deleteMessage(messageId: string): Promise<void> {
    return this.#http.json("DELETE", `/messages/${messageId}`);
  }

  /** Reads the octets of an attachment. */
  attachment(messageId: string, attachmentId: string): Promise<Uint8Array> {
    return this.#http.octets(`/messages/${messageId}/attachments/${attachmentId}`);
  }

  /** Reads a message as it was received. The service keeps this for a short time only. */
  raw(messageId: string): Promise<Uint8Array> {
    return this.#http.octets(`/messages/${messageId}/raw`);
  }

  /** Checks which mail clients lack what the HTML of a message uses, and what its parts and header miss. Nothing is fetched. */
  checks(messageId: string): Promise<Checks> {
    return this.#http.json("GET", `/messages/${messageId}/checks`);
  }

  /** Reads the SMTP dialog of a message for the sink or a project. The service keeps it for a day. */
  transcript(messageId: string): Promise<Transcript> {
    return this.#http.json("GET", `/messages/${messageId}/transcript`);
  }

  /** Puts a message into the mailbox as if it had been received: its parts, or a whole message of RFC 5322 as text or octets. */
  async inject(message: Draft | string | Uint8Array): Promise<Message> {
    await this.#opening;
    if (typeof message === "string" || message instanceof Uint8Array) {
      return this.#http.json("POST", "/mailboxes/me/messages", message, "message/rfc822");
    }
    const attachments = message.attachments?.map((a) => ({ ...a, content: typeof a.content === "string" ? a.content : base64(a.content) }));
    return this.#http.json("POST", "/mailboxes/me/messages", { from: "test@gonebox.localhost", ...message, attachments });
  }

  /** Lets the mailbox live for `ttl` milliseconds from now, or for the default time of its plan. */
  async extend(options: { ttl?: number } = {}): Promise<this> {
    const data = await this.#http.json<MailboxData>("POST", "/mailboxes/me/extend", seconds(options.ttl));
    this.token = data.token ?? this.token;
    this.expiresAt = new Date(data.expiresAt);
    this.#http = this.#http.with(this.token);
    return this;
  }

  /** Ends the mailbox and erases its messages. Its address is not given to others for some time. */
  destroy(): Promise<void> {
    return this.#http.json("DELETE", "/mailboxes/me");
  }

  /**
   * Calls `handler` for each event from now on, across interruptions of the connection.
   * @returns a function that stops this; its `ready` resolves when events can no longer be missed
   */
  on<E extends keyof Events>(event: E, handler: (data: Events[E]) => void): Subscription {
    const stream = new Stream(() => this.#http, async () => (await this.#list({ limit: 1 })).data[0]?.id ?? FIRST);
    const subscription = stream.start(event, handler as (data: never) => void);
    this.#opening = subscription.ready.catch(() => undefined);
    return subscription;
  }

  #wait(method: string, { timeout = DEFAULT_TIMEOUT }: WaitOptions): Wait {
    return new Wait(method, this.address, timeout);
  }

  /** The newest message that matches. */
  async #found(wait: Wait, options: WaitOptions, has?: Has): Promise<Summary> {
    const filter = has ? { ...options, has: [has, ...[options.has ?? []].flat()] } : options;
    const found = await this.#next(wait, filter);
    if (found) return found;
    const { diagnosis } = wait;
    const there = diagnosis?.summary ?? await this.messages({ limit: 5 }).then(
      (others) => (others.length === 0 ? "The mailbox is empty: check that the application sends to this address and to this service." : `It has other messages: ${others.map(title).join(", ")}.`),
      (error: Error) => `What it has instead cannot be read: ${error.message}`,
    );
    throw new GoneboxError("wait.timeout", `no message${describe(filter)} came to ${this.address} within ${wait.timeout / 1000} s. ${there}`, { diagnosis });
  }

  async #foundWhole(method: string, options: WaitOptions, has?: Has): Promise<Message> {
    const wait = this.#wait(method, options);
    const { id } = await this.#found(wait, options, has);
    return (await wait.call((timeout) => this.#http.get<{ data: Message }>(`/messages/${id}`, timeout))).data;
  }

  /** The newest message that matches, or undefined at the end of the wait. */
  async #next(wait: Wait, { timeout: _, ...filter }: WaitOptions): Promise<Summary | undefined> {
    for (;;) {
      const left = wait.left();
      const poll = Math.min(LONGEST_POLL, Math.floor(left / 1000));
      const asked = performance.now();
      let page = await wait.call((timeout) => this.#list({ ...filter, limit: 1, wait: Math.min(poll, Math.floor(wait.left() / 1000)) }, timeout));
      while (page.data.length === 0 && page.nextCursor) {
        const cursor = page.nextCursor;
        page = await wait.call((timeout) => this.#list({ ...filter, limit: 1, cursor }, timeout));
      }
      wait.learn(page.diagnosis);
      if (page.data[0] || left === 0) return page.data[0];
      if (poll === 0) await pause(left);
      else if (performance.now() - asked < poll * 500) await pause(200); // it did not wait
    }
  }

  #list(query: Filter & { limit?: number; wait?: number; cursor?: string | null }, timeout?: number): Promise<{ data: Summary[]; nextCursor: string | null; diagnosis?: Diagnosis }> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const one of [value].flat()) {
        if (one !== undefined && one !== null && one !== false && one !== "" && one !== 0) parameters.append(name, String(one));
      }
    }
    return this.#http.get(`${this.#path}?${parameters}`, timeout);
  }
}

function seconds(ttl: number | undefined): { ttl?: number } {
  return ttl === undefined ? {} : { ttl: Math.ceil(ttl / 1000) };
}

function title(m: Summary): string {
  return `${JSON.stringify(m.subject)} from ${m.from.address}`;
}

/** A project, as {@link Gonebox.project} returns it: the calls of a mailbox, whose `to` says which address is meant. */
export class Project extends Mailbox {
  readonly name: string;
  /** What the application under test signs in with. `password` is absent for a project that was there already; `--dev` takes any. */
  readonly smtp: { username: string; password?: string };
  /** The Mailpit API of the project; `url` is empty where the service has none. */
  readonly mailpit: { url: string };
  /** The rules by which the service fails on purpose for this project alone. */
  readonly faults: Faults;
  readonly #owner: Owner;
  readonly #id: string;

  /** @internal */
  constructor(http: Http, data: ProjectData, owner: Owner) {
    super(http, { id: data.mailboxId, address: `the project ${data.name}`, token: data.token, expiresAt: "2100-01-01T00:00:00Z" });
    this.name = data.name;
    this.smtp = data.smtp;
    this.mailpit = data.mailpit;
    this.faults = new Faults(owner, data.name);
    this.#owner = owner;
    this.#id = data.id;
  }

  /** Lists the SMTP dialogs of the project's mails of which a command was refused, or answered by closing the connection, newest first. */
  transcripts(filter: TranscriptFilter = {}): Promise<Transcript[]> {
    return refusedMail(this.#owner, filter, this.name);
  }

  /** Deletes the project with its mail. */
  override async destroy(): Promise<void> {
    const { http, path } = await this.#owner();
    await http.json("DELETE", path === "/keys" ? `/keys/mailboxes/${this.id}` : `/me/projects/${this.#id}`);
  }
}

function describe({ from, subject, to, q, has }: AccountFilter): string {
  const all = [from && `from ${JSON.stringify(from)}`, subject && `with subject ${JSON.stringify(subject)}`, to && `to ${JSON.stringify(to)}`, q && `that finds ${JSON.stringify(q)}`, has?.length && `with ${[...new Set([has].flat().map((one) => (one === "bestLink" ? "link" : one)))].join(" and ")}`];
  return all.map((part) => (part ? ` ${part}` : "")).join("");
}

function base64(octets: Uint8Array): string {
  let text = "";
  for (let i = 0; i < octets.length; i += 0x8000) text += String.fromCharCode(...octets.subarray(i, i + 0x8000));
  return btoa(text);
}
