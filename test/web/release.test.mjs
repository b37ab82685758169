// Messages that their owner sends on through the relay of the operator, in both languages, on a desktop and on a phone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deliver, eventually, launch, sentTo, signIn, soundness, url, visit } from "./harness.mjs";

const origin = process.env.GONEBOX_MAIL_URL;
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const words = {
  en: { send: "Send on", to: "To", unconfirmed: "Your e-mail address is not confirmed yet.", notAllowed: "may not be sent there", malformed: "Enter one address", waits: "It waits to be sent to" },
  vi: { send: "Gửi tiếp", to: "Gửi tới", unconfirmed: "Địa chỉ e-mail của bạn chưa được xác nhận.", notAllowed: "Không được gửi thư này tới đó", malformed: "Hãy nhập một địa chỉ", waits: "Thư đang chờ gửi tới" },
};

/** ask makes a call of a service and returns what is in data. */
async function ask(service, method, path, token, body) {
  const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  const answer = await fetch(`${service}/api/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path} was answered ${answer.status}: ${text}`);
  return text ? JSON.parse(text).data : undefined;
}

/** relayed returns the raw message with a subject that the relay has got. Its To field is that of the original. */
async function relayed(subject) {
  const api = `${process.env.GONEBOX_SENT_URL}/api/v1`;
  let found = [];
  await eventually(async () => {
    found = (await (await fetch(`${api}/search?query=${encodeURIComponent(`subject:${subject}`)}`)).json()).messages;
    return found.length > 0;
  });
  return (await fetch(`${api}/message/${found[0].ID}/raw`)).text();
}

/** inboxOf registers an account on a service, brings a message into a mailbox of it, and returns what a device stores. */
async function inboxOf(service, server, email, subject) {
  const { token } = await ask(service, "POST", "/auth/register", "", { email, password: "correct horse battery staple", locale: "en" });
  const box = await ask(service, "POST", "/mailboxes", token, {});
  await deliver(box.address, `From: shop@shop.example\r\nTo: ${box.address}\r\nSubject: ${subject}\r\n\r\nYour order is on its way.\r\n`, "<shop@shop.example>", server);
  return { token, email, role: "user" };
}

for (const [locale, size, colorScheme] of [["en", "desktop", "light"], ["vi", "phone", "dark"], ["en", "phone", "dark"], ["vi", "desktop", "light"]]) {
  test(`a message is sent on in ${locale} on a ${size}`, async () => {
    const say = words[locale];
    const pair = `release-${locale}-${size}`;
    const account = await inboxOf(origin, process.env.GONEBOX_MAIL_SMTP, `${pair}@example.org`, pair);
    const { context, page, problems } = await visit(browser, { origin, path: "/sign-in", size, locale, colorScheme });
    await signIn(context, account);
    const sound = soundness(page, pair);
    const dialog = page.locator("dialog");
    const press = () => dialog.getByRole("button", { name: say.send, exact: true }).click();
    const open = async () => {
      await page.goto(`${origin}/inbox`);
      await page.getByText(pair).filter({ visible: true }).first().click();
      await page.getByRole("button", { name: say.send, exact: true }).click();
    };

    // Until the address is confirmed it may have nothing, and the page says where that is done.
    await open();
    await dialog.getByText(say.unconfirmed).waitFor();
    assert.equal(await dialog.getByLabel(say.to).inputValue(), "");
    await dialog.getByLabel(say.to).fill(account.email);
    await press();
    await dialog.getByText(say.notAllowed).waitFor();
    await sound("unconfirmed");
    const code = /\b\d{6}\b/.exec(await sentTo(account.email))?.[0];
    await ask(origin, "POST", "/me/email/confirm", account.token, { code });

    // Then it is what the form has, and gets the message.
    await open();
    const field = dialog.getByLabel(say.to);
    await page.waitForFunction((email) => document.querySelector("dialog input")?.value === email, account.email);
    await field.fill("someone%other@example.org");
    await press();
    await dialog.getByText(say.malformed).waitFor();
    await field.fill("someone@example.org");
    await press();
    await dialog.getByText(say.notAllowed).waitFor();
    await field.fill(account.email);
    await press();
    await dialog.getByText(say.waits).waitFor();
    await sound("queued");
    const raw = await relayed(pair);
    assert.match(raw, /^Resent-To: .*release-/m);
    assert.match(raw, /Your order is on its way/);
    assert.deepEqual(problems, []);
    await context.close();
  });
}

for (const [locale, size] of [["en", "desktop"], ["vi", "phone"]]) {
  test(`the visitor's page sends on what is in a mailbox of the account alone, in ${locale} on a ${size}`, async () => {
    const say = words[locale];
    const pair = `visitor-release-${locale}-${size}`;
    const account = await inboxOf(origin, process.env.GONEBOX_MAIL_SMTP, `${pair}@example.org`, pair);
    const { context, page, problems } = await visit(browser, { origin, size, locale });
    await page.locator("main h1 span").first().waitFor();
    const [guest] = await page.evaluate(() => JSON.parse(localStorage.getItem("gonebox.boxes")).boxes);
    await deliver(guest.address, `From: shop@shop.example\r\nSubject: guest ${pair}\r\n\r\nHello.\r\n`, "<shop@shop.example>", process.env.GONEBOX_MAIL_SMTP);
    await signIn(context, account);
    await page.goto(`${origin}/account/mailboxes`);
    await page.locator("main li button").last().click();
    await page.waitForURL(`${origin}/`);
    const send = page.getByRole("button", { name: say.send, exact: true });
    await page.getByText(pair).filter({ visible: true }).first().click();
    await send.click();
    const dialog = page.locator("dialog");
    await dialog.getByText(say.unconfirmed).waitFor();
    await dialog.getByLabel(say.to).fill(account.email);
    await dialog.getByRole("button", { name: say.send, exact: true }).click();
    await dialog.getByText(say.notAllowed).waitFor();
    await soundness(page, pair)("own");

    const code = /\b\d{6}\b/.exec(await sentTo(account.email))?.[0];
    await ask(origin, "POST", "/me/email/confirm", account.token, { code });
    await dialog.getByRole("button", { name: say.send, exact: true }).click();
    await dialog.getByText(say.waits).waitFor();
    assert.match(await relayed(pair), /^Resent-To: .*visitor-release-/m);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });

    // The guest's mailbox on the same page has no such button.
    await page.evaluate((id) => {
      const stored = JSON.parse(localStorage.getItem("gonebox.boxes"));
      localStorage.setItem("gonebox.boxes", JSON.stringify({ ...stored, active: id }));
    }, guest.id);
    await page.goto(`${origin}/`);
    await page.getByText(`guest ${pair}`).filter({ visible: true }).first().click();
    await page.getByRole("tab").first().waitFor();
    assert.equal(await send.count(), 0, "a guest's message cannot be sent on");
    assert.deepEqual(problems, []);
    await context.close();
  });
}

test("nothing can be sent on without a relay", async () => {
  const account = await inboxOf(url, process.env.GONEBOX_SMTP, "release-none@example.org", "no relay");
  const { context, page } = await visit(browser, { path: "/sign-in" });
  await signIn(context, account);
  const asked = page.waitForResponse((response) => new URL(response.url()).pathname === "/api/v1/access" && response.ok());
  await page.goto(`${url}/inbox`);
  await page.getByText("no relay").first().click();
  await page.getByRole("tab").first().waitFor();
  await asked;
  assert.equal(await page.getByRole("button", { name: words.en.send, exact: true }).count(), 0);
  await context.close();
});
