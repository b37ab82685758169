// Runs the npm package mailpit-api, unmodified, through whole flows: node flow.mjs URL HOST:PORT.
import assert from "node:assert/strict";
import net from "node:net";
import { MailpitClient } from "mailpit-api";

const [url, smtp] = process.argv.slice(2);
const client = new MailpitClient(url, { auth: { username: "any", password: "thing" } });

// mail sends a mail over SMTP as an application does that is configured for Mailpit: with a user and a password.
async function mail(subject, to, body) {
  const [host, port] = smtp.split(":");
  const socket = net.connect(Number(port), host).setEncoding("utf8");
  let pending = "";
  const reply = async () => {
    for (;;) {
      const last = pending.match(/^\d{3} .*\r\n/m);
      if (last) {
        pending = pending.slice(last.index + last[0].length);
        return last[0].slice(0, 3);
      }
      pending += await new Promise((resolve, reject) => {
        socket.once("data", resolve);
        socket.once("error", reject);
      });
    }
  };
  const say = async (line, code) => {
    socket.write(line + "\r\n");
    assert.equal(await reply(), code, line);
  };
  assert.equal(await reply(), "220");
  await say("EHLO app", "250");
  await say("AUTH PLAIN " + Buffer.from("\0user\0password").toString("base64"), "235");
  await say("MAIL FROM:<app@company.test>", "250");
  for (const address of to) await say(`RCPT TO:<${address}>`, "250");
  await say("DATA", "354");
  await say(`From: App <app@company.test>\r\nTo: ${to[0]}\r\nSubject: ${subject}\r\n\r\n${body}\r\n.`, "250");
  await say("QUIT", "221");
  socket.end();
}

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

// What is left out is 404, and what is deleted is gone.
await assert.rejects(client.htmlCheck(sent.ID), /404/);
await assert.rejects(client.getMessageSummary("nothing"), /404/);
assert.equal(await client.deleteMessagesBySearch({ query: "subject:hello" }), "ok");
assert.equal(await client.deleteMessages({ IDs: [sent.ID] }), "ok");
assert.equal((await client.listMessages()).total, 1);
console.log("ok");
