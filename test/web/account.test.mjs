// An account from its registration to a paid plan, in both languages, on a desktop and on a phone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibility, deliver, endpoint, launch, mx, names, operateOn, signs, soundness, textMail, totp, transfer, txt, url, visit } from "./harness.mjs";

const records = {};
let browser;
let dns;
let receiver;
before(async () => {
  browser = await launch();
  receiver = await endpoint();
  records["A hooks.gonebox-flows.net"] = Buffer.from(receiver.host);
  dns = await names(records);
});
after(async () => {
  await browser?.close();
  dns?.close();
  receiver?.close();
});

const words = {
  en: {
    register: "Create account", signIn: "Sign in", signOut: "Sign out", email: "E-mail address", password: "Password", turnOn: "Turn on", turnOff: "Turn off",
    digits: "Six digits", confirm: "Confirm", copied: "I have copied it", totp: "Code from your app", newMailbox: "New mailbox", name: "Name",
    open: "Open", domain: "Add a domain", add: "Add", check: "Check now", missing: "not found yet", all: "Both records are there", newFilter: "New filter",
    extract: "Code is", save: "Save", code: "Code", newWebhook: "New webhook", test: "Send a test", failed: "Failed", delivered: "Delivered", second: "2 messages", again: "Deliver again", onTheWay: "It is on its way again.",
    newKey: "New key", createKey: "Create key", createWebhook: "Create webhook", revoke: "Revoke", amount: "Amount in đồng", bank: "Bank transfer", bnb: "BNB · coming soon", paid: "100 points were added", choose: "Choose Plus",
    renews: "Renews on", stop: "Do not renew", ends: "Ends on", points: "50 points", noPage: "There is no such page.", taken: "has an account already",
    wrong: "is wrong", dismiss: "Dismiss", left: "recovery codes left", catchall: "catch-all",
  },
  vi: {
    register: "Tạo tài khoản", signIn: "Đăng nhập", signOut: "Đăng xuất", email: "Địa chỉ e-mail", password: "Mật khẩu", turnOn: "Bật", turnOff: "Tắt",
    digits: "Sáu chữ số", confirm: "Xác nhận", copied: "Tôi đã sao chép", totp: "Mã từ ứng dụng", newMailbox: "Hộp thư mới", name: "Tên",
    open: "Mở", domain: "Thêm tên miền", add: "Thêm", check: "Kiểm tra ngay", missing: "chưa thấy", all: "Đã thấy cả hai bản ghi", newFilter: "Bộ lọc mới",
    extract: "Mã là", save: "Lưu", code: "Mã", newWebhook: "Webhook mới", test: "Gửi thử", failed: "Lỗi", delivered: "Đã gửi", second: "2 thư", again: "Gửi lại", onTheWay: "Đang gửi lại.",
    newKey: "Khóa mới", createKey: "Tạo khóa", createWebhook: "Tạo webhook", revoke: "Thu hồi", amount: "Số tiền (đồng)", bank: "Chuyển khoản ngân hàng", bnb: "BNB · sắp có", paid: "100 điểm đã được cộng", choose: "Chọn Plus",
    renews: "Gia hạn ngày", stop: "Không gia hạn", ends: "Kết thúc ngày", points: "50 điểm", noPage: "Không có trang này.", taken: "đã có tài khoản",
    wrong: "không đúng", dismiss: "Ẩn", left: "mã khôi phục", catchall: "nhận mọi địa chỉ",
  },
};
const password = "correct horse battery staple";

for (const [locale, size, colorScheme] of [["en", "desktop", "dark"], ["vi", "phone", "light"], ["en", "phone", "dark"], ["vi", "desktop", "light"]]) {
  test(`an account in ${locale} on a ${size}, ${colorScheme}`, async () => {
    const say = words[locale];
    const pair = `${locale}-${size}`;
    const thorough = (locale === "en") === (size === "desktop"); // axe takes its time
    const { context, page, problems } = await visit(browser, { path: "/account", size, locale, colorScheme });
    const email = `${pair}@example.org`;
    const shows = (text) => page.getByText(text, { exact: false }).filter({ visible: true }).first().waitFor();
    const press = (name, options) => page.getByRole("button", { name, exact: true, ...options }).filter({ visible: true }).first().click();
    const closed = () => page.waitForSelector("dialog", { state: "detached" });
    const go = async (path) => {
      await page.goto(url + path);
      await page.waitForSelector("main h1");
    };
    const sound = soundness(page, pair, thorough);

    // Registering. Without a sign-in every page of the account leads to it.
    await page.waitForURL("**/sign-in");
    await page.locator("main a[href='/register']").click();
    await page.waitForURL("**/register");
    await page.getByLabel(say.email).fill(email);
    await page.getByLabel(say.password, { exact: true }).fill(password);
    await sound("register");
    await press(say.register);
    await page.waitForURL("**/account");
    await shows(email);

    // Two-factor authentication, and signing in with it.
    await press(say.turnOn);
    await page.waitForSelector("dialog svg[role=img]");
    await sound("two-factor");
    const secret = await page.locator("dialog details code").textContent();
    await page.getByLabel(say.digits).fill("000000");
    await press(say.confirm);
    await page.waitForSelector("dialog [role=alert]");
    await page.getByLabel(say.digits).fill(totp(secret));
    await press(say.confirm);
    await page.waitForSelector("dialog li");
    const recovery = (await page.locator("dialog li").allTextContents())[0].trim();
    await sound("recovery");
    await press(say.copied);
    await closed();
    await shows(say.left);
    await sound("overview");
    await press(say.signOut);
    await page.waitForURL("**/sign-in");
    await page.getByLabel(say.email).fill(email);
    await page.getByLabel(say.password, { exact: true }).fill("a wrong password");
    await press(say.signIn);
    await shows(say.wrong);
    await page.getByLabel(say.password, { exact: true }).fill(password);
    await press(say.signIn);
    await page.getByLabel(say.totp).fill(recovery);
    await sound("sign-in");
    await press(say.signIn);
    await page.waitForURL("**/account");

    // A mailbox, opened on the visitor's page.
    await go("/account/mailboxes");
    await press(say.newMailbox);
    await page.locator("dialog").getByLabel(say.name, { exact: true }).fill(`box-${pair}`);
    await sound("new-mailbox");
    await page.locator("dialog .btn-primary").click();
    await closed();
    const address = `box-${pair}@gonebox.localhost`;
    await page.getByRole("button", { name: `${say.open} ${address}` }).waitFor();
    await deliver(address, textMail("A code of its own", "PIN: QX-7781-ZZ\n"));
    // The list follows the account's event stream, without a reload.
    const long = `${"Nothing to see here. ".repeat(400)}\nPIN: ZY-1188-XX\n`;
    await deliver(address, textMail("A long letter", long));
    await shows(say.second);
    await sound("mailboxes");

    // A domain: its records one after the other, then mail to any name at it.
    const domain = `mail-${pair}.gonebox-flows.net`;
    await go("/account/domains");
    await page.getByLabel(say.domain).fill(domain);
    await press(say.add);
    await shows(say.missing);
    await sound("domain-pending");
    const values = await page.locator("main li dl code").allTextContents();
    records[`TXT ${values[0]}`] = txt(values[1]);
    await press(say.check);
    await page.waitForFunction((word) => [...document.querySelectorAll("main li li")].filter((li) => li.textContent.includes(word)).length === 1, say.missing);
    records[`MX ${values[2]}`] = mx(10, values[3].replace(/\.$/, ""));
    await press(say.check);
    await shows(say.all);
    await sound("domain-verified");
    await deliver(`anything@${domain}`, textMail("Hello", "Nothing to see.\n"));
    await go("/account/mailboxes");
    await shows(say.catchall);

    // A filter, tried on the mail that came.
    await go("/account/filters");
    await press(say.newFilter);
    await page.getByLabel(say.name, { exact: true }).fill("PINs");
    await page.getByLabel(say.extract).fill("PIN: (?P<code>\\S+)");
    await page.waitForSelector("main [role=status] b:has-text('QX-7781-ZZ')");
    await page.waitForSelector("main [role=status] b:has-text('ZY-1188-XX')"); // far behind the first lines
    await sound("filter");
    await press(say.save);
    await page.waitForSelector("main li h2:has-text('PINs')");
    await sound("filters");

    // A webhook: its endpoint fails, then takes what is delivered again.
    receiver.status = 503;
    await go("/account/webhooks");
    await press(say.newWebhook);
    await page.locator("dialog input[type=url]").fill(`https://hooks.gonebox-flows.net:${receiver.port}/${pair}`);
    await sound("new-webhook");
    await page.locator("dialog").getByRole("button", { name: say.createWebhook, exact: true }).click();
    const signingSecret = (await page.locator("dialog p.font-mono").textContent()).trim();
    await press(say.copied);
    await closed();
    await press(say.test);
    await shows(`${say.failed} · 503`);
    receiver.status = 200;
    await press(say.again);
    await shows(say.onTheWay);
    await shows(`${say.delivered} · 200`);
    const deliveries = receiver.received.filter(({ path }) => path === `/${pair}`); // those of other accounts are repeated
    assert.ok(deliveries.length >= 2 && deliveries.every((delivery) => signs(signingSecret, delivery)), "each delivery is signed");
    await sound("webhooks");

    // A developer key, shown once.
    await go("/account/keys");
    await press(say.newKey);
    await page.locator("dialog").getByLabel(say.name, { exact: true }).fill("CI");
    await page.locator("dialog").getByRole("button", { name: say.createKey, exact: true }).click();
    const key = await page.locator("dialog p.font-mono").textContent();
    const answer = await fetch(`${url}/api/v1/keys/mailboxes`, { headers: { Authorization: `Bearer ${key}` } });
    assert.equal(answer.status, 200, "the key that is shown works");
    await sound("new-key");
    await press(say.copied);
    await closed();
    await sound("keys");
    await press(`${say.revoke} CI`);
    await page.locator("dialog .btn-error").click();
    await closed();
    await page.locator("main li").waitFor({ state: "detached" });

    // Points: the order turns paid by itself.
    await go("/account/wallet");
    await page.getByRole("button", { name: say.bnb }).waitFor();
    assert.equal(await page.getByRole("button", { name: say.bnb }).isDisabled(), true);
    await page.getByLabel(say.amount).fill("100000");
    await sound("wallet");
    await press(say.bank);
    await page.waitForURL("**/account/wallet/*");
    await page.waitForSelector("main svg[role=img]");
    const memo = (await page.locator("main dd").last().locator("span").first().textContent()).trim();
    await sound("order");
    await transfer(`${pair}`, `CT DEN ${memo} chuyen tien`, 100_000);
    await shows(say.paid);
    await sound("order-paid");

    // A plan, bought with them, that is not renewed.
    await go("/account/plans");
    await press(say.choose);
    await sound("plan");
    await page.locator("dialog .btn-primary").click();
    await shows(say.renews);
    await press(say.stop);
    await page.locator("dialog .btn-primary").click();
    await shows(say.ends);
    await sound("plans");
    await go("/account/wallet");
    await page.waitForSelector("main tbody tr:nth-child(2)");
    await shows(say.points);
    await sound("ledger");

    await go("/account/nothing");
    await shows(say.noPage);
    await press(say.signOut);
    await page.waitForURL("**/sign-in");
    assert.equal(await page.evaluate(() => localStorage.getItem("gonebox.account").includes("@")), false, "the device forgets the account");
    assert.deepEqual(problems, []);
    await context.close();
  });
}

test("what staff publish is shown in the language of the reader", async () => {
  // On a service of its own: a notice that arrives on the pages of another test moves what they show.
  const origin = process.env.GONEBOX_INVITE_URL;
  const operate = (...args) => operateOn(process.env.GONEBOX_INVITE_DATA, ...args);
  operate("page", "put", "terms", "--title", "Terms of use", "--html", "<h2>Be kind</h2><p>Do not send spam.</p>");
  operate("page", "put", "terms", "--locale", "vi", "--title", "Điều khoản", "--html", "<p>Đừng gửi thư rác.</p>");
  operate("notice", "publish", "--title", "Maintenance on Sunday", "--level", "warning", "--locale", "en", "--html", "<p>From two to three.</p>");
  const { context, page, problems } = await visit(browser, { origin, path: "/" });
  await page.waitForSelector("section:has-text('Maintenance on Sunday')");
  await page.getByRole("link", { name: "Terms of use" }).click();
  await page.waitForSelector("article h2:has-text('Be kind')");
  assert.deepEqual(await accessibility(page), []);
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page.reload();
  await page.waitForSelector("article h2:has-text('Be kind')");
  assert.equal(await page.getByText("Maintenance on Sunday").count(), 0, "a notice stays dismissed");
  await page.getByRole("button", { name: "Tiếng Việt" }).click();
  await page.waitForSelector("article :text('Đừng gửi thư rác.')");
  await page.goto(`${origin}/pages/nothing`);
  await page.waitForSelector("h1:has-text('Không có trang này.')");
  assert.deepEqual(problems, []);
  await context.close();
});
