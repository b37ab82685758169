import { beforeEach, expect, test, vi } from "vitest";

const server = Date.parse("2026-03-14T09:26:53.400Z"); // when the page is opened
const date = (at: number) => new Date(at).toUTCString(); // to the second, as the Date field has it

let performanceAt = 0;
let deviceAt = 0;
let stored: Map<string, string>;

/** opened opens the page on a device whose clock is ahead by so many milliseconds. */
async function opened(ahead: number) {
  vi.resetModules();
  performanceAt = 0;
  deviceAt = server + ahead;
  return (await import("./clock.svelte")).clock;
}

/** pass lets time go by. */
function pass(milliseconds: number) {
  performanceAt += milliseconds;
  deviceAt += milliseconds;
}

beforeEach(() => {
  stored = new Map();
  vi.stubGlobal("performance", { now: () => performanceAt });
  vi.stubGlobal("localStorage", { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, value: string) => stored.set(key, value) });
  vi.spyOn(Date, "now").mockImplementation(() => deviceAt);
});

test.each([0, 3600_000, -3600_000, 40 * 86_400_000])("the server's time is known after one answer, with the device %d ms ahead", async (ahead) => {
  const clock = await opened(ahead);
  pass(200);
  clock.sync(date(server + 100), 0);
  expect(Math.abs(clock.read() - (server + 200))).toBeLessThanOrEqual(700);
  expect(Math.abs(clock.now - clock.read())).toBeLessThanOrEqual(1000);
});

test("each answer makes the time better known", async () => {
  const clock = await opened(5000);
  for (let i = 0; i < 20; i++) {
    const sent = performanceAt;
    pass(20);
    clock.sync(date(server + performanceAt - 10), sent);
    pass(330);
  }
  expect(Math.abs(clock.read() - (server + performanceAt))).toBeLessThanOrEqual(60);
});

test("a clock that is set while the page is open changes nothing", async () => {
  const clock = await opened(0);
  clock.sync(date(server), 0);
  const before = clock.read();
  deviceAt += 7200_000;
  pass(1000);
  expect(clock.read() - before).toBe(1000);
});

test("after the device has slept the next answer counts", async () => {
  const clock = await opened(0);
  clock.sync(date(server), 0);
  const slept = 3600_000; // which performance.now() does not know of
  pass(50);
  clock.sync(date(server + 50 + slept), 0);
  expect(Math.abs(clock.read() - (server + 50 + slept))).toBeLessThanOrEqual(1000);
});

test("a page that is opened without network begins with what was known last", async () => {
  (await opened(3600_000)).sync(date(server), 0);
  const clock = await opened(3600_000);
  expect(Math.abs(clock.read() - server)).toBeLessThanOrEqual(1000);
});

test.each([3600_000, -3600_000])("what the server's time was when the page was opened is never put too late, %d ms ahead", async (ahead) => {
  const clock = await opened(ahead);
  pass(700);
  clock.sync(date(server + 650), 600);
  expect(server - clock.at(0)).toBeGreaterThanOrEqual(0);
  expect(server - clock.at(0)).toBeLessThanOrEqual(1100);
});

test.each([null, "", "soon"])("an answer with the date %j tells nothing", async (value) => {
  const clock = await opened(0);
  clock.sync(value, 0);
  expect(clock.read()).toBe(server);
});
