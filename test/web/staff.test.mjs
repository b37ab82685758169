// The staff's pages: each of them once, and what everybody else is shown instead.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { call, deliver, eventually, htmlMail, launch, operate, soundness, textMail, transfer, url, visit } from "./harness.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const words = {
  en: {
    menu: "Menu", staff: "Staff", forbidden: "403: This page is for staff only", signIn: "Sign in", email: "E-mail address", password: "Password", search: "Search", contains: "E-mail address contains",
    reset: "Reset password", disable: "Disable", enable: "Enable", disabled: "Disabled", enabled: "Enabled", makeStaff: "Make staff", makeUser: "Make user", plan: "Plan", saved: "Saved",
    copied: "I have copied it", addDomain: "Add a public domain", add: "Add", turnOff: "Turn off", turnOn: "Turn on", newNotice: "New notice", title: "Title", html: "Text in HTML", publish: "Publish", startsAt: "Shown from",
    withdraw: "Withdraw", withdrawn: "Withdrawn", newPage: "New page", key: "Key", edit: "Edit", delete: "Delete", settle: "Settle", ignore: "Credit nothing", note: "Reason", block: "Block",
    what: "What", value: "Value", remove: "Remove", address: "Address", lookUp: "Look up", end: "End mailbox", accepted: "Accepted", ended: "has ended", adjust: "Adjust points", points: "Points", balance: "The balance is 40 points.", read: "Read",
    noBackup: /No backup was ever recorded|last one was recorded/, lastBackup: "last one was recorded", acceptedPerMinute: "Accepted a minute", noSuchMailbox: "There is no such mailbox",
  },
  vi: {
    menu: "Menu", staff: "Nhân viên", forbidden: "403: Trang này chỉ dành cho nhân viên", signIn: "Đăng nhập", email: "Địa chỉ e-mail", password: "Mật khẩu", search: "Tìm", contains: "Địa chỉ e-mail có chứa",
    reset: "Đặt lại mật khẩu", disable: "Khóa", enable: "Mở khóa", disabled: "Đã khóa", enabled: "Hoạt động", makeStaff: "Đặt làm nhân viên", makeUser: "Đặt làm người dùng", plan: "Gói", saved: "Đã lưu",
    copied: "Tôi đã sao chép", addDomain: "Thêm tên miền công cộng", add: "Thêm", turnOff: "Tắt đi", turnOn: "Bật lên", newNotice: "Thông báo mới", title: "Tiêu đề", html: "Nội dung HTML", publish: "Đăng", startsAt: "Hiện từ",
    withdraw: "Rút lại", withdrawn: "Đã rút", newPage: "Trang mới", key: "Khóa", edit: "Sửa", delete: "Xóa", settle: "Xử lý", ignore: "Không cộng gì", note: "Lý do", block: "Chặn",
    what: "Đối tượng", value: "Giá trị", remove: "Gỡ", address: "Địa chỉ", lookUp: "Tra cứu", end: "Kết thúc hộp thư", accepted: "Đã nhận", ended: "đã kết thúc", adjust: "Điều chỉnh điểm", points: "Số điểm", balance: "Số dư là 40 điểm.", read: "Đọc",
    noBackup: /Chưa ghi nhận bản sao lưu nào|Bản gần nhất được ghi nhận/, lastBackup: "Bản gần nhất được ghi nhận", acceptedPerMinute: "Nhận mỗi phút", noSuchMailbox: "Không có hộp thư này",
  },
};
const password = "correct horse battery staple";

const register = async (email) => {
  const body = JSON.stringify({ email, password, locale: "en" });
  const answer = await fetch(`${url}/api/v1/auth/register`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  assert.equal(answer.status, 201, await answer.text());
};

for (const [locale, size, colorScheme] of [["en", "desktop", "light"], ["vi", "phone", "dark"], ["en", "phone", "light"], ["vi", "desktop", "dark"]]) {
  test(`the staff's pages in ${locale} on a ${size}, ${colorScheme}`, async () => {
    const say = words[locale];
    const pair = `${locale}-${size}`;
    const thorough = (locale === "en") === (size === "desktop"); // axe takes its time
    const email = `staff-${pair}@staff.example`;
    const customer = `customer-${pair}@staff.example`;
    await register(email);
    await register(customer);
    const { context, page, problems } = await visit(browser, { path: "/staff", size, locale, colorScheme });
    const main = page.locator("main");
    const shows = (text, within = page) => within.getByText(text).filter({ visible: true }).first().waitFor();
    const press = (name, within = main) => within.getByRole("button", { name, exact: true }).first().click();
    const dialog = page.locator("dialog");
    const closed = () => page.waitForSelector("dialog", { state: "detached" });
    const agree = async () => {
      await dialog.locator(".btn-error, .btn-primary").click();
      await closed();
    };
    const go = async (path) => {
      await page.goto(url + path);
      await page.waitForSelector("main h1");
    };
    const sound = soundness(page, `staff-${pair}`, thorough);

    // Without a sign-in, and without the role.
    await shows(say.forbidden);
    await main.getByRole("link", { name: say.signIn }).click();
    await page.getByLabel(say.email).fill(email);
    await page.getByLabel(say.password, { exact: true }).fill(password);
    await press(say.signIn);
    await shows(say.forbidden);
    await sound("forbidden");
    await page.getByRole("button", { name: say.menu }).click();
    assert.equal(await dialog.getByRole("link", { name: say.staff, exact: true }).count(), 0, "only staff have the link");

    // With the role, the menu leads here.
    operate("user", "set-role", email, "staff");
    await go("/account");
    await shows(email);
    await page.getByRole("button", { name: say.menu }).click();
    await dialog.getByRole("link", { name: say.staff, exact: true }).click();
    await page.waitForURL("**/staff");

    // The overview: mail that is stored and refused is counted, and it says when a backup was made.
    await main.getByText(say.noBackup).waitFor();
    await sound("overview-first");
    const read = async (heading) => Number((await main.locator("dl div", { has: page.getByText(heading, { exact: true }) }).locator("dd").textContent()).replace(",", "."));
    assert.ok((await read(say.acceptedPerMinute)) >= 0, "mails a minute");
    await assert.rejects(deliver(`nobody-${pair}@gonebox.localhost`, textMail("lost", "x")), /^Error: 550/);
    operate("backup", "record");
    await page.reload();
    await main.getByText(say.noSuchMailbox).filter({ visible: true }).waitFor();
    await main.getByText(say.lastBackup).waitFor();
    await main.locator("meter").waitFor();
    await sound("overview");
    const reported = await call("GET", "/staff/overview", JSON.parse(await page.evaluate(() => localStorage.getItem("gonebox.account"))).token);
    assert.equal(await main.getByText(reported.processes[0].version, { exact: true }).count(), 1, "the version of the one process");

    // Accounts.
    await go("/staff/users");
    await page.getByLabel(say.contains).fill(customer);
    await press(say.search);
    await page.waitForFunction(() => document.querySelectorAll("main li").length === 1);
    await sound("users");
    await main.getByLabel(say.plan).selectOption("plus");
    await shows(say.saved);
    await press(`${say.disable} ${customer}`);
    await sound("disable");
    await agree();
    await shows(say.disabled, main.locator("li"));
    await press(`${say.enable} ${customer}`);
    await agree();
    await shows(say.enabled, main.locator("li"));
    await press(`${say.adjust} ${customer}`);
    await dialog.getByLabel(say.points, { exact: true }).fill("40");
    await dialog.getByLabel(say.note).fill("for the outage");
    await sound("points");
    await dialog.locator(".btn-primary").click();
    await closed();
    await shows(say.balance);
    await press(`${say.adjust} ${customer}`);
    await dialog.getByLabel(say.points, { exact: true }).fill("-50");
    await dialog.getByLabel(say.note).fill("more than there is");
    await dialog.locator(".btn-primary").click();
    await dialog.getByRole("alert").waitFor();
    await page.keyboard.press("Escape");
    await closed();
    await press(`${say.makeStaff} ${customer}`);
    await agree();
    await press(`${say.makeUser} ${customer}`);
    await agree();
    await press(`${say.reset} ${customer}`);
    await dialog.locator(".btn-error").click();
    const fresh = await dialog.locator("p.font-mono").textContent();
    await sound("password");
    await press(say.copied, dialog);
    await closed();
    const body = JSON.stringify({ email: customer, password: fresh });
    const answer = await fetch(`${url}/api/v1/auth/token`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    assert.equal(answer.status, 200, "the password that is shown works");
    assert.equal((await answer.json()).data.account.plan, "plus");

    // Public domains.
    const domain = `staff-${pair}.example`;
    await go("/staff/domains");
    await page.getByLabel(say.addDomain).fill(domain);
    await press(say.add);
    await press(`${say.turnOff} ${domain}`);
    await agree();
    await main.getByRole("button", { name: `${say.turnOn} ${domain}` }).waitFor();
    await sound("domains");

    // A notice, with its preview. What the server removes is not in the preview either.
    const notice = `Notice ${pair}`;
    await go("/staff/notices");
    await press(say.newNotice);
    await page.getByLabel(say.title, { exact: true }).fill(notice);
    await page.getByLabel(say.html).fill("<p>Back <b>soon</b>.</p><img src=x onerror=alert(1)><script>alert(2)</script><a href='javascript:alert(3)'>here</a>");
    await page.waitForSelector("main .prose-mail b:has-text('soon')");
    assert.equal(await page.locator("main .prose-mail :is(img, script, a[href])").count(), 0);
    await page.getByLabel(say.startsAt).fill("2099-01-01T00:00"); // so that no other flow sees it
    await sound("notice");
    await press(say.publish);
    await press(`${say.withdraw} ${notice}`);
    await agree();
    await shows(say.withdrawn, main.locator("li", { hasText: notice }));
    await sound("notices");

    // A page, published and published again.
    const title = `Imprint ${pair}`;
    await go("/staff/pages");
    await press(say.newPage);
    await page.getByLabel(say.key, { exact: true }).fill(`imprint-${pair}`);
    await page.getByLabel(say.title, { exact: true }).fill(title);
    await page.getByLabel(say.html).fill("<h2>Who we are</h2>");
    await page.waitForSelector("main .prose-mail h2:has-text('Who we are')");
    await sound("page");
    await press(say.publish);
    await press(`${say.edit} ${title}`);
    await page.waitForSelector("main .prose-mail h2:has-text('Who we are')");
    await page.getByLabel(say.html).fill("<h2>Who runs this</h2>");
    await press(say.publish);
    await press(`${say.delete} ${title}`);
    await sound("pages");
    const published = await (await fetch(`${url}/api/v1/content/pages/imprint-${pair}`)).json();
    assert.match(published.data.html, /Who runs this/);
    await agree();
    await main.getByRole("heading", { name: title }).waitFor({ state: "detached" });

    // A transfer without a memo.
    const id = `staff-${pair}`;
    await transfer(id, "CHUYEN TIEN", 70_000);
    await page.goto(`${url}/staff/payments`);
    // The service settles what the bank reports in the background.
    const settle = main.getByRole("button", { name: `${say.settle} ${id}` });
    for (const end = Date.now() + 60_000; !(await settle.isVisible()); ) {
      assert.ok(Date.now() < end, "the transfer is left for staff");
      await page.reload();
      await page.waitForSelector("main :is(ul[aria-label], p.card-plain)");
    }
    await sound("payments");
    await settle.click();
    await dialog.getByLabel(say.ignore).check();
    await dialog.getByLabel(say.note).fill("not for us");
    await sound("settle");
    await agree();
    await settle.waitFor({ state: "detached" });

    // A block.
    await go("/staff/blocks");
    await page.getByLabel(say.what).selectOption("sender");
    await page.getByLabel(say.value, { exact: true }).fill(`@spam-${pair}.example`);
    await press(say.block);
    await main.getByRole("button", { name: `${say.remove} @spam-${pair}.example` }).waitFor();
    await sound("blocks");
    await press(`${say.remove} @spam-${pair}.example`);
    await agree();
    await main.getByRole("heading", { name: `@spam-${pair}.example` }).waitFor({ state: "detached" });

    // A mail for nobody, by an ingress.
    const headers = { Authorization: `Basic ${btoa("home:a secret of the flows")}`, "X-Envelope-From": "app@company.test", "X-Envelope-To": "nosuch@gonebox.localhost", "Content-Type": "message/rfc822" };
    const refused = await fetch(`${url}/api/v1/ingress/home`, { method: "POST", headers, body: textMail("lost", "x").replaceAll(/\r?\n/g, "\r\n") });
    assert.equal(refused.status, 406, await refused.text());
    await go("/staff/ingresses");
    await main.getByRole("heading", { name: "home" }).waitFor();
    await eventually(async () => {
      await page.reload();
      await page.waitForSelector("main h2");
      return (await main.getByText("550 5.1.1").count()) === 1;
    });
    await sound("ingresses");

    // Mail to postmaster, in HTML, read and deleted.
    const report = `Report ${pair}`;
    await deliver("postmaster@gonebox.localhost", htmlMail(report, "<h1>You sent spam</h1><script>alert(1)</script>"));
    await go("/staff/messages");
    await press(`${say.read} ${report}`);
    await page.frameLocator("main iframe").locator("h1:has-text('You sent spam')").waitFor();
    await main.locator("summary").first().click();
    await sound("messages");
    await press(`${say.delete} ${report}`);
    await agree();
    await main.getByRole("heading", { name: report }).waitFor({ state: "detached" });

    // A mailbox and its mail.
    const made = await fetch(`${url}/api/v1/mailboxes`, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
    const { address } = (await made.json()).data;
    await deliver(address, textMail("Hello", "Nothing to see.\n"));
    await go("/staff/mailboxes");
    await page.getByLabel(say.address).fill(address);
    await press(say.lookUp);
    await shows(say.accepted);
    await sound("mailboxes");
    await press(say.end);
    await agree();
    await shows(say.ended);

    // All of it is in the audit log.
    await go("/staff/audit");
    await shows("mailbox.end");
    await shows("user.reset-password");
    await sound("audit");
    await go("/staff/nothing");
    assert.equal(await main.getByRole("link").count(), 1, "an unknown page leads to the first");
    // Chromium reports that the policy keeps the handler in the HTML of the notice from running.
    assert.deepEqual(problems.filter((text) => !/^Executing inline event handler .* has been blocked\.$/.test(text)), []);
    await context.close();
  });
}
