// The calls of staff, with the token of the sign-in on this device.
import { type Listed, auth, pageOf, unwrapSignedIn } from "./account";
import { type Delivery, type Message, type Summary, client } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Overview = Schemas["Overview"];
export type User = Schemas["StaffUser"];
export type PublicDomain = Schemas["StaffDomain"] & { id: string };
export type Ingress = Schemas["StaffIngress"] & { id: string };
export type StaffNotice = Schemas["StaffNotice"];
export type StaffPage = Schemas["StaffPage"] & { id: string };
export type Payment = Schemas["Payment"];
export type Resolution = Schemas["PaymentResolution"];
export type Block = Schemas["Block"];
export type BlockKind = "ip" | "sender" | "recipient";
export type StaffMailbox = Schemas["StaffMailbox"];
export type AuditEntry = Schemas["AuditEntry"];

const byId = (id: string) => ({ ...auth(), params: { path: { id } } });
const byUser = (user: string) => ({ ...auth(), params: { path: { user } } });

export const readOverview = async (): Promise<Overview> => (await unwrapSignedIn(client.GET("/api/v1/staff/overview", auth()))).data;

// Accounts.

export const listUsers = (search: string, cursor: string | null): Promise<Listed<User>> => {
  const { query } = pageOf(cursor);
  return unwrapSignedIn(client.GET("/api/v1/staff/users", { ...auth(), params: { query: { ...query, ...(search && { search }) } } }));
};

/** addUser creates an account and returns its password, which the server does not show again. */
export const addUser = async (email: string, plan: string) =>
  (await unwrapSignedIn(client.POST("/api/v1/staff/users", { ...auth(), body: { email, plan } }))).data.password ?? "";

export const changeUser = async (user: string, change: Schemas["UserUpdate"]) =>
  (await unwrapSignedIn(client.PATCH("/api/v1/staff/users/{user}", { ...byUser(user), body: change }))).data;

/** resetPassword sets a random password and returns it; the server does not show it again. */
export const resetPassword = async (user: string, endTwoFactor: boolean) =>
  (await unwrapSignedIn(client.POST("/api/v1/staff/users/{user}/password", { ...byUser(user), body: { endTwoFactor } }))).data.password ?? "";

/** adjustPoints adds points to the wallet of an account, or takes them away, and returns its entry in the ledger. */
export const adjustPoints = async (user: string, adjustment: Schemas["PointsAdjustment"]) =>
  (await unwrapSignedIn(client.POST("/api/v1/staff/users/{user}/points", { ...byUser(user), body: adjustment }))).data;

// Public domains.

export async function listPublicDomains(): Promise<Listed<PublicDomain>> {
  const { data } = await unwrapSignedIn(client.GET("/api/v1/staff/domains", auth()));
  return { data: data.map((domain) => ({ ...domain, id: domain.domain })), nextCursor: null };
}
export const addPublicDomain = async (domain: string) => (await unwrapSignedIn(client.POST("/api/v1/staff/domains", { ...auth(), body: { domain } }))).data;
export async function disablePublicDomain(domain: string): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/staff/domains/{domain}", { ...auth(), params: { path: { domain } } }));
}

// Ways that mail comes in beside SMTP.

export async function listIngresses(): Promise<Listed<Ingress>> {
  const { data } = await unwrapSignedIn(client.GET("/api/v1/staff/ingresses", auth()));
  return { data: data.map((ingress) => ({ ...ingress, id: ingress.name })), nextCursor: null };
}

// Notices and pages.

export const listNotices = (cursor: string | null): Promise<Listed<StaffNotice>> =>
  unwrapSignedIn(client.GET("/api/v1/staff/notices", { ...auth(), params: pageOf(cursor) }));
export const publishNotice = async (notice: Schemas["NoticePublication"]) => (await unwrapSignedIn(client.POST("/api/v1/staff/notices", { ...auth(), body: notice }))).data;
export async function withdrawNotice(id: string): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/staff/notices/{id}", byId(id)));
}

export async function listPages(): Promise<Listed<StaffPage>> {
  const { data } = await unwrapSignedIn(client.GET("/api/v1/staff/pages", auth()));
  return { data: data.map((page) => ({ ...page, id: `${page.key} ${page.locale ?? ""}` })), nextCursor: null };
}
export const putPage = async (key: string, page: Schemas["PagePublication"]) =>
  (await unwrapSignedIn(client.PUT("/api/v1/staff/pages/{key}", { ...auth(), params: { path: { key } }, body: page }))).data;
export async function removePage({ key, locale }: StaffPage): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/staff/pages/{key}", { ...auth(), params: { path: { key }, query: locale ? { locale } : {} } }));
}

// Bank transactions.

export const listPayments = (all: boolean, cursor: string | null): Promise<Listed<Payment>> => {
  const { query } = pageOf(cursor);
  return unwrapSignedIn(client.GET("/api/v1/staff/payments", { ...auth(), params: { query: { ...query, all } } }));
};
export const resolvePayment = async (id: string, how: Resolution) => (await unwrapSignedIn(client.POST("/api/v1/staff/payments/{id}/resolution", { ...byId(id), body: how }))).data;

// Blocks.

export const listBlocks = (cursor: string | null): Promise<Listed<Block>> => unwrapSignedIn(client.GET("/api/v1/staff/blocks", { ...auth(), params: pageOf(cursor) }));
export const addBlock = async (block: Schemas["BlockCreation"]) => (await unwrapSignedIn(client.POST("/api/v1/staff/blocks", { ...auth(), body: block }))).data;
export async function removeBlock(id: string): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/staff/blocks/{id}", byId(id)));
}

// Mail to postmaster and abuse.

export const listMail = (cursor: string | null): Promise<Listed<Summary>> => unwrapSignedIn(client.GET("/api/v1/staff/messages", { ...auth(), params: pageOf(cursor) }));
export const readMail = async (id: string): Promise<Message> => (await unwrapSignedIn(client.GET("/api/v1/staff/messages/{id}", byId(id)))).data as Message;
export async function deleteMail(id: string): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/staff/messages/{id}", byId(id)));
}

// Mailboxes and what became of mail.

const at = (address: string) => ({ ...auth(), params: { path: { address } } });

export const findMailbox = async (address: string) => (await unwrapSignedIn(client.GET("/api/v1/staff/mailboxes/{address}", at(address)))).data;
export async function endMailbox(address: string): Promise<void> {
  await unwrapSignedIn(client.DELETE("/api/v1/staff/mailboxes/{address}", at(address)));
}
export const listDeliveriesTo = async (address: string): Promise<Delivery[]> =>
  (await unwrapSignedIn(client.GET("/api/v1/staff/deliveries", { ...auth(), params: { query: { address } } }))).data;

export const listAudit = (cursor: string | null): Promise<Listed<AuditEntry>> => unwrapSignedIn(client.GET("/api/v1/staff/audit", { ...auth(), params: pageOf(cursor) }));
