// A page of another origin, and one under a name that has come to lead to this machine, read, send and delete nothing at either port of
// a service under profile dev. Both are what any web page can try on the machine of a developer.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { createRequire } from "node:module";
import { deliver, textMail } from "./harness.mjs";

const { chromium } = createRequire(new URL("../../web/package.json", import.meta.url))("playwright-core");
const inbox = process.env.GONEBOX_INBOX_URL;
const dev = process.env.GONEBOX_DEV_URL;
const evil = "evil.example";

let browser;
let server;
before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", `--host-resolver-rules=MAP ${evil} 127.0.0.1`, "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests"],
  });
  server = createServer((_, response) => response.setHeader("Content-Type", "text/html").end("<!doctype html><title>evil</title>")).listen(0, "127.0.0.1");
  await once(server, "listening");
});
after(async () => {
  await browser.close();
  server.close();
});

/** stored is what the service has: the mail of the sink with its state, which no foreign page may read or change. */
async function stored() {
  const list = await (await fetch(`${inbox}/api/v1/messages?limit=100`)).json();
  return list.messages.map(({ ID, Read, Subject }) => `${ID} ${Read} ${Subject}`);
}

/** attempts are the requests that a page can make without asking, and those for which the browser asks the service before. */
const attempts = (message) =>
  [inbox, dev].flatMap((origin) => {
    const api = origin === inbox ? `${origin}/gonebox/api/v1` : `${origin}/api/v1`;
    const send = JSON.stringify({ From: { Email: "a@evil.example" }, To: [{ Email: "ada@company.test" }], Subject: "sent by evil", Text: "x" });
    const json = { "Content-Type": "application/json" };
    return [
      [`${origin}/`, {}],
      [`${api}/auth/local`, { method: "POST" }],
      [`${api}/auth/local`, { method: "POST", headers: json, body: "{}" }],
      [`${api}/me/messages`, {}],
      [`${api}/me/messages`, { method: "DELETE", headers: json, body: '{"all":true}' }],
      [`${api}/messages/${message}`, {}],
      [`${api}/messages/${message}/parts`, {}],
      [`${origin}/api/v1/messages`, {}],
      [`${origin}/api/v1/messages`, { method: "DELETE" }],
      [`${origin}/api/v1/messages`, { method: "PUT", headers: json, body: '{"Read":true}' }],
      [`${origin}/api/v1/message/latest`, {}],
      [`${origin}/api/v1/send`, { method: "POST", headers: json, body: send }],
      [`${origin}/api/v1/send`, { method: "POST", headers: { "Content-Type": "text/plain" }, body: send }],
      [`${origin}/api/v1/search?query=evil`, { method: "DELETE" }],
      [`${origin}/api/v2/messages`, {}],
      [`${origin}/view/latest.html`, {}],
      [`${origin}/view/latest.txt`, {}],
    ];
  });

/** tryAll makes each attempt, also as no-cors, and returns those whose answer the page could read as a success. */
const tryAll = (page, list) =>
  page.evaluate(async (all) => {
    const read = [];
    for (const [address, options] of all) {
      for (const mode of ["cors", "no-cors"]) {
        for (const credentials of ["omit", "include"]) {
          const answer = await fetch(address, { ...options, mode, credentials }).catch(() => null);
          const text = answer && answer.type !== "opaque" ? await answer.text() : "";
          if (answer?.ok && text) read.push(`${options.method ?? "GET"} ${address} (${mode}): ${text.slice(0, 80)}`);
        }
      }
    }
    return read;
  }, list);

/** submit sends a form without asking, as any page can. */
const submit = (page, address, name, value) =>
  page.evaluate(
    ([action, field, text]) =>
      new Promise((resolve) => {
        const frame = Object.assign(document.createElement("iframe"), { name: "target", onload: resolve });
        document.body.append(frame);
        const form = Object.assign(document.createElement("form"), { action, method: "post", enctype: "text/plain", target: "target" });
        form.append(Object.assign(document.createElement("textarea"), { name: field, value: text }));
        document.body.append(form);
        form.submit();
      }),
    [address, name, value],
  );

test("a page of another origin reads, sends and deletes nothing", async () => {
  await deliver("ada@company.test", textMail("secret of ada", "Your code is 482913."), "<app@company.test>", process.env.GONEBOX_DEV_SMTP);
  const had = await stored();
  const message = (await (await fetch(`${inbox}/api/v1/messages?limit=1`)).json()).messages[0].ID;
  const page = await (await browser.newContext()).newPage();
  const origin = `http://${evil}:${server.address().port}`; // pages of this machine may call the Mailpit API, as test tools do
  await page.goto(origin);
  const readable = await tryAll(page, attempts(message));
  assert.deepEqual(readable, [], `read from ${origin}`);
  for (const [address, name, value] of [
    [`${inbox}/api/v1/send`, '{"From":{"Email":"a@evil.example"},"To":[{"Email":"ada@company.test"}],"Subject":"sent by evil","x":"', '"}'],
    [`${inbox}/gonebox/api/v1/auth/local`, "{", "}"],
    [`${dev}/api/v1/auth/local`, "{", "}"],
  ]) {
    await submit(page, address, name, value);
  }
  const connected = await page.evaluate(
    (address) =>
      new Promise((resolve) => {
        const socket = new WebSocket(address);
        socket.onopen = () => resolve("open");
        socket.onerror = () => resolve("refused");
      }),
    `${inbox.replace("http", "ws")}/api/events`,
  );
  assert.equal(connected, "refused", `a WebSocket of ${origin}`);
  // A frame of the inbox shows nothing, and what is in it cannot be read.
  const inside = await page.evaluate(
    (address) =>
      new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.onload = () => setTimeout(() => resolve(frame.contentDocument?.body.textContent ?? ""), 500);
        frame.src = address;
        document.body.append(frame);
      }),
    inbox,
  );
  assert.equal(inside, "", `a frame in ${origin}`);
  assert.deepEqual(await stored(), had, `stored after the attempts of ${origin}`);
  await page.context().close();
});

test("a name that leads to this machine opens neither port", async () => {
  await deliver("ada@company.test", textMail("another secret", "x"), "<app@company.test>", process.env.GONEBOX_DEV_SMTP);
  const had = await stored();
  const message = (await (await fetch(`${inbox}/api/v1/messages?limit=1`)).json()).messages[0].ID;
  const page = await (await browser.newContext()).newPage();
  for (const origin of [inbox, dev]) {
    const rebound = origin.replace(/\/\/[^:]+:/, `//${evil}:`);
    await page.goto(`${rebound}/`);
    const text = await page.evaluate(() => document.body.innerText);
    assert.doesNotMatch(text, /secret/);
    const own = attempts(message).filter(([address]) => address.startsWith(origin)).map(([address, options]) => [address.replace(origin, rebound), options]);
    const readable = await tryAll(page, own);
    assert.deepEqual(readable.filter((line) => !line.includes(`GET ${dev.replace(origin, rebound)}/ `)), [], `read under ${rebound}`);
    assert.deepEqual(await stored(), had, `stored after the attempts under ${rebound}`);
  }
  await page.context().close();
});
