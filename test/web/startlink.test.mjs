// The link that the start of a service with profile dev prints: it signs a browser in to the account of the profile, and no link signs
// it in to another account.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, soundness, url, visit } from "./harness.mjs";

const origin = process.env.GONEBOX_DEV_URL;
const [, own] = process.env.GONEBOX_DEV_LINK.split("#token=");
const dev = "dev@gonebox.localhost";
const says = { en: "This sign-in link has expired or is not from this service.", vi: "Liên kết đăng nhập này đã hết hạn hoặc không phải của dịch vụ này." };
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** register registers an account at a service and returns what a device that is signed in to it has stored. */
async function register(service, email) {
  const body = JSON.stringify({ email, password: "correct horse battery staple", locale: "en" });
  const answer = await fetch(`${service}/api/v1/auth/register`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  assert.equal(answer.status, 201, `POST /auth/register for ${email}`);
  return { token: (await answer.json()).data.token, email, role: "user" };
}

const statusOf = async (token) => (await fetch(`${origin}/api/v1/me`, { headers: { Authorization: `Bearer ${token}` } })).status;
const kept = (page) => page.evaluate(() => JSON.parse(localStorage.getItem("gonebox.account") ?? "{}").token ?? "");
const isClean = (page, path) => assert.equal(page.url().replace(/^https?:\/\/[^/]+/, ""), path, "the address of the page keeps something of the link");

for (const [locale, size] of [["en", "desktop"], ["vi", "phone"]]) {
  test(`the link of the start signs in, in ${locale} on a ${size}`, async () => {
    const { context, page, problems } = await visit(browser, { origin, path: "/prices", size, locale });
    page.on("request", (request) => assert.ok(!request.url().includes("xu_"), `the token is in the address of a request: ${request.url()}`));
    await page.goto(process.env.GONEBOX_DEV_LINK);
    await page.waitForURL("**/account");
    await page.getByText(dev).filter({ visible: true }).first().waitFor();
    isClean(page, "/account");
    assert.equal(await kept(page), own);
    await page.goBack();
    await page.waitForURL("**/prices"); // not the link again
    assert.deepEqual(problems, []);
    await context.close();
  });

  test(`a link with another token signs nobody in, in ${locale} on a ${size}`, async () => {
    const stranger = await register(origin, `stranger-${locale}@example.org`);
    const { context, page, problems } = await visit(browser, { origin, path: "/sign-in", size, locale });
    for (const token of [stranger.token, `xu_${"0".repeat(43)}`, "", "%00", "x y", own.slice(0, -1)]) {
      await page.goto(`${origin}/prices`);
      await page.goto(`${origin}/sign-in#token=${token}`);
      await page.getByRole("alert").getByText(says[locale]).waitFor();
      isClean(page, "/sign-in");
      assert.equal(await kept(page), "", `a link with the token ${token} signed in`);
    }
    await soundness(page, `startlink-${locale}-${size}`)("refused");

    // The right one works where the page is shown already.
    await page.evaluate((hash) => (location.hash = hash), `#token=${own}`);
    await page.waitForURL("**/account");
    assert.equal(await kept(page), own);
    assert.equal(await statusOf(stranger.token), 200);
    assert.deepEqual(problems, []);
    await context.close();
  });
}

test("whoever is signed in stays so after a wrong link, and changes accounts by the right one", async () => {
  const before = await register(origin, "before@example.org");
  const stranger = await register(origin, "stranger@example.org");
  const { context, page, problems } = await visit(browser, { origin, path: "/prices" });
  await page.evaluate((account) => localStorage.setItem("gonebox.account", JSON.stringify(account)), before);
  await page.goto(`${origin}/sign-in#token=${stranger.token}`);
  await page.getByRole("alert").getByText(says.en).waitFor();
  assert.equal(await kept(page), before.token);
  await page.goto(`${origin}/prices`);
  await page.goto(process.env.GONEBOX_DEV_LINK);
  await page.waitForURL("**/account");
  await page.getByText(dev).filter({ visible: true }).first().waitFor();
  assert.equal(await kept(page), own);
  assert.equal(await statusOf(before.token), 401, "GET /me with the token of the sign-in before");
  assert.deepEqual(problems, []);
  await context.close();
});

test("without the profile no link signs in, whatever the address of its account", async () => {
  const account = await register(url, dev);
  const { context, page, problems } = await visit(browser, { path: `/sign-in#token=${account.token}` });
  await page.getByRole("alert").getByText(says.en).waitFor();
  isClean(page, "/sign-in");
  assert.equal(await kept(page), "");
  assert.deepEqual(problems, []);
  await context.close();
});
