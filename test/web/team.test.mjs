// The sign-in with the accounts of a team at its issuer, from the pages alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, soundness, visit } from "./harness.mjs";

const both = process.env.GONEBOX_TEAM_URL; // with passwords beside the issuer
const alone = process.env.GONEBOX_TEAM_ONLY_URL;
const issuer = process.env.GONEBOX_ISSUER_URL;
const password = "correct horse battery staple";
let browser;

// The page of the issuer is the one place elsewhere that a sign-in goes to; a wrong password is answered 401.
const others = (problems) => problems.filter((text) => !text.startsWith(`request: ${issuer}/authorize?`) && !/\b401\b/.test(text));
before(async () => (browser = await launch()));
after(() => browser?.close());

const words = {
  en: { team: "Sign in with Example Inc.", password: "Password", email: "E-mail address", signIn: "Sign in", link: "Enter its password once", wrong: "is wrong", refused: "You may not sign in here.", failed: "did not work", remove: "Delete account", fresh: "more than 10 minutes ago" },
  vi: { team: "Đăng nhập bằng Example Inc.", password: "Mật khẩu", email: "Địa chỉ e-mail", signIn: "Đăng nhập", link: "Hãy nhập mật khẩu của tài khoản đó một lần", wrong: "không đúng", refused: "Bạn không được phép đăng nhập ở đây.", failed: "không thành công", remove: "Xóa tài khoản", fresh: "quá 10 phút trước" },
};

for (const [locale, size] of [["en", "desktop"], ["vi", "phone"], ["en", "phone"], ["vi", "desktop"]]) {
  const say = words[locale];
  const pair = `${locale}-${size}`;
  const open = async (origin) => {
    const { context, page, problems } = await visit(browser, { origin, path: "/sign-in", size, locale });
    const shows = (text) => page.getByText(text, { exact: false }).filter({ visible: true }).first().waitFor();
    const press = (name) => page.getByRole("button", { name, exact: true }).filter({ visible: true }).first().click();
    const enter = async (user) => {
      await page.getByRole("link", { name: say.team }).click();
      await page.getByLabel("User").fill(user);
      await page.getByRole("button", { name: "Continue" }).click();
    };
    const left = async () => {
      assert.equal(new URL(page.url()).search + new URL(page.url()).hash, "", "the address of the page keeps something of the sign-in");
      assert.deepEqual((await context.cookies()).filter((c) => c.name === "gonebox_sign_in"), [], "the cookie with the result stays");
    };
    return { context, page, problems, shows, press, enter, left, sound: soundness(page, `team-${pair}`) };
  };

  test(`a team signs in with its issuer in ${locale} on a ${size}`, async () => {
    const { context, page, problems, shows, press, enter, left, sound } = await open(alone);
    await page.getByRole("link", { name: say.team }).waitFor();
    assert.equal(await page.locator("main form").count(), 0, "the form for a password is shown, which would be refused");
    await sound("alone");
    await enter(`gone-${pair}`);
    await shows(say.refused);
    await left();
    await sound("refused");
    await enter(`member-${pair}`);
    await page.waitForURL("**/account");
    await shows(`member-${pair}@example.org`);
    await left();
    await page.goto(`${alone}/account/settings`);
    await press(`${say.remove}…`);
    await shows(say.fresh);
    await sound("delete");
    await page.goto(`${alone}/register`);
    await page.waitForFunction(() => !document.querySelector("main form"));
    assert.deepEqual(others(problems), []);
    await context.close();
  });

  test(`a user of the team has an account already in ${locale} on a ${size}`, async () => {
    const email = `known-${pair}@example.org`;
    const registration = { email, password, locale };
    const answer = await fetch(`${both}/api/v1/auth/register`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(registration) });
    assert.equal(answer.status, 201, `POST /auth/register for ${email}`);
    const { context, page, problems, shows, press, enter, left, sound } = await open(both);
    await page.getByLabel(say.email).waitFor();
    await sound("both");
    await enter(`known-${pair}`);
    await shows(say.link);
    await left();
    await sound("link");
    await page.getByLabel(say.password, { exact: true }).fill("not the password");
    await press(say.signIn);
    await shows(say.wrong);
    await page.getByLabel(say.password, { exact: true }).fill(password);
    await press(say.signIn);
    await page.waitForURL("**/account");
    await shows(email);

    assert.deepEqual(others(problems), []);
    await context.close();

    // A callback of no attempt of this browser, as of a link that was kept, is explained.
    const stray = await open(both);
    await stray.page.goto(`${both}/api/v1/auth/oidc/callback?code=x&state=y`);
    await stray.shows(say.failed);
    await stray.left();
    await stray.context.close();
  });
}
