// Calls the commands of the npm package cypress-mailpit, unmodified: node cypress.mjs URL HOST:PORT. The program of Cypress is not a
// package, so what the commands use of it is here: a registry, and requests that fail for other statuses than those of success.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { send } from "./smtp.mjs";

const [url, smtp] = process.argv.slice(2);
const commands = {};
globalThis.Cypress = {
  Commands: { add: (name, _options, run) => (commands[name] = run) },
  config: () => 20000,
  expose: (name) => (name === "MAILPIT_URL" ? url : undefined),
};
globalThis.cy = {
  env: async () => ({ MAILPIT_USERNAME: "any", MAILPIT_PASSWORD: "thing" }),
  wrap: async (value) => value,
  wait: (time) => new Promise((resolve) => setTimeout(resolve, time)),
  async request({ method, url, qs, body, auth }) {
    const headers = { Authorization: "Basic " + Buffer.from(`${auth.user}:${auth.pass}`).toString("base64"), "Content-Type": "application/json" };
    const response = await fetch(url + (qs ? "?" + new URLSearchParams(qs) : ""), { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${url}: ${response.status} ${text}`);
    return { status: response.status, body: response.headers.get("content-type").startsWith("application/json") ? JSON.parse(text) : text };
  },
};

// The package is meant for a bundler: its modules have no endings in their imports.
const dist = new URL("node_modules/cypress-mailpit/dist/", import.meta.url);
const source = ["src/MailpitCommands.js", "index.js"].map((file) => readFileSync(new URL(file, dist), "utf8").replace(/^(import|export) .*$/gm, ""));
await import("data:text/javascript," + encodeURIComponent(source.join("\n")));
const call = (name, ...args) => commands["mailpit" + name](...args);

await call("DeleteAllEmails");
assert.equal((await call("GetAllMails")).total, 0);
await call("SendMail", { to: [{ Email: "ada@company.test", Name: "Ada" }], subject: "Welcome", textBody: "Hello Ada", tags: ["news", "sign up"], attachments: [{ Filename: "a.txt", Content: "aGVsbG8=" }] });
await send(smtp, "Your code", ["bob@company.test"], "Your code is 246810.");
assert.equal((await call("HasEmailsBySubject", "Your code")).messages[0].To[0].Address, "bob@company.test");
await call("HasEmailsByTo", "ada@company.test");
await call("HasEmailsBySearch", 'tag:"sign up"');
await call("NotHasEmailsBySearch", "tag:nothing");
await call("NotHasEmailsByTo", "eve@company.test");
const mail = (await call("GetEmailsBySubject", "Welcome")).messages[0];
assert.deepEqual(mail.Tags, ["news", "sign up"]);
const whole = await call("GetMail", mail.ID);
assert.deepEqual(await call("GetAttachments", whole), ["a.txt"]);
assert.equal(await call("GetSubject", whole), "Welcome");
assert.equal(await call("GetFromAddress", whole), "from@example.com");
assert.deepEqual(await call("GetRecipientAddress", whole), ["ada@company.test"]);
assert.match(await call("GetMailTextBody", whole), /Hello Ada/);
assert.match(await call("GetMailHTMlBody", whole), /hello from mailpit/);
assert.equal((await call("SearchEmails", "is:unread")).messages_count, 1);
assert.equal(await call("SetAllEmailStatusAsUnRead"), "ok");
assert.equal(await call("SetStatusAsRead", mail), "ok");
assert.equal(await call("SetStatusAsUnRead", [mail]), "ok");
assert.equal((await call("SearchEmails", "is:unread")).messages_count, 2);
await call("DeleteEmailsBySearch", "tag:news");
assert.equal((await call("GetAllMails")).total, 1);
console.log("ok");
