// A mail with a verification link and no code, in both languages, on a desktop and on a phone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibility, deliver, eventually, htmlMail, launch, open, overflow, textMail, url } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const words = {
  en: { title: "Verification link", open: "Open", unverified: "Sender not verified", unread: "unread", hello: "Verification link from Quick Shop, which leads to click.quickshop.example" },
  vi: { title: "Liên kết xác minh", open: "Mở", unverified: "Chưa xác thực người gửi", unread: "chưa đọc", hello: "Liên kết xác minh từ Quick Shop, dẫn đến click.quickshop.example" },
};
const address = "https://click.quickshop.example/ls/click?upn=u001.abcdefghijklmnopqrstuvwxyz0123456789";
const welcome = `<p>Hello.</p><p><a href="${address}">https://bank.example - confirm your address</a></p>
<p><a href="https://quickshop.example/sale">Sale</a> <a href="https://quickshop.example/unsubscribe?token=1">Unsubscribe</a></p>`;

/** stored lists the messages of the first mailbox as the server has them. */
async function stored(page) {
  const token = await page.evaluate(() => JSON.parse(localStorage.getItem("gonebox.boxes")).boxes[0].token);
  const answer = await fetch(`${url}/api/v1/mailboxes/me/messages`, { headers: { Authorization: `Bearer ${token}` } });
  return (await answer.json()).data;
}

for (const locale of ["en", "vi"]) {
  for (const size of ["desktop", "phone"]) {
    const colorScheme = (locale === "en") === (size === "desktop") ? "light" : "dark";
    test(`a verification link in ${locale} on a ${size}, ${colorScheme}`, async () => {
      const say = words[locale];
      const { context, page, problems, address: mailbox } = await open(browser, { size, locale, colorScheme });
      await page.waitForSelector("header .dot");
      const card = page.locator(".code-arrives");

      // It arrives while the tab is not looked at.
      await page.evaluate(() => (document.hasFocus = () => false));
      await deliver(mailbox, htmlMail("Welcome", welcome));
      await card.waitFor();
      await page.waitForSelector(`[aria-live]:has-text("${say.hello}")`, { state: "attached" });
      assert.equal(await page.title(), `${say.title} · Quick Shop`);
      assert.match(await page.getAttribute("link[rel=icon]", "href"), /favicon-new/);
      await page.evaluate(() => delete document.hasFocus);
      await page.evaluate(() => dispatchEvent(new Event("focus")));
      assert.match(await page.getAttribute("link[rel=icon]", "href"), /favicon\.svg/);

      // The host is shown in full, and nothing that the mail calls the link.
      assert.equal(await card.getAttribute("aria-label"), say.title);
      assert.equal(await card.getByText("click.quickshop.example", { exact: true }).isVisible(), true);
      assert.equal(await card.getByText("bank.example").count(), 0);
      await card.getByText(say.unverified).waitFor();
      const link = card.getByRole("link");
      assert.equal((await link.textContent()).trim(), say.open);
      assert.equal(await link.getAttribute("href"), address);
      assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
      assert.equal(await link.getAttribute("target"), "_blank");
      await page.keyboard.press("c");
      await page.waitForFunction(async (wanted) => (await navigator.clipboard.readText()) === wanted, address);
      assert.deepEqual(await accessibility(page), []);
      assert.equal(await overflow(page), false);
      if (process.env.PAGE_SHOTS) await page.screenshot({ path: `${process.env.PAGE_SHOTS}/link-${locale}-${size}.png` });

      // Looking for the link has not read the message for the person.
      await eventually(async () => !(await stored(page))[0].seen);
      await page.waitForSelector(`a[id^=row-]:has-text("(${say.unread})")`);

      // A newer code takes its place, mail with neither leaves that there, and the reader shows the link.
      await deliver(mailbox, textMail("Your code", "Your verification code is 483920.\n"));
      await card.getByText("483", { exact: true }).waitFor();
      await deliver(mailbox, textMail("Sale", "See https://quickshop.example/sale and https://quickshop.example/new\n"));
      await page.waitForSelector("a[id^=row-]:has-text('Sale')");
      assert.equal(await card.getByText("483", { exact: true }).isVisible(), true);
      await page.click("a[id^=row-]:has-text('Welcome')");
      await page.locator("article").getByText("click.quickshop.example", { exact: true }).waitFor();
      await page.waitForFunction((unread) => !document.querySelector("main ul li:last-child a").textContent.includes(unread), say.unread);
      await eventually(async () => (await stored(page))[2].seen); // a message that was opened stays read

      // After a reload the newest mail decides again.
      await page.goBack();
      await deliver(mailbox, htmlMail("Again", welcome));
      await card.getByText("click.quickshop.example", { exact: true }).waitFor();
      await page.reload();
      await card.getByText("click.quickshop.example", { exact: true }).waitFor();
      assert.deepEqual(problems, []);
      await context.close();
    });
  }
}
