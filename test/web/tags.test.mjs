// Tags are given in the inbox: to an open message, and to those that are selected.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { call, deliver, eventually, htmlMail, launch, signIn, signUp, soundness, textMail, visit } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

/** inboxOf opens the inbox of a new account that has some messages, the first subject the newest. */
async function inboxOf(email, subjects, options) {
  const account = await signUp(email);
  const box = await call("POST", "/mailboxes", account.token, {});
  for (const subject of subjects.toReversed()) await deliver(box.address, textMail(subject, "x"));
  return { account, box, ...(await inboxFor(account, subjects.length, options)) };
}

/** inboxFor opens the inbox of an account once it lists so many messages. */
async function inboxFor(account, count, options) {
  const visited = await visit(browser, { path: "/sign-in", ...options });
  await signIn(visited.context, account);
  await visited.page.goto(visited.page.url().replace("/sign-in", "/inbox"));
  await eventually(async () => (await rows(visited.page).count()) === count);
  return visited;
}

const rows = (page) => page.locator("a[id^=row-]");
const subjects = (page) => rows(page).evaluateAll((links) => links.map((link) => link.firstChild.textContent));

/** tagsIn are the tags of the row of a message; a list that is narrow beside the reader does not show them. */
const tagsIn = (page, subject) =>
  page.locator("li", { has: page.getByRole("link", { name: subject }) }).locator('button[aria-label^="Find the tag"]').evaluateAll((chips) => chips.map((chip) => chip.textContent));
/** opened are the tags of the open message, or those in the dialog. */
const opened = (page) => page.getByRole("list", { name: "Tags" }).getByRole("listitem").evaluateAll((items) => items.map((item) => item.textContent.trim()));

async function shows(read, ...want) {
  await eventually(async () => JSON.stringify(await read()) === JSON.stringify(want)).catch(async (late) => {
    throw new Error(`the page shows ${JSON.stringify(await read())}, want ${JSON.stringify(want)}`, { cause: late });
  });
}

const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.labels?.[0]?.textContent ?? document.activeElement?.textContent?.trim());

test("a tag that is given in one tab shows in the others", async () => {
  const { account, context, page, problems } = await inboxOf("tags@example.org", ["third", "second", "first"]);
  const beside = await context.newPage();
  await beside.goto(page.url());
  await eventually(async () => (await rows(beside).count()) === 3);
  await beside.getByRole("link", { name: "second" }).click();
  const elsewhere = await inboxFor(account, 3);
  await elsewhere.page.getByRole("combobox", { name: /^Search all/ }).fill("tag:checkout");
  await shows(() => subjects(elsewhere.page));

  // By keyboard alone.
  await page.bringToFront();
  await page.locator("body").press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "second" }).waitFor();
  await page.keyboard.press("t");
  await eventually(async () => (await focused(page)) === "New tag");
  await page.keyboard.type("#checkout,  Build   7");
  await page.keyboard.press("Enter");
  await shows(() => opened(page), "#Build 7", "#checkout");
  await page.getByRole("status").filter({ hasText: "Tag added: checkout, Build 7" }).waitFor();
  assert.equal(await focused(page), "New tag", "the next tag can be typed");
  for (const one of [page, beside]) {
    await shows(() => tagsIn(one, "second"), "#Build 7", "#checkout");
    await shows(() => opened(one), "#Build 7", "#checkout");
  }
  await shows(() => subjects(elsewhere.page), "second"); // what the search finds now is listed

  // What is a tag already is not added again, whatever its case, and what is no tag is not sent.
  await page.keyboard.type("CHECKOUT");
  await page.keyboard.press("Enter");
  await eventually(async () => (await page.getByLabel("New tag").inputValue()) === "");
  await page.keyboard.type("khẩn cấp");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").filter({ hasText: "Tags have letters a to z" }).waitFor();
  assert.deepEqual(await opened(page), ["#Build 7", "#checkout"]);
  await page.keyboard.press("Escape");
  await eventually(async () => (await focused(page)) === "Add tag");
  assert.equal(await page.getByRole("heading", { name: "second" }).isVisible(), true, "Escape closes the field, and the message stays open");

  // Removing leaves the focus on what can be removed next, and then where one can be added.
  await page.getByRole("button", { name: "Remove the tag Build 7" }).focus();
  await page.keyboard.press("Enter");
  await shows(() => opened(beside), "#checkout");
  assert.equal(await focused(page), "Remove the tag checkout");
  await page.keyboard.press("Enter");
  await shows(() => tagsIn(beside, "second"));
  assert.equal(await focused(page), "Add tag");
  assert.deepEqual(await subjects(elsewhere.page), ["second"], "a row stays until one searches again");
  assert.deepEqual([...problems, ...elsewhere.problems], []);
  await context.close();
  await elsewhere.context.close();
});

test("messages that are selected get a tag beside those that they have, and lose one", async () => {
  const { account, context, page, problems } = await inboxOf("tag-many@example.org", ["third", "second", "first"]);
  const [third, second] = await call("GET", "/me/messages", account.token);
  await call("PATCH", "/me/messages", account.token, { ids: [third.id], tags: ["old"] });
  await call("PATCH", "/me/messages", account.token, { ids: [second.id], tags: Array.from({ length: 19 }, (_, i) => `t${i + 10}`) });
  await shows(() => tagsIn(page, "third"), "#old");

  await page.locator("body").press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("Shift+J");
  await page.getByText("2 selected").waitFor();
  await page.keyboard.press("t");
  const dialog = page.getByRole("dialog", { name: "Tags of 2 messages" });
  await dialog.waitFor();
  await eventually(async () => (await focused(page)) === "New tag");
  await page.keyboard.type("urgent");
  await page.keyboard.press("Enter");
  await dialog.getByText("#urgent").waitFor();
  await page.keyboard.type("one-more");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").filter({ hasText: "at most 20 tags" }).waitFor();
  await dialog.getByRole("button", { name: "Remove the tag t10" }).click();
  await dialog.getByText("#t10").waitFor({ state: "detached" });
  await dialog.getByRole("status").filter({ hasText: "Tag removed: t10" }).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  const tags = async () => (await call("GET", "/me/messages", account.token)).map((mail) => [mail.subject, mail.tags?.length ?? 0, (mail.tags ?? []).filter((tag) => !tag.startsWith("t"))]);
  await shows(tags, ["third", 2, ["old", "urgent"]], ["second", 19, ["urgent"]], ["first", 0, []]);
  await shows(() => tagsIn(page, "third"), "#old", "#urgent");

  // A message that is not selected, from its row; and what failed is shown as it was.
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "first" }).focus();
  await page.keyboard.press("t");
  await page.getByRole("dialog", { name: "Tags of 1 message" }).waitFor();
  await page.route("**/api/v1/me/messages", (route) => route.fulfill({ status: 503, contentType: "application/problem+json", body: '{"status":503,"code":"server.unavailable"}' }));
  await eventually(async () => (await focused(page)) === "New tag");
  await page.keyboard.type("lost");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("alert").waitFor();
  assert.deepEqual(await opened(page), []);
  assert.deepEqual(await tagsIn(page, "first"), []);
  assert.deepEqual(problems, []);
  await context.close();
});

for (const size of ["desktop", "phone"]) {
  for (const [locale, colorScheme] of [["en", "light"], ["vi", "dark"]]) {
    test(`tags are accessible and fit: ${size}, ${locale}, ${colorScheme}`, async () => {
      const name = `${size}-${locale}`;
      const viewport = size === "phone" ? { width: 375, height: 812 } : { width: 1280, height: 800 };
      const { account, box, context, page, problems } = await inboxOf(`tags-${name}@example.org`, ["Your invoice of March", "Welcome"], { size, locale, colorScheme, viewport });
      await deliver(box.address, htmlMail("Reset your password", "<p>Your code is <b>482913</b>.</p>"));
      await eventually(async () => (await rows(page).count()) === 3);
      await call("PATCH", "/me/messages", account.token, { all: true, tags: ["checkout", "Build 7"] });
      const [newest] = await call("GET", "/me/messages", account.token);
      await call("PATCH", "/me/messages", account.token, { ids: [newest.id], tags: ["checkout", "password reset", "release 2026.3", "a-word-that-goes-on-and-on-".repeat(3)] });
      const sound = soundness(page, `tags-${name}`);
      await rows(page).first().click();
      const add = page.getByRole("button", { name: locale === "vi" ? "Thêm nhãn" : "Add tag" });
      await add.waitFor();
      await eventually(async () => (await page.locator(".mails-chip").count()) === 4);
      await sound("open");
      await add.click();
      await page.keyboard.type("ưu tiên");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").waitFor();
      await sound("wrong");
      await page.goBack();
      await rows(page).first().waitFor();
      await page.getByRole("checkbox").nth(1).click();
      await page.getByRole("checkbox").nth(2).click();
      await sound("selected");
      await page.getByRole("button", { name: locale === "vi" ? "Nhãn" : "Tags", exact: true }).click();
      await page.getByRole("dialog").waitFor();
      await sound("dialog");
      assert.deepEqual(problems, []);
      await context.close();
    });
  }
}
