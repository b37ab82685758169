import { GoneboxError, type Http } from "./http.js";

/** The command of an SMTP session that a rule answers: `auth` is the credentials, `data` DATA itself, `message` the content. */
export type FaultStage = "auth" | "mail" | "rcpt" | "data" | "message";

/** What a rule is made of. It needs `reply`, `delay` or `close`. Times are in milliseconds, of which the service takes whole seconds. */
export interface FaultRule {
  /** The name of a project; the sink and every project of the account if absent. */
  project?: string;
  /** Patterns of the sender and of a recipient, in which `*` stands for any characters. */
  from?: string;
  to?: string;
  stage: FaultStage;
  /** A code of 400 to 559, perhaps an enhanced status code, and a text: `451 4.3.2 Try again later`. */
  reply?: string;
  /** Before the reply, or before the command is executed if there is none. */
  delay?: number;
  /** Closes the connection, after the reply if there is one. */
  close?: boolean;
  /** How often the rule answers; without end if absent. */
  times?: number;
  /** Answers the nth, the 2nth and so on. */
  every?: number;
  /** Lets so many pass in a minute, and answers the rest. */
  perMinute?: number;
  /** The probability of answering. The same seed and mails result in the same replies. */
  probability?: number;
  seed?: number;
  /** After which the rule is deleted. */
  for?: number;
}

/** A rule as it is stored. `hits` counts its answers; `createdAt` and `endsAt` are RFC 3339. */
export interface Fault {
  id: string;
  project: string | null;
  from: string | null;
  to: string | null;
  stage: FaultStage;
  reply: string | null;
  delay: number;
  close: boolean;
  times: number | null;
  every: number | null;
  perMinute: number | null;
  probability: number | null;
  seed: number | null;
  hits: number;
  createdAt: string;
  endsAt: string | null;
}

/** The SMTP dialog of a mail, without credentials and content. `project` is null for the sink; `to` has refused recipients too. */
export type Transcript = {
  at: string;
  project: string | null;
  from: string;
  to: string[];
  refused: boolean;
  lines: { at: string; from: "client" | "server"; text: string }[];
};

/** Restricts transcripts to those that ended after a time, and to so many. */
export type TranscriptFilter = { since?: Date | string; limit?: number };

/** What calls on an account are made with, and the beginning of their paths. */
export type Owner = () => Promise<{ http: Http; path: "/me" | "/keys" }>;

/** The fault rules of an account, or those of one of its projects. */
export class Faults {
  readonly #owner: Owner;
  readonly #project: string | undefined;

  /** @internal */
  constructor(owner: Owner, project?: string) {
    this.#owner = owner;
    this.#project = project;
  }

  /** Lists the rules in the order in which they are tried. */
  async list(): Promise<Fault[]> {
    const { http, path } = await this.#owner();
    const all = await http.json<Fault[]>("GET", `${path}/faults`);
    return all.filter(({ project }) => this.#project === undefined || project === this.#project).map(inMilliseconds);
  }

  /** Adds a rule behind those that are there. Those of a project concern its mail alone. */
  async add(rule: FaultRule): Promise<Fault> {
    const { http, path } = await this.#owner();
    const seconds = Object.entries({ delay: rule.delay, for: rule.for }).map(([name, time]) => [name, time === undefined ? undefined : Math.ceil(time / 1000)]);
    return inMilliseconds(await http.json("POST", `${path}/faults`, { ...rule, ...Object.fromEntries(seconds), ...(this.#project !== undefined && { project: this.#project }) }));
  }

  /** Deletes the rule with an id; without one all of them, after which greylists have forgotten their tries too, unless they are those of a project. */
  async delete(id?: string): Promise<void> {
    const { http, path } = await this.#owner();
    const remove = (one: string) => http.json<void>("DELETE", `${path}/faults${one}`);
    if (id !== undefined) return remove(`/${encodeURIComponent(id)}`);
    if (this.#project === undefined) return remove("");
    for (const rule of await this.list()) {
      await remove(`/${rule.id}`).catch((error: unknown) => {
        if (!(error instanceof GoneboxError && error.code === "fault.not_found")) throw error; // rules that the Mailpit API has set end together
      });
    }
  }
}

function inMilliseconds(rule: Fault): Fault {
  return { ...rule, delay: rule.delay * 1000 };
}

/** Reads the transcripts of refused mails, newest first; with the name of a project those of its mail alone. */
export async function refusedMail(owner: Owner, { since, limit = Infinity }: TranscriptFilter, project?: string): Promise<Transcript[]> {
  const { http, path } = await owner();
  const found: Transcript[] = [];
  for (let cursor: string | null = ""; cursor !== null && found.length < limit; ) {
    const query = new URLSearchParams({ limit: "100", ...(since !== undefined && { since: since instanceof Date ? since.toISOString() : since }), ...(cursor && { cursor }) });
    const page: { data: Transcript[]; nextCursor: string | null } = await http.get(`${path}/transcripts?${query}`);
    found.push(...page.data.filter((one) => project === undefined || one.project === project));
    cursor = page.nextCursor;
  }
  return found.slice(0, limit);
}
