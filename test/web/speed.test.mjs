// The first address: how it comes to be on screen, and a report of the time that takes with the processor slowed down. The
// time depends on the machine, so it decides nothing.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, url } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** watched opens a page in which the moment is noted at which the address is painted; hold keeps the program's files back. */
async function watched(slowdown, hold) {
  const context = await browser.newContext({ locale: "en", serviceWorkers: "block" });
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  await cdp.send("Network.enable");
  const received = new Map();
  cdp.on("Network.responseReceived", ({ requestId, response }) => received.set(requestId, { url: response.url, octets: 0 }));
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (received.has(requestId)) received.get(requestId).octets = encodedDataLength;
  });
  if (hold) await page.route("**/assets/*.js", hold);
  await page.addInitScript(() => {
    const look = () => {
      if (globalThis.addressAt || !document.querySelector("h1")?.textContent.includes("@")) return;
      globalThis.addressAt = -1;
      requestAnimationFrame(() => setTimeout(() => (globalThis.addressAt = performance.now())));
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
  });
  const addressAt = async () => {
    await page.waitForFunction(() => globalThis.addressAt > 0);
    return page.evaluate(() => Math.round(globalThis.addressAt));
  };
  return { context, page, received, addressAt };
}

test("the first address needs one request and none of the program", async () => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const { context, page, received, addressAt } = await watched(1, (route) => held.then(() => route.continue()));
  await page.goto(url, { waitUntil: "commit" });
  await addressAt();
  const calls = [...received.values()].map((file) => file.url.slice(url.length)).filter((path) => path.startsWith("/api/"));
  assert.deepEqual(calls, ["/api/v1/mailboxes"]);
  const skeleton = await page.locator(".skeleton h1").boundingBox();
  const address = (await page.textContent("h1")).trim();
  release();
  await page.waitForSelector("main h1 span");
  assert.equal((await page.textContent("h1")).trim(), address, "the program takes the mailbox over");
  const { x, y, height } = await page.locator("h1").boundingBox();
  assert.deepEqual({ x, y, height }, { x: skeleton.x, y: skeleton.y, height: skeleton.height }, "the address stays where it was");
  const saved = await page.evaluate(() => JSON.parse(localStorage.getItem("gonebox.boxes")));
  assert.deepEqual(saved.boxes.map((box) => box.address), [address], "it is the mailbox that is kept");
  await context.close();
});

test("what the document loads before the first address is little", async () => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const { context, page, received } = await watched(1, (route) => route.continue());
  // The answer of the service is held back for longer than the program waits for it, so the mailbox's call is the last.
  await page.route("**/api/v1/mailboxes", (route) => held.then(() => route.continue()));
  const asked = page.waitForRequest("**/api/v1/mailboxes");
  await page.goto(url, { waitUntil: "commit" });
  await asked;
  const files = [...received.values()].map((file) => file.url.slice(url.length)).filter((path) => !path.startsWith("/api/"));
  assert.deepEqual(files.filter((path) => /^\/assets\/.*\.js$/.test(path)), [], `no file of the program is among ${files}`);
  release();
  await page.waitForSelector("main h1 span");
  await context.close();
});

test("the first address stays on screen while the program starts", async () => {
  const { context, page } = await watched(4);
  await page.addInitScript(() => {
    globalThis.headings = [];
    const look = () => {
      const text = document.querySelector("h1")?.textContent.trim() ?? "";
      if (text !== globalThis.headings.at(-1)) globalThis.headings.push(text);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto(url);
  await page.waitForSelector("header :text('Live')");
  const headings = await page.evaluate(() => globalThis.headings);
  const first = headings.findIndex((text) => text.includes("@"));
  assert.deepEqual(headings.slice(first), [headings[first]], `the headings were ${headings.join(" | ")}`);
  await context.close();
});

test("a stored address needs no request", async () => {
  let release;
  let held = Promise.resolve();
  const { context, page, addressAt } = await watched(1, (route) => held.then(() => route.continue()));
  await page.goto(url);
  await page.waitForSelector("main h1 span");
  const address = (await page.textContent("h1")).trim();
  held = new Promise((resolve) => (release = resolve));
  await page.reload({ waitUntil: "commit" });
  await addressAt();
  assert.equal((await page.textContent("h1")).trim(), address);
  const calls = () => performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => name.includes("/api/"));
  assert.deepEqual(await page.evaluate(calls), []);
  release();
  await context.close();
});

test("the first visit stays within 150 KiB, the first paint within 60", async (t) => {
  const { context, page, received, addressAt } = await watched(4);
  await page.goto(url);
  await page.waitForSelector("header :text('Live')");
  const first = await addressAt();
  const files = [...received.values()].filter((file) => !file.url.includes("/api/"));
  const all = files.reduce((sum, file) => sum + file.octets, 0);
  const before = files.filter((file) => !/\/assets\/(?!main-).*\.js$/.test(file.url)).reduce((sum, file) => sum + file.octets, 0);
  assert.ok(all > 0 && all <= 150 * 1024, `${all} octets`);
  assert.ok(before <= 60 * 1024, `${before} octets before the first paint`);
  await page.reload({ waitUntil: "commit" });
  const again = await addressAt();
  t.diagnostic(`at a quarter of the speed: address on screen after ${first} ms, a stored one after ${again} ms; ${all} octets, ${before} of them before the program`);
  await context.close();
});
