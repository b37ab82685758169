// What does not happen on every visit: keys, a lost network, hints, mailboxes that ended, limits.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibility, call, deliver, htmlMail, launch, open, stored, textMail, url } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

test("everything can be done by keyboard", async () => {
  const { context, page, address, problems } = await open(browser);
  await deliver(address, textMail("First", "Your code is 135790.\n"));
  await page.waitForSelector(".code-arrives");
  await deliver(address, textMail("Second", "No code here.\n"));
  await page.waitForSelector("text=Second");
  await page.keyboard.press("c");
  await page.waitForFunction(async () => (await navigator.clipboard.readText()) === "135790");
  await page.keyboard.press("a");
  await page.waitForFunction(async (wanted) => (await navigator.clipboard.readText()) === wanted, address);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForSelector("h2:focus:has-text('Second')");
  await page.keyboard.press("j");
  await page.waitForSelector("h2:focus:has-text('First')");
  await page.keyboard.press("k");
  await page.waitForSelector("h2:focus:has-text('Second')");
  await page.keyboard.press("Escape");
  await page.waitForSelector("a[id^=row-]:focus");
  await page.keyboard.press("e");
  await page.waitForSelector("[aria-live]:has-text('Extended')", { state: "attached" });
  await page.keyboard.press("n");
  await page.waitForSelector("dialog input");
  await page.keyboard.type("can");
  assert.equal(await page.inputValue("dialog input"), "can", "no shortcut answers while typing");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
  await page.keyboard.press("?");
  await page.waitForSelector("dialog kbd");
  assert.deepEqual(await accessibility(page), []);
  await page.uncheck("dialog input");
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  await page.waitForTimeout(100);
  assert.equal(await page.locator("dialog").count(), 0, "shortcuts can be turned off");
  assert.deepEqual(problems, []);
  await context.close();
});

test("the first Tab stop leads to the mail", async () => {
  const { context, page } = await open(browser);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to mail");
  await context.close();
});

test("mail that came while the network was away appears", async () => {
  const { context, page, address } = await open(browser);
  await page.waitForSelector("header :text('Live')");
  await context.setOffline(true);
  await page.waitForSelector("header :text('Offline. Showing mail up to')");
  assert.equal(await page.locator('[aria-keyshortcuts="E"]').isDisabled(), true);
  assert.deepEqual(await accessibility(page), []);
  await deliver(address, textMail("Later", "Your code is 246802.\n"));
  await context.setOffline(false);
  await page.waitForSelector(".code-arrives");
  await page.waitForSelector("header :text('Live')");
  await context.close();
});

test("after half a minute without mail there are hints, and what the delivery log says", async () => {
  const { context, page, address } = await open(browser);
  await page.clock.install();
  await page.reload();
  await page.waitForSelector("header :text('Live')");
  await page.clock.runFor(35_000);
  await page.waitForSelector("text=Nothing has come yet.");
  assert.equal(await page.locator("main li").count(), 3);
  await page.waitForSelector("text=No server has tried to reach this address.");
  await assert.rejects(deliver(address, textMail("Broken", "\0")));
  await page.clock.runFor(16_000);
  await page.waitForSelector("text=/One mail was refused .*/");
  assert.deepEqual(await accessibility(page), []);
  await context.close();
});

test("the hints say what kept mail away, in the words of the visitor", async () => {
  for (const [locale, words] of Object.entries({ en: "its sender or the address is blocked here", vi: "người gửi hoặc địa chỉ bị chặn ở đây" })) {
    const { context, page } = await open(browser, { locale });
    await page.route(/messages\?wait=1$/, (route) => {
      const diagnosis = { summary: "Refused.", causes: [{ code: "blocked", detail: "Refused.", at: "2026-03-14T12:00:00.000Z" }] };
      return route.fulfill({ json: { data: [], nextCursor: null, diagnosis } });
    });
    await page.clock.install();
    await page.reload();
    await page.waitForSelector("main h1 span");
    await page.clock.runFor(35_000);
    await page.waitForSelector(`text=${words}`);
    await context.close();
  }
});

test("a mailbox that ended since the last visit is replaced with a word", async () => {
  const { context, page, address } = await open(browser);
  const [{ token }] = await stored(page);
  await page.goto("about:blank");
  await call("DELETE", "/mailboxes/me", token);
  await page.goto(url);
  await page.waitForSelector(`text=${address} ended at`);
  // The word is there as soon as the server says that it ended, and the new address once it is made.
  await page.waitForFunction((ended) => ![ended, "", undefined].includes(document.querySelector("main h1:has(span)")?.textContent.trim()), address);
  await context.close();
});

test("a limit is said with the time to wait, and the address comes by itself", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  let refusals = 1;
  await page.route("**/api/v1/mailboxes", (route) =>
    refusals-- > 0
      ? route.fulfill({ status: 429, headers: { "Retry-After": "5" }, contentType: "application/problem+json", body: '{"code":"rate.limited","status":429}' })
      : route.continue(),
  );
  await page.goto(url, { waitUntil: "commit" }); // it may be said, and be over, before all is loaded
  await page.waitForSelector("text=/Too many new mailboxes. Try again in [1-5] s/");
  await page.waitForSelector("main h1 span");
  await context.close();
});

test("the chosen theme and language are there before the first paint", async () => {
  const { context, page } = await open(browser, { locale: "vi", colorScheme: "light" });
  await page.click("header button:last-child");
  await page.locator("dialog select").nth(0).selectOption("en");
  await page.locator("dialog select").nth(1).selectOption("dark");
  await page.route("**/{app,visitor}-*.js", (route) => route.abort());
  await page.reload({ waitUntil: "domcontentloaded" });
  // The page loads itself once more when its chunk is missing, so it is asked until it answers.
  await page.waitForFunction(() => document.documentElement.lang === "en" && document.documentElement.dataset.theme === "dark");
  await context.close();
});

test("the snippets have the token of the mailbox", async () => {
  const { context, page, address } = await open(browser);
  await deliver(address, textMail("Code", "Your code is 864213.\n"));
  await page.getByRole("button", { name: "Use it in code" }).click();
  const command = await page.textContent("dialog pre");
  const [, authorization, call] = /-H '([^']+)' '([^']+)'/.exec(command);
  const answer = await fetch(call, { headers: { Authorization: authorization.slice("Authorization: ".length) } });
  assert.equal((await answer.json()).data.code, "864213");
  for (const name of ["TypeScript", "Python", "Go", "Playwright"]) {
    await page.getByRole("tab", { name }).click();
    assert.ok((await page.textContent("dialog pre")).includes(url), name);
  }
  assert.deepEqual(await accessibility(page), []);
  await context.close();
});

test("without a network the page starts and shows what it showed last", async () => {
  const { context, page, address, problems } = await open(browser, { serviceWorkers: "allow" });
  await deliver(address, textMail("Kept", "Your code is 975310.\n"));
  await page.waitForSelector(".code-arrives");
  await page.evaluate(async () => (await navigator.serviceWorker.ready).active.state);
  await page.reload(); // so that the worker has the page, and what it loads
  await page.waitForSelector(".code-arrives");
  await context.setOffline(true);
  await page.reload();
  await page.waitForSelector("a[id^=row-]:has-text('Kept')");
  assert.equal((await page.textContent("h1")).trim(), address);
  await page.waitForSelector("header :text('Offline. Showing mail up to')");
  await page.click('[aria-keyshortcuts="C"]');
  await context.setOffline(false);
  await page.waitForSelector("header :text('Live')");
  assert.deepEqual(problems, []);
  await context.close();
});

test("a long list can be searched, and a message marked as unread", async () => {
  const { context, page, address, problems } = await open(browser);
  for (let i = 1; i <= 5; i++) await deliver(address, textMail(`Letter ${i}`, i === 3 ? "Your code is 112358.\n" : "Nothing.\n"));
  await page.waitForSelector("a[id^=row-]:has-text('Letter 5')");
  await page.getByRole("searchbox").fill("letter 4");
  await page.waitForFunction(() => document.querySelectorAll("a[id^=row-]").length === 1);
  await page.getByRole("searchbox").fill("no such thing");
  await page.waitForSelector("text=No message matches.");
  assert.deepEqual(await accessibility(page), []);
  await page.getByRole("searchbox").fill("");
  await page.getByLabel("Show", { exact: true }).selectOption("code");
  await page.waitForFunction(() => document.querySelectorAll("a[id^=row-]").length === 1);
  // The event that says that the message was read comes before the message itself.
  let reads = 0;
  await page.route("**/api/v1/messages/*", async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    reads++;
    const response = await route.fetch();
    await page.waitForSelector("a[id^=row-]:has-text('Letter 3'):not(:has-text('unread'))");
    await route.fulfill({ response });
  });
  await page.click("a[id^=row-]:has-text('Letter 3')");
  await page.getByRole("button", { name: "Mark as unread" }).click();
  await page.waitForSelector("a[id^=row-]:has-text('Letter 3'):has-text('unread')");
  assert.equal(reads, 1, "reading it again would mark it as seen");
  await page.getByLabel("Show", { exact: true }).selectOption("all");
  await page.waitForFunction(() => document.querySelectorAll("a[id^=row-]").length === 5);
  assert.deepEqual(problems, []);
  await context.close();
});

test("shortcuts work on layouts of other scripts", async () => {
  const { context, page, address } = await open(browser);
  const press = (key, code, more = {}) =>
    page.evaluate(([key, code, more]) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true, ...more })), [key, code, more]);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  // Cyrillic, Greek, Hebrew, Arabic, Thai, a dead key, an input method, and capitals.
  for (const key of ["ф", "α", "ש", "ش", "ฟ", "Dead", "Process", "Ф"]) {
    await page.evaluate(() => navigator.clipboard.writeText(""));
    await press(key, "KeyA");
    await page.waitForFunction(async (wanted) => (await navigator.clipboard.readText()) === wanted, address, { timeout: 10_000 }).catch(() => assert.fail(`${key} on the key of A copied ${JSON.stringify(key)}`));
  }
  // On a Latin layout the letter on the key's cap counts, wherever it is.
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await press("a", "KeyQ"); // French
  await page.waitForFunction(async (wanted) => (await navigator.clipboard.readText()) === wanted, address);
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await press("q", "KeyA");
  await press("ф", "KeyA", { ctrlKey: true });
  assert.equal(await copied(), "", "another letter, or one with Control, copies nothing");
  await press("؟", "Slash", { shiftKey: true });
  await page.waitForSelector("dialog kbd");
  await context.close();
});

test("a mailbox that was deleted has no unread mail", async () => {
  const { context, page, address } = await open(browser);
  await deliver(address, textMail("Unread", "Nothing.\n"));
  await page.waitForSelector("a[id^=row-]:has-text('Unread')");
  await page.keyboard.press("n");
  await page.locator("dialog form .btn-primary").click();
  await page.waitForSelector("dialog", { state: "detached" });
  const tab = page.locator(`nav button[title="${address}"]`);
  await tab.filter({ hasText: /1\s*unread/ }).waitFor();
  await tab.click();
  await page.getByRole("button", { name: "Delete", exact: true }).filter({ visible: true }).first().click();
  await page.locator("dialog .btn-error").click();
  await page.waitForSelector("text=This mailbox ended at");
  assert.equal((await tab.textContent()).trim(), address.split("@")[0]);
  assert.equal((await stored(page)).find((box) => box.address === address).unread, 0);
  await context.close();
});

test("HTML with styles in which a link is looked for breaks no policy", async () => {
  const { context, page, address, problems } = await open(browser);
  const styled = '<div style="margin:0"><p style="color:#c00">Hi.</p><a style="color:#fff" href="https://shop.example/verify?token=1"><b style="font-weight:700">Confirm</b></a></div>';
  await deliver(address, htmlMail("Welcome", styled));
  await page.locator(".code-arrives").getByText("shop.example", { exact: true }).waitFor();
  await page.click("a[id^=row-]");
  await page.locator("iframe").waitFor({ state: "visible" });
  assert.deepEqual(problems, []);
  await context.close();
});
