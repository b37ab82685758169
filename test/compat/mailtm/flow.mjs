// Runs the npm package @cemalgnlts/mailjs, unmodified, through the life of an account: node flow.mjs URL HOST:PORT.
import assert from "node:assert/strict";
import net from "node:net";
import { createInterface } from "node:readline";
import Mailjs from "@cemalgnlts/mailjs";

const [url, smtp] = process.argv.slice(2);

// receive sends a mail with an attachment to an address.
async function receive(address) {
  const [host, port] = smtp.split(":");
  const socket = net.connect(Number(port), host);
  const replies = createInterface({ input: socket })[Symbol.asyncIterator]();
  const message = [
    "From: Shop <shop@store.test>", `To: ${address}`, "Subject: Your order", "Message-ID: <one@store.test>", "MIME-Version: 1.0",
    'Content-Type: multipart/mixed; boundary="b"', "", "--b", "Content-Type: text/html", "", "<p>Your code is 246810.</p>",
    "--b", "Content-Type: text/plain", 'Content-Disposition: attachment; filename="order.txt"', "", "one chair", "--b--", ".",
  ];
  for (const line of ["", "HELO store.test", "MAIL FROM:<shop@store.test>", `RCPT TO:<${address}>`, "DATA", message.join("\r\n"), "QUIT"]) {
    if (line) socket.write(line + "\r\n");
    assert.match((await replies.next()).value, /^[23]/, line);
  }
  socket.end();
}

// ok returns the data of an answer that must be a success.
function ok(answer) {
  assert.ok(answer.status, JSON.stringify(answer));
  return answer.data;
}

// download fetches a file. Like the client's own calls it waits where the limit of calls is reached.
async function download(path) {
  for (;;) {
    const answer = await fetch(url + path, { headers: { Authorization: `Bearer ${mail.token}` } });
    if (answer.status !== 429) return answer;
    await new Promise((resolve) => setTimeout(resolve, 1000 * Number(answer.headers.get("Retry-After"))));
  }
}

const mail = new Mailjs();
mail.baseUrl = url;
mail.baseMercure = url + "/.well-known/mercure";
const { username, password } = ok(await mail.createOneAccount());
assert.equal(ok(await mail.me()).address, username);
assert.equal((await mail.register(username, password)).message, "address: This value is already used.");

// next returns the next event of a kind.
const events = {};
const next = (kind) => new Promise((resolve) => (events[kind] = resolve));
const opened = new Promise((resolve) => mail.on("open", resolve));
for (const kind of ["arrive", "seen", "delete"]) mail.on(kind, (m) => events[kind](m));
await opened;

const arrives = next("arrive");
await receive(username);
const { id } = await arrives;
const list = ok(await mail.getMessages());
assert.deepEqual(list.map((m) => [m.id, m.subject, m.seen]), [[id, "Your order", false]]);
const message = ok(await mail.getMessage(id));
assert.match(message.html[0], /246810/);
assert.equal(await (await download(message.attachments[0].downloadUrl)).text(), "one chair");
const marked = next("seen");
assert.deepEqual(ok(await mail.setMessageSeen(id)), { seen: true });
assert.equal((await marked).id, id);
assert.match(ok(await mail.getSource(id)).data, /^Subject: Your order/m);
const deleted = next("delete");
ok(await mail.deleteMessage(id));
assert.equal((await deleted).id, id);
assert.deepEqual(ok(await mail.getMessages()), []);
ok(await mail.deleteMe());
assert.equal((await mail.login(username, password)).message, "Invalid credentials.");
console.log("ok");
