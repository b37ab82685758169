// A tab that stays open while the service is upgraded. The files of the new release have other names, and the old ones are gone.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as ask } from "node:http";
import { after, before, test } from "node:test";
import { eventually, launch, url } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/**
 * upgradable serves the page of the service. Once it is upgraded, the files below /assets have another letter in front of
 * their hash, and those without are answered 404; lost makes it lose the new ones as well.
 */
async function upgradable() {
  const state = { upgraded: false, lost: false, missed: 0 };
  const named = /([A-Za-z0-9_]+)-([\w-]{8})\.(js|css)/g;
  const server = createServer((from, to) => {
    const asset = /^\/assets\/(.+)-(N?)([\w-]{8})\.(js|css)$/.exec(from.url);
    if (asset && ((state.upgraded && !asset[2]) || state.lost)) {
      state.missed++;
      return to.writeHead(404).end();
    }
    const path = asset ? `/assets/${asset[1]}-${asset[3]}.${asset[4]}` : from.url;
    const { "accept-encoding": _, ...headers } = from.headers;
    const call = ask(url + path, { method: from.method, headers }, (answer) => {
      const rewritten = state.upgraded && !path.startsWith("/api") && /html|javascript|css/.test(answer.headers["content-type"] ?? "");
      const { "content-length": length, etag, ...rest } = answer.headers;
      if (!rewritten) {
        to.writeHead(answer.statusCode, answer.headers);
        return answer.pipe(to);
      }
      const parts = [];
      answer.on("data", (part) => parts.push(part)).on("end", () => to.writeHead(answer.statusCode, rest).end(Buffer.concat(parts).toString().replace(named, "$1-N$2.$3")));
    });
    call.on("error", () => to.destroy());
    to.on("close", () => call.destroy()); // an event stream would go on
    from.pipe(call);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { state, origin: `http://127.0.0.1:${server.address().port}`, close };
}

for (const serviceWorkers of ["block", "allow"]) {
  test(`a tab that was open during an upgrade goes on, service workers: ${serviceWorkers}`, async (t) => {
    const { state, origin, close } = await upgradable();
    t.after(close);
    const context = await browser.newContext({ locale: "en", serviceWorkers });
    context.setDefaultTimeout(90_000);
    const page = await context.newPage();
    let loads = 0;
    page.on("load", () => loads++);
    await page.goto(origin);
    const address = await (await page.waitForFunction(() => document.querySelector("main h1:has(span)")?.textContent.trim())).jsonValue();
    state.upgraded = true;
    const other = await context.newPage();
    await other.goto(origin);
    await other.waitForSelector("main h1 span");
    assert.equal((await other.textContent("main h1")).trim(), address);
    await page.getByRole("link", { name: "Sign in", exact: true }).filter({ visible: true }).first().click();
    await page.getByLabel("Password", { exact: true }).waitFor();
    assert.equal(loads, 2, "the page was loaded once more");

    // Where the files are gone in the new release too, the page says so and is not loaded for ever.
    state.lost = true;
    await page.goto(`${origin}/staff`);
    await eventually(() => state.missed > 0);
    const before = loads;
    await page.waitForTimeout(3000);
    assert.ok(loads - before <= 1, `the page was loaded ${loads - before} times more`);
    await context.close();
  });
}

test("a part of the page that cannot be loaded is said, with a way to go on", async (t) => {
  const { state, origin, close } = await upgradable();
  t.after(close);
  const context = await browser.newContext({ locale: "en", serviceWorkers: "block" });
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  await page.goto(origin);
  await page.waitForSelector("main h1 span");
  await page.evaluate(() => sessionStorage.setItem("gonebox.reloaded", document.querySelector("meta[name=program]").dataset.file));
  state.lost = true; // and the page has been loaded anew for this release before
  await page.getByRole("link", { name: "Sign in", exact: true }).filter({ visible: true }).first().click();
  await page.getByRole("alert").filter({ hasText: "cannot be reached" }).waitFor();
  state.lost = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByLabel("Password", { exact: true }).waitFor();
  await context.close();
});
