// What the flows share: a browser, a mail client, and a canary that counts the requests mail causes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { createRequire } from "node:module";
import { connect } from "node:net";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const url = process.env.GONEBOX_URL;

/** sizes are the widths that the page is tested at. */
export const sizes = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"],
  });

/** signIn signs a context in to an account before its first page is opened. */
export const signIn = (context, account) => context.addInitScript((saved) => localStorage.setItem("gonebox.account", JSON.stringify(saved)), account);

/** visit opens a page in a fresh profile. problems collects what must not happen. */
export async function visit(browser, { origin = url, path = "/", size = "desktop", locale = "en", ...options } = {}) {
  // Without motion, so that no fault is found in the middle of a fade.
  const context = await browser.newContext({ ...sizes[size], locale, reducedMotion: "reduce", serviceWorkers: "block", permissions: ["clipboard-read", "clipboard-write"], ...options });
  context.setDefaultTimeout(90_000); // no result depends on the speed of the machine
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(`error: ${error.stack}`));
  page.on("console", (message) => {
    // Chromium reports every answer that is no success; those that the page expects are no problem.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) problems.push(message.text());
  });
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (/^(https?|wss?):/.test(request.url()) && !request.url().startsWith(origin)) problems.push(`request: ${request.url()}`);
  });
  await page.goto(origin + path);
  return { context, page, problems };
}

const shots = process.env.PAGE_SHOTS; // a folder for pictures of each state, where somebody wants to look at them

/**
 * soundness returns a function that checks a state of a page: that it does not scroll sideways and, where thorough, that axe finds nothing,
 * which takes its time. name is that of the pictures.
 */
export const soundness = (page, name, thorough = true) => async (state) => {
  if (shots) {
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: `${shots}/${name}-${state}.png`, fullPage: true });
  }
  if (thorough) assert.deepEqual(await accessibility(page), [], state);
  assert.equal(await overflow(page), false, `${state}: scrolls sideways`);
};

/** eventually waits until check holds. Its limit only ends a test that hangs. */
export async function eventually(check) {
  for (const end = Date.now() + 90_000; !(await check()); await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (Date.now() > end) throw new Error(`did not happen: ${check}`);
  }
}

/** open opens the visitor's page and waits for its address. */
export async function open(browser, options) {
  const { context, page, problems } = await visit(browser, options);
  // That of the program, which is in main: the address may be shown before it has started, and the heading is drawn anew.
  const address = await page.waitForFunction(() => document.querySelector("main h1:has(span)")?.textContent.trim());
  return { context, page, problems, address: await address.jsonValue() };
}

/** call makes a call of the API with a credential, and returns what is in data. */
export async function call(method, path, credential = "", body = undefined) {
  const headers = { "Content-Type": "application/json", ...(credential && { Authorization: `Bearer ${credential}` }) };
  const answer = await fetch(`${url}/api/v1${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
  return text ? JSON.parse(text).data : undefined;
}

/** signUp registers an account and returns what a device that is signed in to it has stored. */
export async function signUp(email, role = "user") {
  const { token } = await call("POST", "/auth/register", "", { email, password: "correct horse battery staple", locale: "en" });
  if (role === "staff") operate("user", "set-role", email, "staff");
  return { token, email, role };
}

/** sentTo returns the text of the newest mail that the service with a relay has sent to an address, after seen mails. */
export async function sentTo(address, seen = 0) {
  const api = `${process.env.GONEBOX_SENT_URL}/api/v1`;
  let found = [];
  await eventually(async () => {
    const answer = await fetch(`${api}/search?query=${encodeURIComponent(`to:${address}`)}`);
    found = (await answer.json()).messages;
    return found.length > seen;
  });
  return (await (await fetch(`${api}/message/${found[0].ID}`)).json()).Text;
}

/** stored returns the mailboxes that the device of a page has stored. */
export const stored = (page) => page.evaluate(() => JSON.parse(localStorage.getItem("gonebox.boxes")).boxes);

/** operate runs a command of the operator on the running service and returns what it prints. */
export const operate = (...args) => operateOn(process.env.GONEBOX_DATA, ...args);

/** operateOn is operate for the service that has its data in a folder. */
export const operateOn = (data, ...args) =>
  // The program refuses variables of its prefix that it does not know.
  execFileSync(process.env.GONEBOX_BINARY, [...args, "--data-dir", data], { encoding: "utf8", env: { PATH: process.env.PATH } });

/** names answers the questions of the service about names: those in records, which map "TYPE name" to an answer. */
export async function names(records) {
  const [host, port] = process.env.GONEBOX_DNS.split(":");
  const socket = createSocket("udp4");
  const types = { 1: "A", 15: "MX", 16: "TXT" };
  socket.on("message", (query, from) => {
    const labels = [];
    let at = 12;
    for (; query[at] > 0; at += query[at] + 1) labels.push(query.toString("latin1", at + 1, at + 1 + query[at]));
    const question = query.subarray(12, at + 5);
    const name = labels.join(".").toLowerCase();
    const data = records[`${types[query.readUInt16BE(at + 1)]} ${name}`];
    const known = Object.keys(records).some((key) => key.endsWith(` ${name}`));
    const head = Buffer.from([query[0], query[1], 0x81, known ? 0x80 : 0x83, 0, 1, 0, data ? 1 : 0, 0, 0, 0, 0]);
    const answer = data ? [Buffer.from([0xc0, 12]), question.subarray(-4), Buffer.from([0, 0, 0, 0, 0, data.length]), data] : [];
    socket.send(Buffer.concat([head, question, ...answer]), from.port, from.address);
  });
  socket.bind(Number(port), host);
  await once(socket, "listening");
  return { close: () => socket.close() };
}

const label = (text) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
export const txt = (text) => label(text);
export const mx = (priority, host) => Buffer.concat([Buffer.from([0, priority]), ...host.split(".").map(label), Buffer.from([0])]);

/** totp is the code of a second factor at this time (RFC 6238). */
export function totp(secret) {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((octet) => parseInt(octet, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const hash = createHmac("sha1", key).update(step).digest();
  const from = hash.at(-1) & 15;
  return String((hash.readUInt32BE(from) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

/** transfer reports a bank transfer, as the bank's service does. */
export async function transfer(id, content, transferAmount) {
  const body = JSON.stringify({ id, content, transferAmount, transferType: "in", gateway: "Vietcombank", accountNumber: "0011001932418" });
  const headers = { Authorization: "Apikey bank-secret-of-the-flows", "Content-Type": "application/json" };
  const answer = await fetch(`${url}/api/v1/integrations/bankpay/webhook`, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`the bank's call was answered ${answer.status}: ${await answer.text()}`);
}

/** deliver hands a mail to the service by SMTP and returns once it has the 250. from is the reverse-path, server its address, project who signs in. */
export async function deliver(to, raw, from = "<no-reply@shop.example>", server = process.env.GONEBOX_SMTP, project = "") {
  const [smtpHost, smtpPort] = server.split(":");
  const socket = connect(Number(smtpPort), smtpHost);
  const auth = project ? [`AUTH PLAIN ${btoa(`\0${project}\0x`)}`] : [];
  const lines = ["EHLO test.example", ...auth, `MAIL FROM:${from}`, `RCPT TO:<${to}>`, "DATA", `${raw.replace(/\r?\n/g, "\r\n")}\r\n.`];
  let text = "";
  for await (const chunk of socket) {
    text += chunk;
    if (!/^\d{3} .*\r\n$/m.test(text)) continue; // the reply goes on
    if (/^[45]/.test(text)) throw new Error(text);
    text = "";
    const line = lines.shift();
    if (line === undefined) break;
    socket.write(`${line}\r\n`);
  }
  socket.end("QUIT\r\n");
}

const head = (subject, type) => `From: Quick Shop <no-reply@shop.example>
To: you
Subject: ${subject}
MIME-Version: 1.0
Content-Type: ${type}; charset=utf-8

`;

export const textMail = (subject, body) => head(subject, "text/plain") + body;
export const htmlMail = (subject, body) => head(subject, "text/html") + body;

/** richMail has HTML with remote images, a text beside it, a link and an attachment. */
export const richMail = (code, host) => `From: Quick Shop <no-reply@shop.example>
To: you
Subject: Your code for Quick Shop
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=utf-8

Your verification code is ${code}.
--inner
Content-Type: text/html; charset=utf-8

<style>.button { background: #1a7f37; color: #fff }</style>
<p style="color: #c00">Your verification code is <b>${code}</b>.</p>
<p><a class="button" href="https://quickshop.example/verify?token=abc">Confirm</a></p>
<img src="http://${host}/hero.png" width="100" height="50" alt="Hero"><img src="http://${host}/pixel.gif" width="1" height="1">
--inner--
--outer
Content-Type: text/csv
Content-Disposition: attachment; filename="prices.csv"

a,b
--outer--
`;

/** canary is a server that mail must not reach. */
export async function canary() {
  const seen = [];
  const server = createServer((request, response) => {
    seen.push(request.url);
    response.writeHead(200, { "Content-Type": "image/gif" });
    response.end(Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { host: `127.0.0.1:${server.address().port}`, seen, close: () => server.close() };
}

/**
 * endpoint receives webhooks with a certificate that the service trusts, and answers with status. Webhooks may go to a few
 * ports only, so it takes an address of this machine that another run is unlikely to have.
 */
export async function endpoint() {
  const received = [];
  const identity = readFileSync(process.env.GONEBOX_CERTIFICATE);
  const host = [127, 1 + (process.pid >> 8) % 250, process.pid & 255, 2];
  const receiver = { host, port: 8443, status: 200, received, close: () => server.close() };
  const server = createSecureServer({ cert: identity, key: identity }, async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    received.push({ path: request.url, headers: request.headers, body });
    response.writeHead(receiver.status);
    response.end();
  }).listen(receiver.port, host.join("."));
  await once(server, "listening");
  return receiver;
}

/** signs reports whether a webhook's signature is right (the Standard Webhooks scheme). */
export function signs(secret, { headers, body }) {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`).digest("base64");
  return headers["webhook-signature"].split(" ").includes(`v1,${signature}`);
}

/** accessibility returns the serious faults that axe finds on what is shown. */
export async function accessibility(page) {
  // The page's policy keeps a script element from being added; evaluating text does not need one.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  // Only what is wrong is described and leaves the page: the rest of the result is long.
  const violations = await page.evaluate(async () => (await globalThis.axe.run(document, { iframes: false, resultTypes: ["violations"], selectors: false })).violations);
  return violations
    .filter((violation) => violation.impact === "serious" || violation.impact === "critical")
    .map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html).join(" ")}`);
}

/** overflow reports whether the page scrolls sideways. */
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
