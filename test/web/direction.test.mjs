// Names and subjects whose characters turn the direction of text, and languages that are written from right to left.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibility, deliver, launch, open } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const encoded = (text) => `=?UTF-8?B?${Buffer.from(text).toString("base64")}?=`;
const mail = (name, address, subject, body) => `From: ${encoded(name)} <${address}>
To: you
Subject: ${encoded(subject)}
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

${body}
`;
const controls = ["\u202e", "\u202d", "\u202a", "\u202b", "\u202c", "\u2066", "\u2067", "\u2068", "\u2069", "\u200e", "\u200f", "\u061c"];
const anyControl = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** seenFrom returns the text of the innermost element that contains words, as it stands on the screen from left to right. */
const seenFrom = (page, words) =>
  page.evaluate((words) => {
    const line = [...document.querySelectorAll("main *")].find((one) => one.childElementCount === 0 && one.textContent.includes(words) && one.checkVisibility());
    const letters = [...line.firstChild.data].map((letter, i) => {
      const range = document.createRange();
      range.setStart(line.firstChild, i);
      range.setEnd(line.firstChild, i + 1);
      return [range.getBoundingClientRect(), letter];
    });
    return letters.filter(([box]) => box.width > 0).sort(([a], [b]) => a.left - b.left).map(([, letter]) => letter).join("").trim();
  }, words);

test("no name or subject turns the text beside it", async () => {
  const { context, page, address } = await open(browser);
  for (const [i, control] of controls.entries()) {
    const sender = `moc.knab-tsrif@s${i}.evil.example`;
    await deliver(address, mail(`First ${control}Bank ${control}`, sender, `Sub${control}ject ${i}`, `Your code is ${482910 + i}.`));
    await page.waitForSelector(`a[id^=row-]:has-text("Subject ${i}")`);
    await page.waitForFunction((code) => document.title.startsWith(code), String(482910 + i));
    await page.click(`a[id^=row-]:has-text("Subject ${i}")`);
    await page.waitForSelector(`article h2:has-text("Subject ${i}")`);
    assert.ok((await seenFrom(page, `s${i}.evil.example`)).includes(sender), `the address behind a name with U+${control.codePointAt(0).toString(16)}`);
    const shown = await page.evaluate(() => [document.title, document.querySelector("main").textContent, document.querySelector("[aria-live]").textContent]);
    for (const text of shown) assert.doesNotMatch(text, anyControl, `U+${control.codePointAt(0).toString(16)} is shown`);
  }
  await context.close();
});

for (const [language, name, subject, body, latin] of [
  ["Arabic", "متجر", "تم شحن طلبك رقم 12! شكرا لك.", "شكرا لك على طلبك.", false],
  ["Hebrew", "חנות", "ההזמנה שלך (12) נשלחה!", "תודה על ההזמנה.", false],
  ["Persian", "فروشگاه", "سفارش شما ارسال شد: Shop-12", "با سپاس از شما.", false],
  ["Vietnamese", "Cửa hàng", "Đơn hàng (12) đã được gửi!", "Cảm ơn bạn.", true],
]) {
  test(`a mail in ${language} stands in the direction of its language`, async () => {
    const { context, page, address } = await open(browser);
    await deliver(address, mail(name, "a@shop.example", subject, body));
    const row = page.locator("a[id^=row-]");
    await row.waitFor();
    const wanted = latin ? "ltr" : "rtl";
    const direction = (locator) => locator.evaluate((one) => getComputedStyle(one).direction);
    assert.equal(await direction(row), wanted, "in the list");
    assert.equal(await direction(page.locator("main li bdi").first()), wanted, "the sender in the list");
    await row.click();
    assert.equal(await direction(page.locator("article h2")), wanted, "in the reader");
    const text = page.locator("#tab-panel > div").first();
    const side = await text.evaluate((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      const line = [...range.getClientRects()].find(({ width }) => width > 1);
      const box = one.getBoundingClientRect();
      return line.left - box.left > box.right - line.right ? "rtl" : "ltr";
    });
    assert.equal(side, wanted, "the text");
    assert.deepEqual(await accessibility(page), []);
    await context.close();
  });
}
