// The calls of an account, with the token of the sign-in on this device.
import { boxes } from "../boxes.svelte";
import { signedIn } from "../signedIn.svelte";
import { type Answer, type Mailbox, type Summary, answered, as, client, failure, readMessage, setSeen } from "./client";
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

/** Listed is a page of a list, newest first, and the cursor of the next. */
export type Listed<T> = { data: T[]; nextCursor: string | null };

/** auth presents the token of the sign-in on this device. */
export const auth = () => as(signedIn.token);
const limit = 50;

/** mine is answered for a call of the account: a token that is no longer good ends the sign-in on this device. */
export async function mine<T>(call: Promise<Answer<T>>): Promise<T> {
  const token = signedIn.token;
  try {
    return await answered(call);
  } catch (thrown) {
    const { code } = failure(thrown);
    if ((code === "auth.invalid_token" || code === "auth.required") && token === signedIn.token) signedIn.leave(true);
    throw thrown;
  }
}

/** pageOf is the query of a page of a list. */
export const pageOf = (cursor: string | null) => ({ query: { limit, ...(cursor && { cursor }) } });

/** once names an order so that a repeated call does not order twice. */
const once = () => ({ "Idempotency-Key": [...crypto.getRandomValues(new Uint8Array(16))].map((octet) => octet.toString(16).padStart(2, "0")).join("") });

// Signing in.

export async function register(wish: Schemas["Registration"]): Promise<void> {
  const { token, account } = (await answered(client.POST("/api/v1/auth/register", { body: wish }))).data;
  signedIn.keep(token, account.email, account.role);
}

export async function signIn(credentials: Schemas["Credentials"]): Promise<void> {
  const { token, account } = (await answered(client.POST("/api/v1/auth/token", { body: credentials }))).data;
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
  const { data } = await mine(client.GET("/api/v1/me", auth()));
  if (data.role !== signedIn.role) signedIn.keep(signedIn.token, signedIn.email, data.role); // staff may have changed it
  return data;
}
export const updateAccount = async (locale: string) => (await mine(client.PATCH("/api/v1/me", { ...auth(), body: { locale } }))).data;
export const readTwoFactor = async () => (await mine(client.GET("/api/v1/me/2fa", auth()))).data;
export const setUpTwoFactor = async () => (await mine(client.POST("/api/v1/me/2fa/setup", auth()))).data;

/** confirmTwoFactor turns the second factor on and returns the recovery codes. */
export const confirmTwoFactor = async (code: string) =>
  (await mine(client.POST("/api/v1/me/2fa/confirm", { ...auth(), body: { code } }))).data.recoveryCodes;

export async function endTwoFactor(code: string): Promise<void> {
  await mine(client.DELETE("/api/v1/me/2fa", { ...auth(), body: { code } }));
}

// Mailboxes.

export const listMailboxes = (cursor: string | null): Promise<Listed<Mailbox>> =>
  mine(client.GET("/api/v1/me/mailboxes", { ...auth(), params: pageOf(cursor) }));

export const createMailbox = async (wish: Schemas["MailboxCreation"]): Promise<Mailbox> =>
  (await mine(client.POST("/api/v1/mailboxes", { ...auth(), body: wish }))).data;

/** openMailbox shows a mailbox on the visitor's page. */
export const openMailbox = (mailbox: Mailbox) => boxes.adopt(mailbox);

// Domains.

export const listDomains = (cursor: string | null): Promise<Listed<PrivateDomain>> =>
  mine(client.GET("/api/v1/me/domains", { ...auth(), params: pageOf(cursor) }));
export const createDomain = async (domain: string) => (await mine(client.POST("/api/v1/me/domains", { ...auth(), body: { domain } }))).data;
export const verifyDomain = async (id: string) => (await mine(client.POST("/api/v1/me/domains/{id}/verify", { ...auth(), params: { path: { id } } }))).data;
export async function deleteDomain(id: string): Promise<void> {
  await mine(client.DELETE("/api/v1/me/domains/{id}", { ...auth(), params: { path: { id } } }));
}

// Filters.

export const listFilters = (cursor: string | null): Promise<Listed<Filter>> =>
  mine(client.GET("/api/v1/me/filters", { ...auth(), params: pageOf(cursor) }));
export const createFilter = async (wish: FilterCreation) => (await mine(client.POST("/api/v1/me/filters", { ...auth(), body: wish }))).data;
export const updateFilter = async (id: string, change: Schemas["FilterUpdate"]) =>
  (await mine(client.PATCH("/api/v1/me/filters/{id}", { ...auth(), params: { path: { id } }, body: change }))).data;
export async function deleteFilter(id: string): Promise<void> {
  await mine(client.DELETE("/api/v1/me/filters/{id}", { ...auth(), params: { path: { id } } }));
}
export const tryFilter = async (filter: Schemas["TestedFilter"], sample: FilterSample) =>
  (await mine(client.POST("/api/v1/me/filters/test", { ...auth(), body: { filter, sample } }))).data;

// Webhooks.

export const listWebhooks = (cursor: string | null): Promise<Listed<Webhook>> =>
  mine(client.GET("/api/v1/me/webhooks", { ...auth(), params: pageOf(cursor) }));
export const createWebhook = async (wish: Schemas["WebhookCreation"]) => (await mine(client.POST("/api/v1/me/webhooks", { ...auth(), body: wish }))).data;

const webhook = (id: string) => ({ ...auth(), params: { path: { id } } });

export const updateWebhook = async (id: string, change: Schemas["WebhookUpdate"]) =>
  (await mine(client.PATCH("/api/v1/me/webhooks/{id}", { ...webhook(id), body: change }))).data;
export async function deleteWebhook(id: string): Promise<void> {
  await mine(client.DELETE("/api/v1/me/webhooks/{id}", webhook(id)));
}
export const rotateSecret = async (id: string) => (await mine(client.POST("/api/v1/me/webhooks/{id}/rotate-secret", webhook(id)))).data;
export const pingWebhook = async (id: string) => (await mine(client.POST("/api/v1/me/webhooks/{id}/test", webhook(id)))).data;
export const listAttempts = async (id: string) => (await mine(client.GET("/api/v1/me/webhooks/{id}/deliveries", webhook(id)))).data;
export const redeliver = async (id: string, deliveryId: string) =>
  (await mine(client.POST("/api/v1/me/webhooks/{id}/deliveries/{deliveryId}/redeliver", { ...auth(), params: { path: { id, deliveryId } } }))).data;

// Developer keys.

export const listKeys = (cursor: string | null): Promise<Listed<Key>> =>
  mine(client.GET("/api/v1/me/api-keys", { ...auth(), params: pageOf(cursor) }));
export const createKey = async (wish: Schemas["KeyCreation"]) => (await mine(client.POST("/api/v1/me/api-keys", { ...auth(), body: wish }))).data;
export async function revokeKey(prefix: string): Promise<void> {
  await mine(client.DELETE("/api/v1/me/api-keys/{prefix}", { ...auth(), params: { path: { prefix } } }));
}

// Wallet and plans.

export const readWallet = async () => (await mine(client.GET("/api/v1/me/wallet", auth()))).data;
export const listLedger = (cursor: string | null): Promise<Listed<LedgerEntry>> =>
  mine(client.GET("/api/v1/me/wallet/transactions", { ...auth(), params: pageOf(cursor) }));
export const listProviders = async () => (await answered(client.GET("/api/v1/payment-providers"))).data;
export const createOrder = async (provider: Provider["code"], amount: number) =>
  (await mine(client.POST("/api/v1/me/wallet/topups", { headers: { ...auth().headers, ...once() }, body: { provider, amount, currency: "VND" } }))).data;
export const readOrder = async (orderId: string) =>
  (await mine(client.GET("/api/v1/me/wallet/topups/{orderId}", { ...auth(), params: { path: { orderId } } }))).data;
export const listPlans = async () => (await answered(client.GET("/api/v1/plans"))).data;
export const readSubscription = async () => (await mine(client.GET("/api/v1/me/subscription", auth()))).data;
export const subscribe = async (planCode: string, interval: Interval) =>
  (await mine(client.POST("/api/v1/me/subscription", { headers: { ...auth().headers, ...once() }, body: { planCode, interval } }))).data;
export const endRenewal = async () => (await mine(client.DELETE("/api/v1/me/subscription", auth()))).data;

/** recentMail lists the newest messages of the account, of the mailboxes that were made last. */
export async function recentMail(count: number): Promise<{ mailbox: Mailbox; message: Summary }[]> {
  const { data } = await listMailboxes(null);
  const filled = data.filter((mailbox) => mailbox.messageCount > 0 && mailbox.token).slice(0, count);
  const lists = await Promise.all(
    filled.map(async (mailbox) => {
      const query = { limit: count };
      const messages = await answered(client.GET("/api/v1/mailboxes/me/messages", { ...as(mailbox.token ?? ""), params: { query } }));
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
