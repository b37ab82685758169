/**
 * A plug-in for Cypress. The configuration calls `setupNodeEvents`, which registers tasks; the support file imports this module,
 * which registers the commands `mailbox`, `waitForCode` and `waitForLink`. The commands call the tasks, so that no page under
 * test has to be allowed to call Gonebox.
 */
/// <reference types="cypress" preserve="true" />
import { Gonebox, GoneboxError, type Mailbox, type MailboxOptions, type WaitOptions } from "./index.js";

/** A mailbox in a spec: what a task can hand over of a {@link Mailbox}. */
export type CypressMailbox = { id: string; address: string; token: string };

declare global {
  namespace Cypress {
    interface Chainable {
      /** Makes a mailbox, which is destroyed after the test. */
      mailbox(options?: MailboxOptions): Chainable<CypressMailbox>;
      /** Waits for a code in the mailbox that it is called on, on `cy` in the newest one of the test. */
      waitForCode(options?: WaitOptions): Chainable<string>;
      /** Waits for the link to follow in the mailbox that it is called on, on `cy` in the newest one of the test. */
      waitForLink(options?: WaitOptions): Chainable<string>;
    }
  }
}

type Wait = { token: string; options: WaitOptions };

const TASK = "gonebox:"; // before the name of each task
const DEFAULT_TIMEOUT = 30_000; // of a wait of a mailbox
const GRACE = 15_000; // milliseconds for a task to end after its wait, whose error says more than that of Cypress

/**
 * Registers the tasks of the commands. The service is the one that GONEBOX_URL names, in the environment of Cypress or of the
 * process; without it, one is started from the binary (`gonebox/service`). It sets GONEBOX_URL and, where it is known,
 * GONEBOX_SMTP in `config.env`. GONEBOX_KEY may name a developer key.
 * @returns the configuration, as Cypress expects it
 */
export async function setupNodeEvents(on: Cypress.PluginEvents, config: Cypress.PluginConfigOptions): Promise<Cypress.PluginConfigOptions> {
  const setting = (name: string): string => String(config.env[name] ?? process.env[name] ?? "");
  const service = setting("GONEBOX_URL") ? { url: setting("GONEBOX_URL"), smtp: setting("GONEBOX_SMTP") } : await (await import("./service.js")).startService();
  const gonebox = new Gonebox(service.url, setting("GONEBOX_KEY") || undefined);
  const mailboxes = new Map<string, Mailbox>(); // by token
  const opened = async (token: string) => mailboxes.get(token) ?? gonebox.openMailbox(token);
  on("task", {
    [`${TASK}mailbox`]: async (options: MailboxOptions): Promise<CypressMailbox> => {
      const mailbox = await gonebox.createMailbox(options);
      const { id, address, token } = mailbox;
      mailboxes.set(token, mailbox);
      return { id, address, token };
    },
    [`${TASK}waitForCode`]: async ({ token, options }: Wait) => (await opened(token)).waitForCode(options),
    [`${TASK}waitForLink`]: async ({ token, options }: Wait) => (await opened(token)).waitForLink(options),
    [`${TASK}destroy`]: async (tokens: string[]) => {
      await Promise.allSettled(tokens.map(async (token) => (await opened(token)).destroy())); // it may have ended in the test
      tokens.forEach((token) => mailboxes.delete(token));
      return null;
    },
  });
  config.env = { ...config.env, GONEBOX_URL: service.url, ...(service.smtp && { GONEBOX_SMTP: service.smtp }) };
  return config;
}

/** Registers the commands in the browser. */
function registerCommands(): void {
  let mailboxes: CypressMailbox[] = []; // of the running test
  const wait = (name: "waitForCode" | "waitForLink") =>
    Cypress.Commands.add(name, { prevSubject: "optional" }, (subject: unknown, options: WaitOptions = {}) => {
      const mailbox = subject === undefined || subject === null ? mailboxes.at(-1) : (subject as Partial<CypressMailbox>);
      if (!mailbox?.token) throw new GoneboxError("client.no_mailbox", `${name} is called on a mailbox, or on cy after cy.mailbox() in the same test`);
      const timeout = (options.timeout ?? DEFAULT_TIMEOUT) + GRACE;
      return cy.task<string>(`${TASK}${name}`, { token: mailbox.token, options }, { timeout });
    });
  Cypress.Commands.add("mailbox", (options: MailboxOptions = {}) =>
    cy.task<CypressMailbox>(`${TASK}mailbox`, options).then((mailbox) => {
      mailboxes.push(mailbox);
      return mailbox;
    }),
  );
  wait("waitForCode");
  wait("waitForLink");
  afterEach(() => {
    const tokens = mailboxes.map(({ token }) => token);
    mailboxes = [];
    if (tokens.length > 0) cy.task(`${TASK}destroy`, tokens, { log: false });
  });
}

if (typeof Cypress !== "undefined") registerCommands();
