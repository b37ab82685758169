// A relay that refuses the connection, then answers 451, and at last takes the mail: what users and staff are told meanwhile is true, and
// every mail arrives once.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { deliver, eventually, launch, operateOn, soundness, visit } from "./harness.mjs";

const origin = process.env.GONEBOX_LATE_URL;
const data = process.env.GONEBOX_LATE_DATA;
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const words = {
  en: {
    forgot: "Forgot your password?", email: "E-mail address", send: "Send the link", sent: "a link is on its way", fresh: "New password", set: "Set a new password", isSet: "Your new password is set.",
    release: "Send on", to: "To", waits: "It waits to be sent to", hours: "48 hours", address: "Address", lookUp: "Look up", refused: "Refused with 451", queue: "Mail to the relay", sentOnTo: "Sent on to",
  },
  vi: {
    forgot: "Quên mật khẩu?", email: "Địa chỉ e-mail", send: "Gửi liên kết", sent: "liên kết đang được gửi", fresh: "Mật khẩu mới", set: "Đặt mật khẩu mới", isSet: "Đã đặt mật khẩu mới.",
    release: "Gửi tiếp", to: "Gửi tới", waits: "Thư đang chờ gửi tới", hours: "48 giờ", address: "Địa chỉ", lookUp: "Tra cứu", refused: "Bị từ chối với 451", queue: "Thư gửi qua máy chủ chuyển tiếp", sentOnTo: "Gửi tiếp tới",
  },
};

/** relay listens where the service has its relay. It answers 451 to the sender until it accepts. */
async function relay() {
  const taken = [];
  const open = new Set();
  const state = { accepts: false, taken };
  const server = createServer((socket) => {
    open.add(socket);
    let text = "";
    let content = null;
    const say = (line) => socket.write(`${line}\r\n`);
    socket.on("close", () => open.delete(socket)).on("error", () => {});
    socket.on("data", (chunk) => {
      text += chunk;
      for (let end = text.indexOf("\r\n"); end >= 0; end = text.indexOf("\r\n")) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        if (content !== null) {
          if (line !== ".") content.push(line);
          else {
            taken.push(content.join("\n"));
            content = null;
            say("250 2.0.0 taken");
          }
        } else if (/^EHLO/i.test(line)) say("250 relay.example");
        else if (/^MAIL/i.test(line)) say(state.accepts ? "250 2.1.0 go on" : "451 4.3.2 not now");
        else if (/^DATA/i.test(line)) {
          content = [];
          say("354 go on");
        } else if (/^QUIT/i.test(line)) {
          say("221 2.0.0 bye");
          socket.end();
        } else say("250 2.0.0 go on");
      }
    });
    say("220 relay.example");
  });
  const [host, port] = process.env.GONEBOX_LATE_RELAY.split(":");
  server.listen(Number(port), host);
  await once(server, "listening");
  state.close = async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return state;
}

/** tried waits until a try to send mail for an address has ended with a reply. */
const tried = (address, ends) => eventually(() => JSON.parse(operateOn(data, "deliveries", "--json", address)).some(ends));
const unreachable = ({ reply, code }) => reply === 451 && code.startsWith("4.4.");
const deferred = ({ reply, code }) => reply === 451 && code === "4.3.2";

/** decoded is a mail with its content, which is quoted-printable. */
const decoded = (mail) => mail.replace(/=\n/g, "").replace(/=([0-9A-F]{2})/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)));

async function ask(method, path, token, body) {
  const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  const answer = await fetch(`${origin}/api/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path} was answered ${answer.status}: ${text}`);
  return text ? JSON.parse(text).data : undefined;
}

for (const [locale, size, colorScheme] of [["en", "desktop", "light"], ["vi", "phone", "dark"]]) {
  test(`a relay that fails at first, in ${locale} on a ${size}`, async () => {
    const say = words[locale];
    const pair = `late-${locale}-${size}`;
    const email = `${pair}@example.org`;
    const password = "a horse of another colour";
    await ask("POST", "/auth/register", "", { email, password: "correct horse battery staple", locale });
    const { context, page, problems } = await visit(browser, { origin, path: "/sign-in", size, locale, colorScheme });
    const sound = soundness(page, pair);
    const shows = (text, within = page) => within.getByText(text).filter({ visible: true }).first().waitFor();
    const press = (name, within = page) => within.getByRole("button", { name, exact: true }).filter({ visible: true }).first().click();
    const replaced = (token, role = "user") => page.evaluate((saved) => localStorage.setItem("gonebox.account", JSON.stringify(saved)), { token, email, role });

    // A new password, while the relay cannot be reached. The page does not say that anything was sent.
    await page.getByRole("link", { name: say.forgot }).click();
    await page.getByLabel(say.email).fill(email);
    await press(say.send);
    await shows(say.sent);
    await tried(email, unreachable);
    let mails = await relay();
    await tried(email, deferred);
    assert.equal(mails.taken.length, 0);
    mails.accepts = true;
    await eventually(() => mails.taken.length > 0);
    await mails.close();
    assert.equal(mails.taken.length, 1, "the mail is sent once");
    const link = /\/reset\?token=[\w-]+/.exec(decoded(mails.taken[0]))?.[0] ?? "none";
    await page.goto(origin + link);
    await page.getByLabel(say.fresh).fill(password);
    await press(say.set);
    await shows(say.isSet);

    // A message that is sent on, to the address that the link has confirmed.
    const { token } = await ask("POST", "/auth/token", "", { email, password });
    const box = await ask("POST", "/mailboxes", token, {});
    await deliver(box.address, `From: shop@shop.example\r\nTo: ${box.address}\r\nSubject: ${pair}\r\n\r\nYour order is on its way.\r\n`, "<shop@shop.example>", process.env.GONEBOX_LATE_SMTP);
    await replaced(token);
    await page.goto(`${origin}/inbox`);
    await page.getByText(pair).filter({ visible: true }).first().click();
    await page.getByRole("button", { name: say.release, exact: true }).click();
    const dialog = page.locator("dialog");
    await page.waitForFunction((address) => document.querySelector("dialog input")?.value === address, email);
    await press(say.release, dialog);
    await shows(say.waits, dialog);
    await shows(say.hours, dialog);
    await tried(box.address, (entry) => unreachable(entry) && entry.to === email);
    mails = await relay();
    await tried(box.address, deferred);
    await sound("waits");

    // Staff see that it waits, and why.
    operateOn(data, "user", "set-role", email, "staff");
    await replaced(token, "staff");
    await page.goto(`${origin}/staff/mailboxes`);
    await page.getByLabel(say.address).fill(box.address);
    await press(say.lookUp);
    await shows(say.refused);
    await shows(`${say.sentOnTo} ${email}`);
    await sound("staff-deliveries");
    const waiting = async () => {
      const { queues } = await ask("GET", "/staff/overview", token);
      const { ready, waiting, running } = queues.find(({ name }) => name === "relay");
      return ready + waiting + running;
    };
    assert.equal(await waiting(), 1);
    await page.goto(`${origin}/staff`);
    await shows(say.queue);
    await sound("staff-overview");

    mails.accepts = true;
    await eventually(() => mails.taken.length > 0);
    await eventually(async () => (await waiting()) === 0);
    assert.equal(mails.taken.length, 1, "the message is sent on once");
    assert.match(mails.taken[0], new RegExp(`^Resent-To: .*${email}`, "m"));
    assert.match(mails.taken[0], /Your order is on its way/);
    await mails.close();
    assert.deepEqual(problems, []);
    await context.close();
  });
}
