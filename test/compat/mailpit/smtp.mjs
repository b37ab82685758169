import assert from "node:assert/strict";
import net from "node:net";

// send sends a mail over SMTP as an application does that is configured for Mailpit: with a user and a password.
export async function send(smtp, subject, to, body, from = "app@company.test", fields = "", user = "user") {
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
  await say("AUTH PLAIN " + Buffer.from(`\0${user}\0password`).toString("base64"), "235");
  await say(`MAIL FROM:<${from}>`, "250");
  for (const address of to) await say(`RCPT TO:<${address}>`, "250");
  await say("DATA", "354");
  await say(`From: App <app@company.test>\r\nTo: ${to[0]}\r\nSubject: ${subject}\r\n${fields}\r\n${body}\r\n.`, "250");
  await say("QUIT", "221");
  socket.end();
}
