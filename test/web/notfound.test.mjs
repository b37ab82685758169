// An address at which nothing is, opened in a browser: a page says so and leads back.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, overflow, accessibility, soundness, url, visit } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const words = {
  en: { heading: "There is no such page.", text: "Its address may be misspelt, or what was there is gone.", home: "Go to the mailbox" },
  vi: { heading: "Không có trang này.", text: "Địa chỉ có thể bị gõ sai, hoặc nội dung ở đó không còn nữa.", home: "Đến hộp thư" },
};

for (const size of ["desktop", "phone"]) {
  for (const [locale, colorScheme] of [["en", "light"], ["vi", "dark"]]) {
    test(`an unknown address has a page that leads back: ${size}, ${locale}, ${colorScheme}`, async () => {
      const viewport = size === "phone" ? { width: 375, height: 812 } : { width: 1280, height: 800 };
      const { context, page, problems } = await visit(browser, { size, locale, colorScheme, viewport });
      await page.locator("main h1:has(span)").waitFor();
      const calls = [];
      page.on("request", (request) => request.method() === "POST" && calls.push(request.url()));
      for (const path of ["/nothing", "/nothing/at/all.html", "/docs/nothing", "//nothing/here"]) {
        const answer = await page.goto(url + path);
        assert.equal(answer.status(), 404, path);
        await page.getByRole("heading", { name: words[locale].heading }).waitFor();
        assert.equal(await page.getByText(words[locale].text).isVisible(), true, path);
        assert.equal(await page.title(), `${words[locale].heading} · Gonebox`);
      }
      await soundness(page, `notfound-${size}-${locale}`)("open");
      assert.deepEqual(calls, [], "nothing was made for it");

      await page.getByRole("link", { name: words[locale].home }).click();
      await page.locator("main h1:has(span)").waitFor();
      assert.equal(new URL(page.url()).pathname, "/");
      await page.goBack();
      await page.getByRole("heading", { name: words[locale].heading }).waitFor();
      await page.reload();
      await page.getByRole("heading", { name: words[locale].heading }).waitFor();
      assert.deepEqual(problems, []);
      await context.close();
    });
  }
}

test("an unknown address below a path leads back to that path", async () => {
  const { context, page, problems } = await visit(browser, { origin: process.env.GONEBOX_PATH_URL, path: "/mail/nothing" });
  await page.getByRole("link", { name: words.en.home }).click();
  await page.locator("main h1:has(span)").waitFor();
  assert.equal(new URL(page.url()).pathname, "/mail/");
  assert.deepEqual([await accessibility(page), await overflow(page)], [[], false]);
  assert.deepEqual(problems, []);
  await context.close();
});

test("what a page fetches at an unknown address is a problem, not a page", async () => {
  const { context, page, problems } = await visit(browser);
  const [status, type] = await page.evaluate(async () => {
    const answer = await fetch("/nothing");
    return [answer.status, answer.headers.get("Content-Type")];
  });
  assert.deepEqual([status, type], [404, "application/problem+json"]);
  assert.deepEqual(problems, []);
  await context.close();
});
