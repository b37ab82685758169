// Runs the npm package mailhog, unmodified, through a flow: node mailhog.mjs URL HOST:PORT.
import assert from "node:assert/strict";
import mailhog from "mailhog";
import { send } from "./smtp.mjs";

const [url, smtp] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const client = mailhog({ host: hostname, port: Number(port) });

assert.equal((await client.deleteAll()).statusCode, 200); // an empty server before each test
assert.equal((await client.messages()).total, 0);

await send(smtp, "Your code", ["ada@company.test"], "Your sign-in code is 246810.", "bounces+7@mailer.test", "Content-Type: text/plain; charset=utf-8\r\n");
await send(smtp, "Hello", ["bob@company.test"], "No code.");
const mail = await client.latestTo("ada@company.test");
assert.equal(mail.subject, "Your code");
assert.match(mail.text, /246810/);
assert.equal((await client.latestFrom("bounces+7@mailer.test")).ID, mail.ID); // the sender of the envelope
assert.equal((await client.search("app@company.test", "from")).total, 2); // the sender of the header
assert.equal((await client.search("nothing@mailer.test", "from")).total, 0);
assert.equal((await client.latestContaining("246810")).ID, mail.ID);
const file = await fetch(`${url}/api/v1/messages/${mail.ID}/download`);
assert.deepEqual([file.status, file.headers.get("content-type"), file.headers.get("content-disposition")], [200, "message/rfc822", `attachment; filename="${mail.ID}.eml"`]);
assert.match(await file.text(), /^Subject: Your code\r$/m);
assert.equal((await client.deleteMessage(mail.ID)).statusCode, 200);
assert.equal((await client.deleteMessage(mail.ID)).statusCode, 404); // it is gone
assert.equal((await client.messages()).count, 1);
assert.equal((await client.deleteAll()).statusCode, 200);
assert.equal((await client.messages()).total, 0);
console.log("ok");
