// The calls of the inbox, with the sign-in of this device, or under profile dev with the token that the service gives to local pages.
import { fetchTimed } from "../clock.svelte";
import { apiBase, isDev, isInboxPort } from "../place";
import { signedIn } from "../signedIn.svelte";
import { type ApiResponse, bearer, client, download, failure, problemIn, unwrap } from "./client";
import type { components } from "./schema";

export type Mail = components["schemas"]["AccountSummary"] & { tags?: string[]; project?: string | null };
export type Part = components["schemas"]["MessagePart"];
export type Checks = components["schemas"]["MessageChecks"];
export type MailPage = { data: Mail[]; nextCursor: string | null };

/** Chosen selects messages: some by id, those that a search finds, or all. */
export type Chosen = { ids: string[] } | { q: string } | { all: true };

const mostIDs = 1000; // in one call

let local: Promise<string> | null = null;

const isOwn = () => signedIn.token !== "" && !isInboxPort;

/** canOpen reports whether there is an account whose mail can be shown. */
export const canOpen = () => isOwn() || isDev || isInboxPort;

async function localToken(): Promise<string> {
  const response = await fetchTimed(`${apiBase}/api/v1/auth/local`, { method: "POST", headers: { "Content-Type": "application/json" } });
  if (!response.ok) throw await problemIn(response);
  return ((await response.json()) as { data: { token: string } }).data.token;
}

/** openToken returns the credential of the account whose mail is shown. */
export async function openToken(): Promise<string> {
  if (isOwn()) return signedIn.token;
  const asked = (local ??= localToken());
  try {
    return await asked;
  } catch (thrown) {
    if (local === asked) local = null; // the next call asks again
    throw thrown;
  }
}

/** lapse forgets a credential that the service no longer takes, and returns whether there may be another one. */
export function lapse(token: string): boolean {
  if (isOwn()) {
    if (token === signedIn.token) signedIn.leave("lapsed");
    return false;
  }
  local = null;
  return true;
}

const hasLapsed = (thrown: unknown) => ["auth.invalid_token", "auth.required"].includes(failure(thrown).code);

async function call<T>(request: (credential: ReturnType<typeof bearer>) => Promise<ApiResponse<T>>): Promise<T> {
  const token = await openToken();
  try {
    return await unwrap(request(bearer(token)));
  } catch (thrown) {
    if (!hasLapsed(thrown) || !lapse(token)) throw thrown;
    return unwrap(request(bearer(await openToken())));
  }
}

type Query = { q?: string; project?: string; after?: string; cursor?: string; limit?: number };

/** listMails lists the messages of all mailboxes of the account, newest first. */
export const listMails = (query: Query, signal?: AbortSignal): Promise<MailPage> =>
  call((credential) => client.GET("/api/v1/me/messages", { ...credential, params: { query }, signal: signal ?? null }));

export type MailCount = { count: number; unread: number };

/** countMails counts what a search finds, or all, of one project where one is given. */
export const countMails = async (query: { q?: string; project?: string }): Promise<MailCount> =>
  (await call((credential) => client.GET("/api/v1/me/messages/count", { ...credential, params: { query } }))).data;

/** projectNames returns the names of the projects whose mail the account sees. */
export const projectNames = async (): Promise<string[]> =>
  (await call((credential) => client.GET("/api/v1/me/projects", credential))).data.map(({ name }) => name);

/** inParts makes a call for so many ids at a time as one may have, and returns how many messages were selected. */
async function inParts(chosen: Chosen, change: (chosen: Chosen) => Promise<number>): Promise<number> {
  if (!("ids" in chosen)) return change(chosen);
  let count = 0;
  for (let i = 0; i < chosen.ids.length; i += mostIDs) count += await change({ ids: chosen.ids.slice(i, i + mostIDs) });
  return count;
}

export const markMails = (chosen: Chosen, seen: boolean): Promise<number> =>
  inParts(chosen, async (part) => (await call((credential) => client.PATCH("/api/v1/me/messages", { ...credential, body: { ...part, seen } }))).data.count);

/** tagMails replaces the tags of messages. */
export const tagMails = (ids: string[], tags: string[]): Promise<number> =>
  inParts({ ids }, async (part) => (await call((credential) => client.PATCH("/api/v1/me/messages", { ...credential, body: { ...part, tags } }))).data.count);

export const deleteMails = (chosen: Chosen): Promise<number> =>
  inParts(chosen, async (part) => (await call((credential) => client.DELETE("/api/v1/me/messages", { ...credential, body: part }))).data.count);

/** releaseMail sends a message on through the relay of the operator. */
export async function releaseMail(id: string, to: string): Promise<void> {
  await call((credential) => client.POST("/api/v1/messages/{id}/release", { ...credential, params: { path: { id } }, body: { to } }));
}

/** releaseAddress returns the address that the account may always release to: its own, if it is confirmed. */
export async function releaseAddress(): Promise<string> {
  const { data } = await call((credential) => client.GET("/api/v1/me", credential));
  return data.emailConfirmed ? data.email : "";
}

/** checkMail reads how a message will fare in mail clients. */
export const checkMail = async (token: string, id: string): Promise<Checks> =>
  (await unwrap(client.GET("/api/v1/messages/{id}/checks", { ...bearer(token), params: { path: { id } } }))).data;

/** partsOf reads how a message is put together, and partContent the content of one of its parts. */
export const partsOf = async (token: string, id: string): Promise<Part> =>
  (await unwrap(client.GET("/api/v1/messages/{id}/parts", { ...bearer(token), params: { path: { id } } }))).data;

export const partContent = (token: string, id: string, part: string) => download(token, `/api/v1/messages/${encodeURIComponent(id)}/parts/${part}`);
