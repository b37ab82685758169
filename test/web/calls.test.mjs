// How often each page calls the service while nobody does anything: a page whose calls cause calls uses up an account's limits.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { call, deliver, launch, signIn, signUp, sizes, textMail, url } from "./harness.mjs";

const watched = 5000; // milliseconds
const most = 16; // calls within as long, those that draw the page included: a busy machine takes longer to draw one

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** callsOf opens a page, does something on it, and returns the calls to the API, and when they began, until the time is over. */
async function callsOf(path, account, act = async () => {}) {
  const context = await browser.newContext({ ...sizes.desktop, locale: "en", serviceWorkers: "block" });
  context.setDefaultTimeout(90_000);
  if (account) await signIn(context, account);
  const page = await context.newPage();
  const calls = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/")) calls.push({ at: performance.now(), call: `${request.method()} ${pathname}` });
  });
  await page.goto(url + path);
  await page.waitForSelector("main h1");
  await act(page);
  await page.waitForTimeout(watched);
  await context.close();
  return calls;
}

/** crowded returns the calls of the most crowded time of a length. */
const crowded = (calls) => calls.map(({ at }) => calls.filter((other) => other.at >= at && other.at < at + watched)).reduce((a, b) => (b.length > a.length ? b : a), []);

/** quiet fails for each page that calls more often. Some are watched at a time. */
async function quiet(pages) {
  const left = [...pages];
  const loud = [];
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [path, account, act] = next;
      const calls = await callsOf(path, account, act);
      const burst = crowded(calls).map(({ call }) => call);
      if (burst.length > most) loud.push(`${path} made ${burst.length} calls within ${watched} ms, want ${most} at most, such as ${burst.slice(-3).join(", ")}`);
      if (account && !calls.length) loud.push(`${path} made no call`);
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  assert.deepEqual(loud, []);
}

test("no page of a visitor calls again and again", async () => {
  const { address, token } = await call("POST", "/mailboxes", "", {});
  await deliver(address, textMail("Hello", "See https://shop.example/verify?token=1\n"));
  assert.equal((await call("GET", "/mailboxes/me/messages", token)).length, 1);
  await quiet([
    ["/"],
    ["/sign-in"],
    ["/register"],
    ["/pages/nothing"],
    ["/", undefined, (page) => page.getByRole("button", { name: "New", exact: true }).first().click()],
    ["/", undefined, (page) => page.getByRole("button", { name: "Use it in code" }).click()],
    [
      "/",
      undefined,
      async (page) => {
        const own = await page.waitForFunction(() => document.querySelector("main h1:has(span)")?.textContent.trim());
        await deliver(await own.jsonValue(), textMail("Hello", "See https://shop.example/verify?token=1\n"));
        await page.click("a[id^=row-]");
      },
    ],
  ]);
});

test("no page of an account calls again and again", async () => {
  const account = await signUp("calls@pages.example");
  const box = await call("POST", "/mailboxes", account.token, {});
  await deliver(box.address, textMail("Your code", "Your verification code is 483920.\n"));
  await call("POST", "/me/domains", account.token, { domain: "calls.gonebox-flows.net" });
  await call("POST", "/me/filters", account.token, { name: "PINs", extractRegex: "PIN: (\\S+)" });
  await call("POST", "/me/webhooks", account.token, { url: "https://127.0.0.1:8443/calls", events: ["message.received"] });
  const order = await call("POST", "/me/wallet/topups", account.token, { provider: "bankpay", amount: 100_000, currency: "VND" });
  const sections = ["", "/mailboxes", "/domains", "/filters", "/webhooks", "/keys", "/wallet", "/plans", `/wallet/${order.id}`, "/wallet/ord_nothing"];
  const opened = (name) => async (page) => page.getByRole("button", { name }).first().click();
  await quiet([
    ...sections.map((section) => [`/account${section}`, account]),
    ["/account/webhooks", account, opened(/Deliveries/)],
    ["/account/filters", account, opened("New filter")],
  ]);
});

test("no page of the staff calls again and again", async () => {
  const staff = await signUp("calls@staff.example", "staff");
  const pages = ["", "/users", "/domains", "/notices", "/pages", "/payments", "/messages", "/blocks", "/mailboxes", "/audit"];
  await quiet(pages.map((page) => [`/staff${page}`, staff]));
});
