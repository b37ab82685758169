// A forgotten password: the link is asked for, comes by mail, and sets a password once.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibility, launch, sentTo, soundness, visit } from "./harness.mjs";

const origin = process.env.GONEBOX_MAIL_URL;
const password = "a horse of another colour";
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const words = {
  en: {
    forgot: "Forgot your password?", email: "E-mail address", password: "Password", send: "Send the link", sent: "a link is on its way", fresh: "New password", set: "Set a new password",
    isSet: "Your new password is set.", used: "This link has been used", another: "Ask for another link", signIn: "Sign in",
  },
  vi: {
    forgot: "Quên mật khẩu?", email: "Địa chỉ e-mail", password: "Mật khẩu", send: "Gửi liên kết", sent: "liên kết đang được gửi", fresh: "Mật khẩu mới", set: "Đặt mật khẩu mới",
    isSet: "Đã đặt mật khẩu mới.", used: "Liên kết này đã được dùng", another: "Yêu cầu liên kết khác", signIn: "Đăng nhập",
  },
};

for (const [locale, size] of [["en", "desktop"], ["vi", "phone"], ["en", "phone"], ["vi", "desktop"]]) {
  test(`a forgotten password in ${locale} on a ${size}`, async () => {
    const say = words[locale];
    const pair = `reset-${locale}-${size}`;
    const email = `${pair}@example.org`;
    const registration = { email, password: "correct horse battery staple", locale };
    const answer = await fetch(`${origin}/api/v1/auth/register`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(registration) });
    assert.equal(answer.status, 201, `POST /auth/register for ${email}`);
    const { token } = (await answer.json()).data;
    await sentTo(email); // the code that confirms the address

    const { context, page, problems } = await visit(browser, { origin, path: "/sign-in", size, locale });
    const shows = (text) => page.getByText(text, { exact: false }).filter({ visible: true }).first().waitFor();
    const press = (name) => page.getByRole("button", { name, exact: true }).filter({ visible: true }).first().click();
    const sound = soundness(page, pair);
    await page.getByLabel(say.email).fill(email); // which need not be typed again
    await page.getByRole("link", { name: say.forgot }).click();
    await page.waitForURL("**/reset");
    assert.equal(await page.getByLabel(say.email).inputValue(), email);
    await sound("ask");
    await press(say.send);
    await shows(say.sent);
    await sound("sent");

    const link = /\/reset\?token=\S+/.exec(await sentTo(email, 1))?.[0] ?? "none";
    await page.goto(origin + link);
    await page.getByLabel(say.fresh).fill(password);
    await sound("set");
    await press(say.set);
    await shows(say.isSet);
    assert.equal(new URL(page.url()).search, "", "the token stays in the address of the page");
    assert.equal((await fetch(`${origin}/api/v1/me`, { headers: { Authorization: `Bearer ${token}` } })).status, 401, "the sign-in before goes on");

    // The link works once.
    await page.goto(origin + link);
    await page.getByLabel(say.fresh).fill("yet another horse");
    await press(say.set);
    await shows(say.used);
    await sound("used");
    await press(say.another);
    await page.getByRole("button", { name: say.send }).waitFor();

    await page.locator("main a[href='/sign-in']").click();
    await page.getByLabel(say.email).fill(email);
    await page.getByLabel(say.password, { exact: true }).fill(password);
    await press(say.signIn);
    await page.waitForURL("**/account");
    await shows(email);
    assert.deepEqual(problems, []);
    await context.close();
  });
}

test("without a relay a link cannot be asked for, and the page says whom to ask", async () => {
  const { context, page, problems } = await visit(browser, { origin: process.env.GONEBOX_CLOSED_URL, path: "/reset" });
  await page.waitForSelector("main a[href='mailto:help@operator.example']");
  assert.equal(await page.locator("main form").count(), 0);
  assert.deepEqual(await accessibility(page), []);
  assert.deepEqual(problems, []);
  await context.close();
});
