// The page's only way to the server: the public API, typed by its OpenAPI document.
import createClient from "openapi-fetch";
import { fetchTimed } from "../clock.svelte";
import { earlyResponse } from "../first";
import { apiBase } from "../place";
import type { components, paths } from "./schema";

export type Mailbox = components["schemas"]["Mailbox"];
export type Summary = components["schemas"]["MessageSummary"];
export type Message = components["schemas"]["Message"];
export type Attachment = components["schemas"]["Attachment"];
export type Authentication = components["schemas"]["MessageAuthentication"];
export type Domain = components["schemas"]["PublicDomain"];
export type Delivery = components["schemas"]["MailDelivery"];
export type Notice = components["schemas"]["Notice"];
export type PageTitle = components["schemas"]["PageTitle"];
export type ContentPage = components["schemas"]["Page"];
export type Access = components["schemas"]["Access"];
type Problem = components["schemas"]["Problem"];

/** ApiError is an answer that is a problem, by its code; status 0 and code "network" where no answer came. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly retryAfter = 0, // seconds
    readonly fields: { pointer: string; message: string }[] = [], // what is wrong with which field
  ) {
    super(`${status} ${code}`);
  }
}

/** failure turns whatever was thrown into an ApiError. */
export const failure = (thrown: unknown): ApiError =>
  thrown instanceof ApiError ? thrown : new ApiError(0, "network", String(thrown));

/** endingOf tells how a mailbox has ended where the service says so, and null for every other answer, such as that of a proxy. */
export function endingOf({ code }: ApiError): "expired" | "destroyed" | null {
  if (code === "mailbox.expired") return "expired";
  return code === "auth.invalid_token" || code === "mailbox.not_found" ? "destroyed" : null;
}

export const client = createClient<paths>({ baseUrl: (globalThis.location?.origin ?? "") + apiBase, fetch: fetchTimed });

export type ApiResponse<T> = { data?: T; error?: unknown; response: Response };

function problemOf(error: unknown, response: Response): ApiError {
  const problem = (typeof error === "object" ? error : null) as Partial<Problem> | null;
  const retryAfter = Number(response.headers.get("Retry-After")) || 0;
  return new ApiError(response.status, problem?.code ?? "server.internal", problem?.detail ?? problem?.title ?? "", retryAfter, problem?.errors ?? []);
}

/** unwrap returns the body of a successful response, and throws an ApiError for any other. */
export async function unwrap<T>(call: Promise<ApiResponse<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) throw problemOf(error, response);
  return data as T;
}

/** bearer returns the request options that present a credential. */
export const bearer = (credential: string) => ({ headers: { Authorization: `Bearer ${credential}` } });

/** readAccess tells what the service is open to, which a form asks before it is shown. */
export const readAccess = async (): Promise<Access> => (await unwrap(client.GET("/api/v1/access"))).data;

export const startSession = async () => (await unwrap(client.POST("/api/v1/session", {}))).data;

export const readSession = async (key: string) => (await unwrap(client.GET("/api/v1/session", bearer(key)))).data;

export const listDomains = async (): Promise<Domain[]> => (await unwrap(client.GET("/api/v1/domains"))).data;

/** firstMailbox makes the mailbox that a visit begins with. It needs no session: the first address takes a single call. */
export const firstMailbox = async (key: string): Promise<Mailbox> =>
  (await unwrap(earlyResponse(() => client.POST("/api/v1/mailboxes", { ...(key && bearer(key)), body: {} })))).data;

/** createMailbox makes a mailbox that joins the guest session. */
export async function createMailbox(key: string, options: { localPart?: string; domain?: string } = {}): Promise<Mailbox> {
  return (await unwrap(client.POST("/api/v1/mailboxes", { ...bearer(key), body: options }))).data;
}

export const readMailbox = async (token: string): Promise<Mailbox> => (await unwrap(client.GET("/api/v1/mailboxes/me", bearer(token)))).data;

/** extendMailbox sets the expiry anew by the plan's default; the answer has a new token. */
export async function extendMailbox(token: string): Promise<Mailbox> {
  return (await unwrap(client.POST("/api/v1/mailboxes/me/extend", { ...bearer(token), body: {} }))).data;
}

export async function destroyMailbox(token: string): Promise<void> {
  await unwrap(client.DELETE("/api/v1/mailboxes/me", bearer(token)));
}

export type Page = { data: Summary[]; nextCursor: string | null; diagnosis?: { causes: { code: string }[] } };

type Query = { wait?: number; after?: string; cursor?: string; limit?: number } & Match;

/** Match says which messages are listed; from and subject are parts of what is looked for. */
export type Match = { from?: string; subject?: string; has?: ("code" | "link" | "attachment")[]; unseen?: boolean };

/** findMessages lists the newest messages whose sender or subject contains what is searched, of those that match. */
export async function findMessages(token: string, search: string, match: Match): Promise<Summary[]> {
  const queries = search ? [{ ...match, from: search }, { ...match, subject: search }] : [match];
  const pages = await Promise.all(queries.map((query) => listMessages(token, query)));
  const found = new Map(pages.flatMap((page) => page.data.map((message) => [message.id, message])));
  return [...found.values()].sort((a, b) => b.receivedAt.localeCompare(a.receivedAt));
}

/** listMessages lists the newest messages; with wait (seconds) it answers as soon as there is one. */
export async function listMessages(
  token: string,
  query: Query = {},
  signal?: AbortSignal,
): Promise<Page> {
  return unwrap(client.GET("/api/v1/mailboxes/me/messages", { ...bearer(token), params: { query }, signal: signal ?? null }));
}

/** readMessage reads a message in full, which marks it as seen. */
export async function readMessage(token: string, id: string): Promise<Message> {
  const { data } = await unwrap(client.GET("/api/v1/messages/{id}", { ...bearer(token), params: { path: { id } } }));
  return data as Message; // the document allows null, which the server never sends
}

/** setSeen marks a message as seen or unseen. */
export async function setSeen(token: string, id: string, seen: boolean): Promise<void> {
  await unwrap(client.PATCH("/api/v1/messages/{id}", { ...bearer(token), params: { path: { id } }, body: { seen } }));
}

export async function deleteMessage(token: string, id: string): Promise<void> {
  await unwrap(client.DELETE("/api/v1/messages/{id}", { ...bearer(token), params: { path: { id } } }));
}

/** problemIn reads the problem in the body of a response that has not been read yet. */
export const problemIn = async (response: Response) => problemOf(await response.json().catch(() => null), response);

/** download answers with the octets at a path of the API. */
export async function download(token: string, path: string): Promise<Response> {
  const response = await fetchTimed(apiBase + path, bearer(token));
  if (response.ok) return response;
  throw await problemIn(response);
}

/** rawMessage answers with the raw message, octet for octet. */
export const rawMessage = (token: string, id: string) => download(token, `/api/v1/messages/${encodeURIComponent(id)}/raw`);

export const attachment = (token: string, id: string, att: string) =>
  download(token, `/api/v1/messages/${encodeURIComponent(id)}/attachments/${encodeURIComponent(att)}`);

/** listDeliveries reads the delivery log of an address, newest first: what reached it, and what was refused. */
export const listDeliveries = async (token: string): Promise<Delivery[]> =>
  (await unwrap(client.GET("/api/v1/mailboxes/me/deliveries", bearer(token)))).data;

export const listNotices = async (locale: string): Promise<Notice[]> =>
  (await unwrap(client.GET("/api/v1/content/notices", { params: { query: { locale } } }))).data;

export const listPages = async (locale: string): Promise<PageTitle[]> =>
  (await unwrap(client.GET("/api/v1/content/pages", { params: { query: { locale } } }))).data;

export const readPage = async (key: string, locale: string): Promise<ContentPage> =>
  (await unwrap(client.GET("/api/v1/content/pages/{key}", { params: { path: { key }, query: { locale } } }))).data;
