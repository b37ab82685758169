// Several tabs of one browser. Over HTTP/1.1 they have six connections to the service together.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { call, deliver, eventually, launch, signIn, signUp, sizes, stored, textMail, url } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** tabsOf opens tabs in one profile, one after the other, and counts the event streams of each. */
async function tabsOf(count, path, account) {
  const context = await browser.newContext({ ...sizes.desktop, locale: "en", serviceWorkers: "block", reducedMotion: "reduce" });
  context.setDefaultTimeout(90_000);
  if (account) await signIn(context, account);
  const tabs = [];
  for (let i = 0; i < count; i++) {
    const page = await context.newPage();
    const tab = { page, streams: new Set() };
    page.on("request", (request) => /\/events(\?|$)/.test(request.url()) && tab.streams.add(request));
    for (const over of ["requestfinished", "requestfailed"]) page.on(over, (request) => tab.streams.delete(request));
    await page.goto(url + path);
    await page.waitForSelector("main h1");
    tabs.push(tab);
  }
  return { context, tabs };
}

const leaders = (tabs) => tabs.filter(({ page, streams }) => !page.isClosed() && streams.size > 0);
const shown = async (tabs, subject) => Promise.all(tabs.map(({ page }) => page.waitForSelector(`a[id^=row-]:has-text("${subject}")`)));

test("eight tabs hear of mail by one stream, which goes to another tab when its own is closed or sleeps", async () => {
  const { context, tabs } = await tabsOf(8, "/");
  for (const { page } of tabs) await page.waitForSelector("main h1 span");
  const [{ address }] = await stored(tabs[0].page);
  await eventually(() => leaders(tabs).length === 1);

  await deliver(address, textMail("To all", "Nothing.\n"));
  await shown(tabs, "To all");
  for (const { page } of [tabs[0], tabs[7]]) {
    await page.click("a[id^=row-]:has-text('To all')"); // a call besides the stream
    await page.waitForSelector("article h2:has-text('To all')");
  }

  const [closed] = leaders(tabs);
  await closed.page.close();
  const rest = tabs.filter((tab) => tab !== closed);
  await deliver(address, textMail("After closing", "Nothing.\n"));
  await shown(rest, "After closing");
  await eventually(() => leaders(rest).length === 1);

  // A tab that the debugger holds hears, says and does nothing, as one that the browser or the device has put to sleep.
  const [asleep] = leaders(rest);
  const cdp = await context.newCDPSession(asleep.page);
  await cdp.send("Debugger.enable");
  const paused = new Promise((resolve) => cdp.once("Debugger.paused", resolve));
  await cdp.send("Debugger.pause");
  await deliver(address, textMail("During sleep", "Nothing.\n"));
  await paused;
  await shown(rest.filter((tab) => tab !== asleep), "During sleep");
  await cdp.send("Debugger.disable");
  await shown([asleep], "During sleep");
  await deliver(address, textMail("Awake", "Nothing.\n"));
  await shown(rest, "Awake");
  await eventually(() => leaders(rest).length === 1);

  // A tab that is told that it will be frozen gives the stream away before.
  const [frozen] = leaders(rest);
  await frozen.page.evaluate(() => document.dispatchEvent(new Event("freeze")));
  await deliver(address, textMail("Frozen", "Nothing.\n"));
  await shown(rest, "Frozen");
  await context.close();
});

test("tabs with mailboxes of their own leave connections for calls", async () => {
  const { context, tabs } = await tabsOf(1, "/");
  await tabs[0].page.waitForSelector("main h1 span");
  for (let i = 2; i <= 7; i++) {
    // Each tab goes on showing its mailbox when another one makes a new one.
    const page = await context.newPage();
    const tab = { page, streams: new Set() };
    page.on("request", (request) => /\/events(\?|$)/.test(request.url()) && tab.streams.add(request));
    for (const over of ["requestfinished", "requestfailed"]) page.on(over, (request) => tab.streams.delete(request));
    await page.goto(url);
    await page.waitForSelector("main h1 span");
    await page.keyboard.press("n");
    await page.locator("dialog form .btn-primary").click();
    await page.waitForSelector("dialog", { state: "detached" });
    tabs.push(tab);
  }
  const addresses = await Promise.all(tabs.map(async ({ page }) => (await page.textContent("h1")).trim()));
  assert.equal(new Set(addresses).size, 7, `the tabs show ${addresses}`);
  await Promise.all(addresses.map((address, i) => deliver(address, textMail(`Letter ${i}`, "Nothing.\n"))));
  await Promise.all(tabs.map(async (tab, i) => shown([tab], `Letter ${i}`)));
  const open = tabs.reduce((sum, { streams }) => sum + streams.size, 0);
  assert.ok(open >= 1 && open <= 3, `${open} streams are open`);
  await context.close();
});

test("eight tabs of an account hear of changes by one stream", async () => {
  const account = await signUp("tabs@pages.example");
  const { address } = await call("POST", "/mailboxes", account.token, {});
  const { context, tabs } = await tabsOf(8, "/account/mailboxes", account);
  await eventually(() => leaders(tabs).length === 1);
  const counts = (n) => Promise.all(tabs.filter(({ page }) => !page.isClosed()).map(({ page }) => page.waitForSelector(`main li:has-text("${n} message")`)));
  await deliver(address, textMail("One", "Nothing.\n"));
  await counts(1);
  await leaders(tabs)[0].page.close();
  await deliver(address, textMail("Two", "Nothing.\n"));
  await counts(2);
  await context.close();
});

test("two tabs that are opened at once lose no address", async () => {
  const context = await browser.newContext({ ...sizes.desktop, locale: "en", serviceWorkers: "block" });
  context.setDefaultTimeout(90_000);
  const pages = [await context.newPage(), await context.newPage(), await context.newPage()];
  // None sees what the others store before it has made a mailbox of its own.
  let release;
  const all = new Promise((resolve) => (release = resolve));
  let asked = 0;
  await context.route("**/api/v1/mailboxes", async (route) => {
    if (++asked === pages.length) release();
    await all;
    await route.continue();
  });
  await Promise.all(pages.map((page) => page.goto(url)));
  const addresses = await Promise.all(pages.map(async (page) => (await page.waitForFunction(() => document.querySelector("main h1:has(span)")?.textContent.trim())).jsonValue()));
  assert.equal(new Set(addresses).size, pages.length);
  await eventually(async () => (await stored(pages[0])).length === pages.length);
  for (const page of pages) {
    await page.reload();
    await page.waitForSelector("main h1 span");
    await eventually(async () => (await page.locator("nav button[title*='@']").count()) === pages.length);
  }
  const kept = (await stored(pages[0])).map((box) => box.address);
  assert.deepEqual(kept.sort(), addresses.sort());

  await context.close();
});

test("a browser without locks has a stream in the tabs that are seen alone", async () => {
  const context = await browser.newContext({ ...sizes.desktop, locale: "en", serviceWorkers: "block" });
  context.setDefaultTimeout(90_000);
  // As on plain http to another machine.
  await context.addInitScript(() => Object.defineProperty(navigator, "locks", { value: undefined }));
  const page = await context.newPage();
  const streams = new Set();
  page.on("request", (request) => /\/events(\?|$)/.test(request.url()) && streams.add(request));
  for (const over of ["requestfinished", "requestfailed"]) page.on(over, (request) => streams.delete(request));
  await page.goto(url);
  await page.waitForSelector("main h1 span");
  await eventually(() => streams.size === 1);
  const hide = (hidden) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "hidden", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await hide(true);
  await eventually(() => streams.size === 0);
  const [{ address }] = await stored(page);
  await deliver(address, textMail("Unseen", "Nothing.\n"));
  await shown([{ page }], "Unseen");
  await hide(false);
  await eventually(() => streams.size === 1);
  await context.close();
});
