// Services that do not register everybody.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibility, launch, visit } from "./harness.mjs";

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
  await register(page, "ada@example.org");
  await page.getByLabel("Invitation code").fill("not an invitation");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.waitForSelector("[role=alert]:has-text('Registration needs a valid invitation here.')");
  assert.deepEqual(await accessibility(page), []);
  await page.getByLabel("Invitation code").fill(process.env.GONEBOX_INVITE);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.waitForURL("**/account");
  await context.close();
});

test("closed registration is said", async () => {
  const { context, page } = await visit(browser, { origin: process.env.GONEBOX_CLOSED_URL, path: "/register" });
  await register(page, "ada@example.org");
  await page.waitForSelector("[role=alert]:has-text('Registration is closed here')");
  assert.deepEqual(await accessibility(page), []);
  await context.close();
});
