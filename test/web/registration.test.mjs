// Services that do not register everybody.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibility, launch, overflow, visit } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const register = async (page, email) => {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery staple");
  await page.getByRole("button", { name: "Create account" }).click();
};

test("an invitation is asked for where one is needed", async () => {
  const { context, page } = await visit(browser, { origin: process.env.GONEBOX_INVITE_URL, path: "/register" });
  await page.getByLabel("Invitation code").fill("not an invitation");
  await register(page, "ada@example.org");
  await page.waitForSelector("[role=alert]:has-text('Registration needs a valid invitation here.')");
  assert.deepEqual(await accessibility(page), []);
  await page.getByLabel("Invitation code").fill(process.env.GONEBOX_INVITE);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.waitForURL("**/account");
  await context.close();
});

test("closed registration is said instead of a form, with whom to ask", async () => {
  const { context, page, problems } = await visit(browser, { origin: process.env.GONEBOX_CLOSED_URL, path: "/register", size: "phone" });
  await page.waitForSelector("main :text('Registration is closed here')");
  await page.waitForSelector("main a[href='mailto:help@operator.example']");
  assert.equal(await page.locator("main form").count(), 0);
  assert.deepEqual(await accessibility(page), []);
  assert.equal(await overflow(page), false);
  await page.locator("main a[href='/sign-in']").click();
  await page.waitForURL("**/sign-in");
  await page.waitForSelector("main a[href='mailto:help@operator.example']"); // for a forgotten password: there is no relay
  assert.equal(await page.locator("main a[href='/register'], main a[href='/reset']").count(), 0);
  assert.deepEqual(problems, []);
  await context.close();
});

for (const [locale, signIn, size] of [["en", "Sign in", "desktop"], ["vi", "Đăng nhập", "phone"]]) {
  test(`a service without guests offers a sign-in instead of an address in ${locale} on a ${size}`, async () => {
    const { context, page, problems } = await visit(browser, { origin: process.env.GONEBOX_CLOSED_URL, size, locale });
    await page.locator("main h1").getByText(signIn, { exact: true }).waitFor();
    assert.equal(await page.locator("main button").count(), 0, "what would be refused again is not offered");
    if (process.env.PAGE_SHOTS) await page.screenshot({ path: `${process.env.PAGE_SHOTS}/guests-${locale}-${size}.png` });
    assert.deepEqual(await accessibility(page), []);
    assert.equal(await overflow(page), false);
    let way = page.locator("main");
    if (size === "phone") {
      await page.locator("nav button").first().click(); // a new mailbox
      way = page.locator("dialog");
      await way.getByRole("link", { name: signIn }).waitFor();
      assert.equal(await way.locator("form").count(), 0);
      if (process.env.PAGE_SHOTS) await page.screenshot({ path: `${process.env.PAGE_SHOTS}/guests-new-${locale}.png` });
      assert.deepEqual(await accessibility(page), []);
    }
    await way.getByRole("link", { name: signIn }).click();
    await page.waitForURL("**/sign-in");
    assert.equal(await page.locator("dialog").count(), 0);
    assert.deepEqual(problems, []);
    await context.close();
  });
}
