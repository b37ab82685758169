// Runs the npm package mailpit-api, unmodified, through whole flows: node flow.mjs URL HOST:PORT.
import assert from "node:assert/strict";
import { MailpitClient } from "mailpit-api";
import { send } from "./smtp.mjs";

const [url, smtp] = process.argv.slice(2);
const client = new MailpitClient(url, { auth: { username: "any", password: "thing" } });

const mail = (...args) => send(smtp, ...args);

// An empty server before each test.
assert.equal(await client.deleteMessages(), "ok");
assert.equal((await client.listMessages()).total, 0);

// Sign up and wait for the code.
const waiting = client.waitForMessage({ query: 'to:"ada@company.test" subject:"Your code"' }, { timeout: 20000, interval: 50 });
await mail("Your code", ["ada@company.test", "audit@company.test"], "Your sign-in code is 246810.");
const message = await waiting;
assert.match(message.Text, /246810/);
assert.equal(message.From.Address, "app@company.test");
assert.deepEqual(message.To.map((a) => a.Address), ["ada@company.test"]);
assert.deepEqual(message.Bcc.map((a) => a.Address), ["audit@company.test"]);
assert.equal((await client.getMessageSummary()).ID, message.ID);
assert.deepEqual((await client.getMessageHeaders(message.ID)).Subject, ["Your code"]);
assert.match(await client.getMessageSource(message.ID), /^Subject: Your code\r?$/m);
assert.match(await client.renderMessageText(message.ID), /246810/);

// An invoice with an attachment and a subject.
const sent = await client.sendMessage({
  From: { Email: "shop@store.test", Name: "Shop" },
  To: [{ Email: "bob@company.test", Name: "Bob" }],
  Cc: [{ Email: "carol@company.test" }],
  Bcc: ["dora@company.test"],
  ReplyTo: [{ Email: "help@store.test" }],
  Subject: "Invoice 17",
  Text: "Attached.",
  HTML: "<p>Attached: <a href=\"https://store.test/17\">17</a></p>",
  Headers: { "X-Invoice": "17" },
  Attachments: [{ Filename: "17.txt", ContentType: "text/plain", Content: Buffer.from("17 EUR").toString("base64") }],
});
const invoice = await client.getMessageSummary(sent.ID);
assert.equal(invoice.Attachments[0].FileName, "17.txt");
assert.equal(await (await client.getMessageAttachment(sent.ID, invoice.Attachments[0].PartID)).text(), "17 EUR");
assert.equal((await client.getAttachmentThumbnail(sent.ID, invoice.Attachments[0].PartID)).type, "image/jpeg");
assert.match(await client.renderMessageHTML(sent.ID), /store\.test\/17/);
assert.match(invoice.HTML, /https:\/\/store\.test\/17/);

// Lists, searches and marks.
const list = await client.listMessages(0, 10);
assert.deepEqual([list.total, list.unread, list.messages.length], [2, 0, 2]);
assert.equal(await client.setReadStatus({ IDs: [sent.ID], Read: false }), "ok");
assert.equal((await client.searchMessages({ query: "is:unread", limit: 5 })).messages[0].ID, sent.ID);
assert.equal((await client.searchMessages({ query: "has:attachment from:shop" })).messages_count, 1);
assert.equal((await client.waitForMessages({ query: "addressed:company.test", count: 2 })).messages_count, 2);
assert.equal((await client.waitForMessages({ query: "subject:nothing", count: 0 })).messages_count, 0); // no mail comes
assert.deepEqual(await client.getTags(), []);
assert.equal((await client.getInfo()).Messages, 2);

// Forty at once.
const names = Array.from({ length: 40 }, (_, i) => `user${i}@company.test`);
const found = names.map((to) => client.waitForMessage({ query: `to:${to}` }, { timeout: 30000, interval: 100 }));
await Promise.all(names.map((to, i) => mail(`Hello ${i}`, [to], `Code ${100000 + i}`)));
(await Promise.all(found)).forEach((m, i) => assert.match(m.Text, new RegExp(String(100000 + i))));

// The checks of a mail. No address is fetched.
const check = await client.htmlCheck(sent.ID);
assert.ok(check.Total.Supported > 0 && check.Total.Supported <= 100, `html-check: Total.Supported is ${check.Total.Supported}, want a percentage`);
assert.deepEqual((await client.linkCheck(sent.ID)).Links.map((link) => [link.URL, link.StatusCode]), [["https://store.test/17", 0]]);

// Tags: of X-Tags, of addresses, and set by a call; what the page is told; and a message that has no relay to go through.
await mail("Tagged", ["ada+orders@company.test"], "Your order.", "app@company.test", "X-Tags: shop, big order\r\n");
const tagged = (await client.searchMessages({ query: 'tag:"big order"' })).messages[0];
assert.deepEqual([tagged.Tags, tagged.Username], [["big order", "orders", "shop"], "user"]);
assert.deepEqual(await client.getTags(), ["big order", "orders", "shop"]);
assert.equal(await client.setTags({ IDs: [sent.ID, tagged.ID], Tags: ["urgent", "shop"] }), "ok");
assert.equal(await client.renameTag("urgent", "to do"), "ok");
assert.deepEqual((await client.getMessageSummary(sent.ID)).Tags, ["shop", "to do"]);
assert.equal(await client.deleteTag("to do"), "ok");
assert.equal((await client.searchMessages({ query: "is:tagged tag:shop" })).messages_count, 2);
await assert.rejects(client.deleteTag("to do"), /404/);
assert.deepEqual([(await client.getConfiguration()).MessageRelay.Enabled, (await client.getConfiguration()).SpamAssassin], [false, false]);
await assert.rejects(client.releaseMessage(sent.ID, { To: ["ada@company.test"] }), /400/);
const everything = await client.listMessages(0, 0);
assert.equal(everything.messages.length, everything.total);
assert.equal(await client.deleteMessages({ IDs: [tagged.ID] }), "ok");

// What is not there is 404, and what is deleted is gone.
await assert.rejects(client.getMessageSummary("nothing"), /404/);
assert.equal(await client.deleteMessagesBySearch({ query: "subject:hello" }), "ok");
assert.equal(await client.deleteMessages({ IDs: [sent.ID] }), "ok");
assert.equal((await client.listMessages()).total, 1);
console.log("ok");
