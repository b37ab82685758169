// The calls of an account, with the token of the sign-in on this device.
import { at } from "../base";
import { boxes } from "../boxes.svelte";
import { isDev } from "../place";
import { signedIn } from "../signedIn.svelte";
import { type ApiResponse, type Mailbox, type Summary, bearer, client, failure, readMessage, setSeen, unwrap } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Account = Schemas["Account"];
export type TwoFactor = Schemas["TwoFactor"];
export type Enrolment = Schemas["Enrolment"];
export type PrivateDomain = Schemas["PrivateDomain"];
export type DomainRecord = Schemas["DomainRecord"];
export type Filter = Schemas["Filter"];
export type FilterCreation = Schemas["FilterCreation"];
export type FilterTrial = Schemas["FilterTrial"];
export type FilterSample = Schemas["FilterSample"];
export type Webhook = Schemas["Webhook"];
export type WebhookEvent = Schemas["WebhookCreation"]["events"][number];
export type Attempt = Schemas["Delivery"];
export type Key = Schemas["Key"];
export type Scope = Key["scopes"][number];
export type LedgerEntry = Schemas["LedgerEntry"];
export type Order = Schemas["Topup"];
export type Provider = Schemas["Provider"];
export type Plan = Schemas["Plan"];
export type Entitlements = Schemas["Entitlements"];
export type Bought = Schemas["SubscriptionState"];
export type Interval = "monthly" | "yearly";
export type UserSession = Schemas["UserSession"];

/** Listed is a page of a list, newest first, and the cursor of the next. */
export type Listed<T> = { data: T[]; nextCursor: string | null };

/** auth presents the token of the sign-in on this device. */
export const auth = () => bearer(signedIn.token);
const limit = 50;

/** unwrapSignedIn is unwrap for a call with the account's token: a response that the token is invalid ends the sign-in on this device. */
export async function unwrapSignedIn<T>(call: Promise<ApiResponse<T>>): Promise<T> {
  const token = signedIn.token;
  try {
    return await unwrap(call);
  } catch (thrown) {
    const { code } = failure(thrown);
    if ((code === "auth.invalid_token" || code === "auth.required") && token === signedIn.token) signedIn.leave("lapsed");
    throw thrown;
  }
}

/** pageOf is the query of a page of a list. */
export const pageOf = (cursor: string | null) => ({ query: { limit, ...(cursor && { cursor }) } });

/** Purchase is what is bought. Sent again after a failure it has the same key, so that the service runs it only once. */
export class Purchase {
  #body = "";
  #key = "";

  /** headers returns those of a call with a body. */
  headers(body: object) {
    const text = JSON.stringify(body);
    if (text !== this.#body) this.#key = [...crypto.getRandomValues(new Uint8Array(16))].map((octet) => octet.toString(16).padStart(2, "0")).join("");
    this.#body = text;
    return { headers: { ...auth().headers, "Idempotency-Key": this.#key } };
  }
}

// Signing in.

export async function register(registration: Schemas["Registration"]): Promise<void> {
  const { token, account } = (await unwrap(client.POST("/api/v1/auth/register", { body: registration }))).data;
  signedIn.keep(token, account.email, account.role);
}

export async function signIn(credentials: Schemas["Credentials"]): Promise<void> {
  const { token, account } = (await unwrap(client.POST("/api/v1/auth/token", { body: credentials }))).data;
  signedIn.keep(token, account.email, account.role);
}

/** takeArrival takes what a sign-in with the issuer has left for this page, once: a user token, or "password" or "code", a dot and a ticket. */
export function takeArrival(): string {
  const arrival = /(?:^|; )gonebox_sign_in=([^;]+)/.exec(document.cookie)?.[1] ?? "";
  if (arrival) document.cookie = `gonebox_sign_in=; Max-Age=0; Path=${at("/")}`;
  return arrival;
}

/** enter keeps a user token that the issuer's sign-in gave. */
export async function enter(token: string): Promise<void> {
  const { data } = await unwrap(client.GET("/api/v1/me", bearer(token)));
  signedIn.keep(token, data.email, data.role);
}

const devAccount = "dev@gonebox.localhost"; // exists under profile dev

/**
 * enterByLink keeps the user token of the link that the start of a service with profile dev prints, in place of the one before, and returns
 * whether it did: a token of another account is refused, so that no link signs its reader in to the account of a stranger.
 */
export async function enterByLink(token: string): Promise<boolean> {
  if (!isDev || !/^xu_[\w-]+$/.test(token)) return false;
  try {
    const { data } = await unwrap(client.GET("/api/v1/me", bearer(token)));
    if (data.email !== devAccount) return false;
    if (signedIn.token && signedIn.token !== token) await signOut();
    signedIn.keep(token, data.email, data.role);
    return true;
  } catch (thrown) {
    if (failure(thrown).code === "auth.invalid_token") return false;
    throw thrown;
  }
}

export async function finish(ticket: Schemas["Ticket"]): Promise<void> {
  const { token, account } = (await unwrap(client.POST("/api/v1/auth/oidc/finish", { body: ticket }))).data;
  signedIn.keep(token, account.email, account.role);
}

/** signOut revokes the token; this device forgets it in any case. */
export async function signOut(): Promise<void> {
  const credential = auth();
  signedIn.leave();
  await client.DELETE("/api/v1/auth/token", credential).catch(() => {});
}

// The account and its second factor.

export async function readAccount(): Promise<Account> {
  const { data } = await unwrapSignedIn(client.GET("/api/v1/me", auth()));
  if (data.role !== signedIn.role) signedIn.keep(signedIn.token, signedIn.email, data.role); // staff may have changed it
  return data;
}
export const updateAccount = async (locale: string) => (await unwrapSignedIn(client.PATCH("/api/v1/me", { ...auth(), body: { locale } }))).data;
export const readTwoFactor = async () => (await unwrapSignedIn(client.GET("/api/v1/me/2fa", auth()))).data;
export const setUpTwoFactor = async () => (await unwrapSignedIn(client.POST("/api/v1/me/2fa/setup", auth()))).data;

/** confirmTwoFactor turns the second factor on and returns the recovery codes. */
export const confirmTwoFactor = async (code: string) =>
  (await unwrapSignedIn(client.POST("/api/v1/me/2fa/confirm", { ...auth(), body: { code } }))).data.recoveryCodes;

export async function endTwoFactor(code: string): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/me/2fa", { ...auth(), body: { code } }));
}

// The password, the e-mail address, the sessions, and the end of the account.

export async function changePassword(change: Schemas["PasswordChange"]): Promise<void> {
  await unwrapSignedIn(client.POST("/api/v1/me/password", { ...auth(), body: change }));
}

/** forgetPassword asks for a link that sets a password. The answer is the same whether the address has an account or not. */
export async function forgetPassword(email: string): Promise<void> {
  await unwrap(client.POST("/api/v1/auth/password/forgot", { body: { email } }));
}

/** resetPassword sets a password with the token of such a link. */
export async function resetPassword(token: string, password: string): Promise<void> {
  await unwrap(client.POST("/api/v1/auth/password/reset", { body: { token, password } }));
}

export async function changeEmail(change: Schemas["EmailChange"]): Promise<void> {
  await unwrapSignedIn(client.POST("/api/v1/me/email", { ...auth(), body: change }));
}

/** confirmEmail makes the address that was sent a code that of the account. */
export async function confirmEmail(code: string): Promise<Account> {
  const { data } = await unwrapSignedIn(client.POST("/api/v1/me/email/confirm", { ...auth(), body: { code } }));
  signedIn.keep(signedIn.token, data.email, data.role);
  return data;
}

export const listSessions = (cursor: string | null): Promise<Listed<UserSession>> =>
  unwrapSignedIn(client.GET("/api/v1/me/sessions", { ...auth(), params: pageOf(cursor) }));
export async function endSession(id: string): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/me/sessions/{id}", { ...auth(), params: { path: { id } } }));
}
export async function endOtherSessions(): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/me/sessions", auth()));
}

export const exportAccount = async () => (await unwrapSignedIn(client.GET("/api/v1/me/export", auth()))).data;

/** deleteAccount deletes the account, and this device forgets it. */
export async function deleteAccount(deletion: Schemas["AccountDeletion"]): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/me", { ...auth(), body: deletion }));
  signedIn.leave("deleted");
}

// Mailboxes.

export const listMailboxes = (cursor: string | null): Promise<Listed<Mailbox>> =>
  unwrapSignedIn(client.GET("/api/v1/me/mailboxes", { ...auth(), params: pageOf(cursor) }));

export const createMailbox = async (creation: Schemas["MailboxCreation"]): Promise<Mailbox> =>
  (await unwrapSignedIn(client.POST("/api/v1/mailboxes", { ...auth(), body: creation }))).data;

/** openMailbox shows a mailbox on the visitor's page. */
export const openMailbox = (mailbox: Mailbox) => boxes.addFromAccount(mailbox);

// Domains.

export const listDomains = (cursor: string | null): Promise<Listed<PrivateDomain>> =>
  unwrapSignedIn(client.GET("/api/v1/me/domains", { ...auth(), params: pageOf(cursor) }));
export const createDomain = async (domain: string) => (await unwrapSignedIn(client.POST("/api/v1/me/domains", { ...auth(), body: { domain } }))).data;
export const verifyDomain = async (id: string) => (await unwrapSignedIn(client.POST("/api/v1/me/domains/{id}/verify", { ...auth(), params: { path: { id } } }))).data;
export async function deleteDomain(id: string): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/me/domains/{id}", { ...auth(), params: { path: { id } } }));
}

// Filters.

export const listFilters = (cursor: string | null): Promise<Listed<Filter>> =>
  unwrapSignedIn(client.GET("/api/v1/me/filters", { ...auth(), params: pageOf(cursor) }));
export const createFilter = async (creation: FilterCreation) => (await unwrapSignedIn(client.POST("/api/v1/me/filters", { ...auth(), body: creation }))).data;
export const updateFilter = async (id: string, change: Schemas["FilterUpdate"]) =>
  (await unwrapSignedIn(client.PATCH("/api/v1/me/filters/{id}", { ...auth(), params: { path: { id } }, body: change }))).data;
export async function deleteFilter(id: string): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/me/filters/{id}", { ...auth(), params: { path: { id } } }));
}
export const tryFilter = async (filter: Schemas["TestedFilter"], sample: FilterSample) =>
  (await unwrapSignedIn(client.POST("/api/v1/me/filters/test", { ...auth(), body: { filter, sample } }))).data;

// Webhooks.

export const listWebhooks = (cursor: string | null): Promise<Listed<Webhook>> =>
  unwrapSignedIn(client.GET("/api/v1/me/webhooks", { ...auth(), params: pageOf(cursor) }));
export const createWebhook = async (creation: Schemas["WebhookCreation"]) => (await unwrapSignedIn(client.POST("/api/v1/me/webhooks", { ...auth(), body: creation }))).data;

const webhook = (id: string) => ({ ...auth(), params: { path: { id } } });

export const updateWebhook = async (id: string, change: Schemas["WebhookUpdate"]) =>
  (await unwrapSignedIn(client.PATCH("/api/v1/me/webhooks/{id}", { ...webhook(id), body: change }))).data;
export async function deleteWebhook(id: string): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/me/webhooks/{id}", webhook(id)));
}
export const rotateSecret = async (id: string) => (await unwrapSignedIn(client.POST("/api/v1/me/webhooks/{id}/rotate-secret", webhook(id)))).data;
export const pingWebhook = async (id: string) => (await unwrapSignedIn(client.POST("/api/v1/me/webhooks/{id}/test", webhook(id)))).data;
export const listAttempts = async (id: string) => (await unwrapSignedIn(client.GET("/api/v1/me/webhooks/{id}/deliveries", webhook(id)))).data;
export const redeliver = async (id: string, deliveryId: string) =>
  (await unwrapSignedIn(client.POST("/api/v1/me/webhooks/{id}/deliveries/{deliveryId}/redeliver", { ...auth(), params: { path: { id, deliveryId } } }))).data;

// Developer keys.

export const listKeys = (cursor: string | null): Promise<Listed<Key>> =>
  unwrapSignedIn(client.GET("/api/v1/me/api-keys", { ...auth(), params: pageOf(cursor) }));
export const createKey = async (creation: Schemas["KeyCreation"]) => (await unwrapSignedIn(client.POST("/api/v1/me/api-keys", { ...auth(), body: creation }))).data;
export async function revokeKey(prefix: string): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/me/api-keys/{prefix}", { ...auth(), params: { path: { prefix } } }));
}

// Wallet and plans.

export const readWallet = async () => (await unwrapSignedIn(client.GET("/api/v1/me/wallet", auth()))).data;
export const listLedger = (cursor: string | null): Promise<Listed<LedgerEntry>> =>
  unwrapSignedIn(client.GET("/api/v1/me/wallet/transactions", { ...auth(), params: pageOf(cursor) }));
export const listProviders = async () => (await unwrap(client.GET("/api/v1/payment-providers"))).data;
export const listOrders = (cursor: string | null): Promise<Listed<Order>> =>
  unwrapSignedIn(client.GET("/api/v1/me/wallet/topups", { ...auth(), params: pageOf(cursor) }));
export async function createOrder(purchase: Purchase, provider: Provider["code"], amount: number): Promise<Order> {
  const body = { provider, amount, currency: "VND" as const };
  return (await unwrapSignedIn(client.POST("/api/v1/me/wallet/topups", { ...purchase.headers(body), body }))).data;
}
export const readOrder = async (orderId: string) =>
  (await unwrapSignedIn(client.GET("/api/v1/me/wallet/topups/{orderId}", { ...auth(), params: { path: { orderId } } }))).data;
export const listPlans = async () => (await unwrap(client.GET("/api/v1/plans"))).data;
export const readSubscription = async () => (await unwrapSignedIn(client.GET("/api/v1/me/subscription", auth()))).data;
export async function subscribe(purchase: Purchase, planCode: string, interval: Interval): Promise<Bought> {
  const body = { planCode, interval };
  return (await unwrapSignedIn(client.POST("/api/v1/me/subscription", { ...purchase.headers(body), body }))).data;
}
export const endRenewal = async () => (await unwrapSignedIn(client.DELETE("/api/v1/me/subscription", auth()))).data;

/** recentMail lists the newest messages of the account, of the mailboxes that were made last. */
export async function recentMail(count: number): Promise<{ mailbox: Mailbox; message: Summary }[]> {
  const { data } = await listMailboxes(null);
  const filled = data.filter((mailbox) => mailbox.messageCount > 0 && mailbox.token).slice(0, count);
  const lists = await Promise.all(
    filled.map(async (mailbox) => {
      const query = { limit: count };
      const messages = await unwrap(client.GET("/api/v1/mailboxes/me/messages", { ...bearer(mailbox.token ?? ""), params: { query } }));
      return messages.data.map((message) => ({ mailbox, message }));
    }),
  );
  return lists.flat().sort((a, b) => b.message.receivedAt.localeCompare(a.message.receivedAt)).slice(0, count);
}

const longestText = 500_000; // characters; a filter is tried on no more

/** textOf returns the text of a message, which stays unseen if it was. */
export async function textOf({ token = "" }: Mailbox, message: Summary): Promise<string> {
  const { text } = await readMessage(token, message.id);
  if (!message.seen) await setSeen(token, message.id, false);
  return text.slice(0, longestText);
}
