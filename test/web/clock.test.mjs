// A visitor whose clock is wrong, or is set while the page is open. Only the service knows when a mailbox ends.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { call, deliver, eventually, launch, open, stored, textMail, url } from "./harness.mjs";

const hour = 3600_000;

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** device gives the pages of a context a clock that is ahead by so many milliseconds, or behind; setClock sets it. */
const device = (context, ahead) =>
  context.addInitScript((value) => {
    const Real = Date;
    globalThis.ahead = value;
    globalThis.Date = class extends Real {
      constructor(...parts) {
        if (parts.length > 0) super(...parts);
        else super(Real.now() + globalThis.ahead);
      }
      static now = () => Real.now() + globalThis.ahead;
    };
  }, ahead);
const setClock = (page, ahead) => page.evaluate((value) => (globalThis.ahead = value), ahead);
const addressOf = async (page) => (await page.waitForFunction(() => document.querySelector("main h1:has(span)")?.textContent.trim())).jsonValue();
const isLeft = (page) => page.waitForSelector("text=/(59 min|1 h) left/");

for (const [name, ahead] of [["an hour ahead", hour], ["an hour behind", -hour], ["two days ahead", 48 * hour], ["years behind", -30 * 365 * 24 * hour]]) {
  test(`with a clock ${name} there is an address, its mail, and the right time left`, async () => {
    const context = await browser.newContext({ locale: "en", serviceWorkers: "block" });
    context.setDefaultTimeout(90_000);
    await device(context, ahead);
    const page = await context.newPage();
    await page.goto(url);
    const address = await addressOf(page);
    await isLeft(page);
    await deliver(address, textMail("Code", "Your code is 135790.\n"));
    await page.waitForSelector(".code-arrives");
    await page.waitForSelector("text=/^(just now|\\d+ s ago)$/");
    await page.reload();
    assert.equal(await addressOf(page), address, "a reload makes no other mailbox");
    await isLeft(page);
    assert.equal((await stored(page)).length, 1);
    await context.close();
  });
}

for (const ahead of [2 * hour, -2 * hour]) {
  test(`a mailbox outlives a clock that is set by ${ahead / hour} h while the page is open`, async () => {
    const context = await browser.newContext({ locale: "en", serviceWorkers: "block" });
    context.setDefaultTimeout(90_000);
    await device(context, 0);
    const tab = await context.newPage();
    await tab.goto(url);
    const own = await addressOf(tab);
    const asked = tab.waitForResponse((response) => response.url().endsWith("/mailboxes/me")); // what time it is
    await setClock(tab, ahead);
    await asked;
    await isLeft(tab);
    assert.equal(await tab.getByText("Its mail has been erased").count(), 0);
    await deliver(own, textMail("Later", "Nothing.\n"));
    await tab.waitForSelector("a[id^=row-]:has-text('Later')");
    const [box] = await stored(tab);
    assert.equal(box.ended, null);
    assert.equal((await call("GET", "/mailboxes/me", box.token)).address, own, "its token is kept");
    await tab.reload();
    assert.equal(await addressOf(tab), own);
    await context.close();
  });
}

test("what is no answer of the service ends nothing", async () => {
  const { context, page, address } = await open(browser);
  let proxied = 0;
  await page.route("**/api/v1/mailboxes/me**", (route) => {
    proxied++;
    return route.fulfill({ status: [401, 404, 410][proxied % 3], contentType: "text/html", body: "<h1>Sign in to the hotel's network</h1>" });
  });
  await page.reload();
  await eventually(() => proxied >= 4);
  assert.equal((await page.textContent("main h1")).trim(), address);
  assert.equal((await stored(page))[0].ended, null);
  await page.unrouteAll();
  await page.reload();
  await page.waitForSelector("header :text('Live')");
  assert.equal((await page.textContent("main h1")).trim(), address);
  await context.close();
});
