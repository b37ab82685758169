// The page below a path of a host, /mail, at a proxy that passes the path on and at one that strips it. The host has nothing else for it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer, request as ask } from "node:http";
import { after, before, test } from "node:test";
import { launch, visit } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const service = process.env.GONEBOX_PATH_URL;

/** proxy forwards what is below /mail to the service whose base_url has that path. stray collects all other requests. */
async function proxy(strips) {
  const stray = [];
  const server = createServer((from, to) => {
    if (!/^\/mail(\/|\?|$)/.test(from.url)) {
      stray.push(from.url);
      return to.writeHead(404).end();
    }
    const path = strips ? from.url.replace(/^\/mail\/?/, "/") : from.url;
    const call = ask(service + path, { method: from.method, headers: from.headers }, (answer) => {
      to.writeHead(answer.statusCode, answer.headers);
      answer.pipe(to);
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
  return { origin: `http://127.0.0.1:${server.address().port}`, stray, close };
}

const send = (to, code) =>
  execFileSync(process.env.GONEBOX_BINARY, ["send", "--server", process.env.GONEBOX_PATH_SMTP, "--to", to, "--code", code], { env: { PATH: process.env.PATH } });

for (const [strips, name] of [[false, "passes the path on"], [true, "strips the path"]]) {
  test(`the page works below a path of a proxy that ${name}`, async (t) => {
    const { origin, stray, close } = await proxy(strips);
    t.after(close);
    const { context, page, problems } = await visit(browser, { origin, path: "/mail", serviceWorkers: "allow" });
    const main = () => page.waitForFunction(() => document.querySelector("main h1:has(span)")?.textContent.trim()).then((text) => text.jsonValue());
    const address = await main();

    // Mail arrives as it is sent, and everything is still there after a reload.
    send(address, "271828");
    await page.waitForSelector(".code-arrives");
    await page.reload();
    assert.equal(await main(), address);
    await page.waitForSelector(".code-arrives");
    assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((key) => !key.startsWith("gonebox/mail."))), []);
    await page.click("a[id^=row-]");
    await page.waitForURL(/\/mail\/?#\/m\/msg_/);
    const message = page.url();
    await page.goto("about:blank");
    await page.goto(message);
    await page.getByText("271828").filter({ visible: true }).first().waitFor();

    // The snippets and the documentation name the service where it is.
    await page.goto(`${origin}/mail/docs`);
    await page.getByText("/api/v1/mailboxes", { exact: true }).first().waitFor();

    // A deep link, registration, and the pages of the account.
    await page.goto(`${origin}/mail/register`);
    await page.getByLabel("E-mail address").fill(`path-${strips}@example.org`);
    await page.getByLabel("Password", { exact: true }).fill("correct horse battery staple");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.waitForURL(`${origin}/mail/account`);
    await page.getByRole("link", { name: "Developer keys" }).filter({ visible: true }).first().click();
    await page.waitForURL(`${origin}/mail/account/keys`);
    await page.reload();
    await page.getByRole("heading", { name: "Developer keys" }).first().waitFor();
    await page.goBack();
    await page.waitForURL(`${origin}/mail/account`);
    await page.getByRole("button", { name: "Sign out" }).filter({ visible: true }).first().click();
    await page.waitForURL(`${origin}/mail/sign-in`);
    await page.getByLabel("E-mail address").fill(`path-${strips}@example.org`);
    await page.getByLabel("Password", { exact: true }).fill("correct horse battery staple");
    await page.getByRole("button", { name: "Sign in", exact: true }).filter({ visible: true }).first().click();
    await page.waitForURL(`${origin}/mail/account`);
    await page.getByRole("link", { name: "Gonebox" }).first().click();
    await page.waitForURL(`${origin}/mail/`);

    // The service worker has the path for its scope, and keeps the page without a network.
    assert.equal(await page.evaluate(async () => (await navigator.serviceWorker.ready).scope), `${origin}/mail/`);
    await page.reload(); // so that the worker has the page, and what it loads
    await page.waitForSelector(".code-arrives");
    await context.setOffline(true);
    await page.reload();
    assert.equal(await main(), address);
    await context.setOffline(false);

    assert.deepEqual(stray, [], "requests beside the path");
    assert.deepEqual(problems, []);
    await context.close();
  });
}
