import { beforeEach, expect, test, vi } from "vitest";
import { ApiError, type Page, type Summary, listMessages } from "./api/client";
import { type LiveState, watch } from "./live";

vi.mock("./api/client", async (original) => ({ ...(await original<typeof import("./api/client")>()), listMessages: vi.fn() }));

const message = (id: string) => ({ id }) as Summary;
const page = (...ids: string[]): Page => ({ data: ids.map(message), nextCursor: null });
const never = new Promise<Page>(() => {});

// answers makes the server give these answers, one a call, and none after them.
function answers(...all: (Page | Error)[]) {
  const list = vi.mocked(listMessages);
  for (const answer of all) {
    if (answer instanceof Error) list.mockRejectedValueOnce(answer);
    else list.mockResolvedValueOnce(answer);
  }
  list.mockReturnValue(never);
}

function follow() {
  const seen: string[] = [];
  const ids = (messages: Summary[]) => messages.map((m) => m.id).join("+");
  const stop = watch("mbx_1", "xm_token", {
    first: (messages) => seen.push(`first ${ids(messages)}`.trim()),
    arrived: (messages) => seen.push(`arrived ${ids(messages)}`),
    seen: (id, is) => seen.push(`${is ? "seen" : "unseen"} ${id}`),
    deleted: (id) => seen.push(`deleted ${id}`),
    extended: (at) => seen.push(`extended ${at}`),
    state: (state: LiveState) => seen.push(state),
    ended: (reason) => seen.push(reason),
  });
  return { seen, stop };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.mocked(listMessages).mockReset();
  const target = new EventTarget();
  vi.stubGlobal("addEventListener", target.addEventListener.bind(target));
  vi.stubGlobal("removeEventListener", target.removeEventListener.bind(target));
  vi.stubGlobal("navigator", { onLine: true });
  vi.stubGlobal("fetch", async () => new Response(null, { status: 404 })); // without event streams
});

test("what arrives is reported, and asked for after the newest", async () => {
  answers(page("2", "1"), page("3"));
  const { seen } = follow();
  await vi.advanceTimersByTimeAsync(0);
  expect(seen).toEqual(["first 2+1", "live", "arrived 3"]);
  expect(vi.mocked(listMessages).mock.calls.map((call) => call[1]?.after)).toEqual([undefined, "2", "3"]);
});

test("a short interruption is not shown", async () => {
  answers(page(), new ApiError(0, "network", ""), page("1"));
  const { seen } = follow();
  await vi.advanceTimersByTimeAsync(1500);
  expect(seen).toEqual(["first", "live", "first 1", "live"]);
});

test("a longer one is, and what is shown stays", async () => {
  const broken = new ApiError(0, "network", "");
  answers(page("1"), broken, broken, broken, broken, page("1"));
  const { seen } = follow();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(seen).toEqual(["first 1", "live", "reconnecting", "offline", "first 1", "live"]);
});

test("a limit's time is waited for", async () => {
  answers(page(), new ApiError(429, "rate.limited", "", 20), page("1"));
  const { seen } = follow();
  await vi.advanceTimersByTimeAsync(19_000);
  expect(seen).not.toContain("first 1");
  await vi.advanceTimersByTimeAsync(2000);
  expect(seen).toContain("first 1");
});

test.each([
  [410, "mailbox.expired", "expired"],
  [401, "auth.invalid_token", "destroyed"],
  [404, "mailbox.not_found", "destroyed"],
])("%d %s ends the watch: %s", async (status, code, reason) => {
  answers(page(), new ApiError(status, code, ""));
  const { seen } = follow();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual(["first", "live", reason]);
});

test.each([401, 404, 410])("a %d that the service did not write ends nothing", async (status) => {
  answers(page("1"), new ApiError(status, "server.internal", ""), page("1"));
  const { seen } = follow();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual(["first 1", "live", "first 1", "live"]);
});

test("a watch that was stopped is silent", async () => {
  answers(page("1"));
  const { seen, stop } = follow();
  stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen.filter((what) => what !== "first 1" && what !== "live")).toEqual([]);
});

test("where there are event streams they are followed", async () => {
  answers(page("1"), page("2", "1"));
  const calls: string[] = [];
  const blocks = [
    ['event: message\ndata: {"id":"2"}\n\nevent: seen\ndata: {"id":"1","seen":true}\n\n', 'event: end\ndata: {"reason":"shutdown"}\n\n'],
    ['event: deleted\ndata: {"id":"1","seen":true}\n\n', 'event: mailbox\ndata: {"expiresAt":"later","ttl":1}\n\nevent: end\ndata: {"reason":"expired"}\n\n'],
  ];
  vi.stubGlobal("fetch", async (path: string) => {
    calls.push(path);
    const parts = blocks.shift() ?? [];
    return new Response(new ReadableStream({ start: (c) => (parts.forEach((part) => c.enqueue(new TextEncoder().encode(part))), c.close()) }));
  });
  const { seen } = follow();
  await vi.advanceTimersByTimeAsync(5000);
  expect(calls).toEqual(["/api/v1/mailboxes/me/events?after=1", "/api/v1/mailboxes/me/events?after=2"]);
  expect(seen).toEqual(["first 1", "live", "arrived 2", "seen 1", "first 2+1", "live", "deleted 1", "extended later", "expired"]);
});
