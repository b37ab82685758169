// The settings of an account, from its confirmation to its end, in both languages, on a desktop and on a phone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch, sentTo, soundness, totp, visit } from "./harness.mjs";

const origin = process.env.GONEBOX_MAIL_URL;
const password = "correct horse battery staple";
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const words = {
  en: {
    register: "Create account", email: "E-mail address", password: "Password", digits: "Six digits", confirm: "Confirm", confirmed: "Confirmed", unconfirmed: "Not confirmed",
    newEmail: "New e-mail address", sendCode: "Send a code", haveCode: "I have a code", isConfirmed: "Your e-mail address is confirmed.", wrongCode: "This code is wrong or has expired.", keysRefused: "Confirm your e-mail address first.",
    change: "Change password", current: "Current password", fresh: "New password", changed: "Your password is changed", wrong: "The password is wrong.",
    thisDevice: "This device", end: "Sign out: Chrome", others: "Sign out everywhere else", take: "Download my data", inbox: "Open the inbox", remove: "Delete account…", deleteIt: "Delete account", lose: "You lose:",
    factor: "Code from your app, or a recovery code", deleted: "Your account is deleted.", turnOn: "Turn on", copied: "I have copied it", newKey: "New key", name: "Name", createKey: "Create key", ended: "Your sign-in has ended.", signIn: "Sign in",
    wrongLogin: "is wrong",
  },
  vi: {
    register: "Tạo tài khoản", email: "Địa chỉ e-mail", password: "Mật khẩu", digits: "Sáu chữ số", confirm: "Xác nhận", confirmed: "Đã xác nhận", unconfirmed: "Chưa xác nhận",
    newEmail: "Địa chỉ e-mail mới", sendCode: "Gửi mã", haveCode: "Tôi đã có mã", isConfirmed: "Địa chỉ e-mail của bạn đã được xác nhận.", wrongCode: "Mã này không đúng hoặc đã hết hạn.", keysRefused: "Hãy xác nhận địa chỉ e-mail trước",
    change: "Đổi mật khẩu", current: "Mật khẩu hiện tại", fresh: "Mật khẩu mới", changed: "Đã đổi mật khẩu", wrong: "Mật khẩu không đúng.",
    thisDevice: "Thiết bị này", end: "Đăng xuất: Chrome", others: "Đăng xuất mọi nơi khác", take: "Tải dữ liệu của tôi", inbox: "Mở hộp thư chung", remove: "Xóa tài khoản…", deleteIt: "Xóa tài khoản", lose: "Bạn sẽ mất:",
    factor: "Mã từ ứng dụng, hoặc mã khôi phục", deleted: "Tài khoản của bạn đã được xóa.", turnOn: "Bật", copied: "Tôi đã sao chép", newKey: "Khóa mới", name: "Tên", createKey: "Tạo khóa", ended: "Phiên đăng nhập đã kết thúc.", signIn: "Đăng nhập",
    wrongLogin: "không đúng",
  },
};

/** signInElsewhere signs in to the account as another device does, and returns the token. */
async function signInElsewhere(email, secret = password) {
  const headers = { "Content-Type": "application/json", "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36" };
  const answer = await fetch(`${origin}/api/v1/auth/token`, { method: "POST", headers, body: JSON.stringify({ email, password: secret }) });
  const body = await answer.json();
  assert.equal(answer.status, 200, `POST /auth/token for ${email}: ${JSON.stringify(body)}`);
  return body.data.token;
}

/** statusWith returns the status of GET /me with a token. */
const statusWith = async (token) => (await fetch(`${origin}/api/v1/me`, { headers: { Authorization: `Bearer ${token}` } })).status;

for (const [locale, size, colorScheme] of [["en", "desktop", "dark"], ["vi", "phone", "light"], ["en", "phone", "light"], ["vi", "desktop", "dark"]]) {
  test(`the settings of an account in ${locale} on a ${size}, ${colorScheme}`, async () => {
    const say = words[locale];
    const pair = `settings-${locale}-${size}`;
    const thorough = (locale === "en") === (size === "desktop"); // axe takes its time
    const { context, page, problems } = await visit(browser, { origin, path: "/register", size, locale, colorScheme });
    const first = `${pair}@example.org`;
    const email = `${pair}-new@example.org`;
    const shows = (text, from = page) => from.getByText(text, { exact: false }).filter({ visible: true }).first().waitFor();
    const press = (name, from = page) => from.getByRole("button", { name, exact: true }).filter({ visible: true }).first().click();
    const section = (id) => page.locator(`section[aria-labelledby=${id}]`);
    const go = async (path) => {
      await page.goto(origin + path);
      await page.waitForSelector("main h1");
    };
    const sound = soundness(page, pair, thorough);

    // A key needs a confirmed address here; the code for it has been sent at the registration.
    await page.getByLabel(say.email).fill(first);
    await page.getByLabel(say.password, { exact: true }).fill(password);
    await press(say.register);
    await page.waitForURL("**/account");
    await go("/account/keys");
    await press(say.newKey);
    await page.locator("dialog").getByLabel(say.name, { exact: true }).fill("CI");
    await press(say.createKey);
    await shows(say.keysRefused);
    await go("/account");
    await page.locator("main dd a[href='/account/settings']").click();
    await shows(say.unconfirmed);
    await page.getByLabel(say.digits).fill("000000");
    await press(say.confirm);
    await shows(say.wrongCode);
    await sound("unconfirmed");
    const code = /\b\d{6}\b/.exec(await sentTo(first))?.[0] ?? "none";
    await page.getByLabel(say.digits).fill(code);
    await press(say.confirm);
    await shows(say.isConfirmed);

    // Another address: a code goes there, and the one before is told.
    const address = section("change-email");
    await address.getByLabel(say.newEmail).fill(email);
    await address.getByLabel(say.password, { exact: true }).fill("a wrong password");
    await press(say.sendCode);
    await shows(say.wrong);
    await address.getByLabel(say.password, { exact: true }).fill(password);
    await press(say.sendCode);
    await page.getByLabel(say.digits).waitFor();
    await sound("code-sent");
    const mail = await sentTo(email);
    const link = /https?:\S+/.exec(mail)?.[0] ?? "none";
    assert.equal(new URL(link).pathname, "/account/settings", `the link of the mail ${mail}`);
    await go(new URL(link).pathname);
    await press(say.haveCode);
    await sound("code-at-hand");
    await page.getByLabel(say.digits).fill(/\b\d{6}\b/.exec(mail)?.[0] ?? "none");
    await press(say.confirm);
    await shows(email, address);
    await shows(say.isConfirmed);
    assert.doesNotMatch(await sentTo(first, 1), /\b\d{6}\b/, "the notice has no code");

    // Sessions: one is ended, then all others.
    const [one, two, three] = [await signInElsewhere(email), await signInElsewhere(email), await signInElsewhere(email)];
    await go("/account/settings");
    const sessions = section("sessions");
    await sessions.locator("li:nth-child(4)").waitFor();
    await shows(say.thisDevice, sessions);
    await sound("sessions");
    await sessions.getByRole("button", { name: say.end }).first().click(); // the newest
    await sessions.locator("li:nth-child(4)").waitFor({ state: "detached" });
    assert.deepEqual(await Promise.all([one, two, three].map(statusWith)), [200, 200, 401]);
    await press(say.others);
    await sessions.locator("li:nth-child(2)").waitFor({ state: "detached" });
    assert.deepEqual(await Promise.all([one, two].map(statusWith)), [401, 401]);

    // The password: every other sign-in ends, and this one stays.
    const other = await signInElsewhere(email);
    const form = section("change-password");
    await form.getByLabel(say.current).fill("a wrong password");
    await form.getByLabel(say.fresh).fill("a horse of another colour");
    await press(say.change);
    await shows(say.wrong, form);
    await form.getByLabel(say.current).fill(password);
    await press(say.change);
    await shows(say.changed);
    assert.equal(await statusWith(other), 401);
    await signInElsewhere(email, "a horse of another colour");

    // The data.
    const download = page.waitForEvent("download");
    assert.equal(await section("export").getByRole("link", { name: say.inbox }).getAttribute("href"), "/inbox", "where mail is saved");
    await press(say.take);
    const file = await download;
    assert.equal(file.suggestedFilename(), "gonebox-account.json");
    const data = JSON.parse(readFileSync(await file.path(), "utf8"));
    assert.equal(data.account.email, email);
    assert.deepEqual(Object.keys(data).sort(), ["account", "domains", "filters", "keys", "ledger", "mailboxes", "orders", "webhooks"]);
    await sound("settings");

    // The end, with a second factor.
    await go("/account");
    await press(say.turnOn);
    const secret = await page.locator("dialog details code").textContent();
    await page.getByLabel(say.digits).fill(totp(secret));
    await press(say.confirm);
    await page.waitForSelector("dialog li");
    const recovery = (await page.locator("dialog li").allTextContents())[0].trim();
    await press(say.copied);
    await go("/account/settings");
    await press(say.remove);
    const dialog = page.locator("dialog");
    await shows(say.lose, dialog);
    await dialog.getByLabel(say.password, { exact: true }).fill(password); // the one before
    await dialog.getByLabel(say.factor).fill(recovery);
    await press(say.deleteIt, dialog);
    await shows(say.wrong, dialog);
    await sound("delete");
    await dialog.getByLabel(say.password, { exact: true }).fill("a horse of another colour");
    await press(say.deleteIt, dialog);
    await page.waitForURL("**/sign-in");
    await shows(say.deleted);
    await sound("deleted");
    assert.equal(await page.evaluate(() => localStorage.getItem("gonebox.account").includes("@")), false, "the device forgets the account");
    await page.getByLabel(say.email).fill(email);
    await page.getByLabel(say.password, { exact: true }).fill("a horse of another colour");
    await press(say.signIn);
    await shows(say.wrongLogin);
    assert.deepEqual(problems, []);
    await context.close();
  });
}
