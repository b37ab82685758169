// The inbox: all mail of an account. Under profile dev it is at the port of the Mailpit API without a sign-in, and that port
// alone must do: the flows there call nothing else, since visit reports every request to another origin.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import { accessibility, call, deliver, eventually, htmlMail, launch, overflow, richMail, signIn, signUp, textMail, url, visit } from "./harness.mjs";

const origin = process.env.GONEBOX_INBOX_URL;
const send = (to, raw, project) => deliver(to, raw.replace("To: you", `To: ${to}`), "<app@company.test>", process.env.GONEBOX_DEV_SMTP, project);

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

beforeEach(async () => {
  const api = `${origin}/gonebox/api/v1`;
  const { data } = await (await fetch(`${api}/auth/local`, { method: "POST" })).json();
  const headers = { Authorization: `Bearer ${data.token}`, "Content-Type": "application/json" };
  const { status } = await fetch(`${api}/me/messages`, { method: "DELETE", headers, body: JSON.stringify({ all: true }) });
  assert.equal(status, 200);
});

const openInbox = (options) => visit(browser, { origin, ...options });
const rows = (page) => page.locator("a[id^=row-]");
const subjects = (page) => page.locator("a[id^=row-]").evaluateAll((links) => links.map((link) => link.firstChild.textContent));
const field = (page) => page.getByRole("combobox", { name: /^(Search all messages|Tìm)/ });

/** counts waits until the page says how many messages there are. */
async function counts(page, want) {
  const said = () => page.getByText(/ unread$/).allTextContents();
  await eventually(async () => (await said()).includes(want)).catch(async (late) => {
    throw new Error(`the page says ${JSON.stringify(await said())}, want ${want}`, { cause: late });
  });
}

/** clear deletes all mail of the inbox through its page. */
async function clear(page) {
  await page.getByRole("button", { name: "Delete all" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete all" }).click();
  await page.getByText("No mail yet").waitFor();
}

test("the inbox shows mail as it comes, finds it, and opens it", async () => {
  const { context, page, problems } = await openInbox();
  await page.getByText("No mail yet").waitFor();
  await send("ada@company.test", textMail("Your code", "Your verification code is 482913."));
  await rows(page).first().waitFor();
  await page.getByRole("button", { name: "Copy code 482913" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "482913");

  await send("bob@company.test", richMail("731204", "127.0.0.1:1"));
  await send("ada@company.test", htmlMail("Reset your password", '<p>Reset it: <a href="http://localhost:3000/reset?token=abc">Reset password</a></p>'));
  await eventually(async () => (await rows(page).count()) === 3);
  assert.deepEqual(await subjects(page), ["Reset your password", "Your code for Quick Shop", "Your code"], "the newest is on top");
  assert.equal(await page.getByRole("link", { name: "Open the link to localhost:3000" }).getAttribute("href"), "http://localhost:3000/reset?token=abc");

  // Every prefix finds what it names, and the address of the page says what was searched.
  for (const [q, want] of [
    ["to:bob", ["Your code for Quick Shop"]],
    ["subject:reset", ["Reset your password"]],
    ["has:attachment", ["Your code for Quick Shop"]],
    ["-to:ada", ["Your code for Quick Shop"]],
    ["from:shop code", ["Your code for Quick Shop", "Your code"]],
    ["smaller:1", []],
  ]) {
    await field(page).fill(q);
    await eventually(async () => JSON.stringify(await subjects(page)) === JSON.stringify(want)).catch(async (late) => {
      throw new Error(`${q} shows ${await subjects(page)}, want ${want}`, { cause: late });
    });
    await eventually(() => new URL(page.url()).searchParams.get("q") === q);
  }
  await page.goto(`${origin}/?q=${encodeURIComponent("subject:reset")}`);
  await eventually(async () => (await subjects(page)).join() === "Reset your password");
  assert.equal(await field(page).inputValue(), "subject:reset");

  // A prefix is offered and chosen by keyboard.
  await field(page).fill("is");
  await page.getByRole("option", { name: /^is:unread/ }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await field(page).inputValue(), "is:unread ");
  await field(page).fill("after:someday");
  await page.getByRole("alert").filter({ hasText: "cannot be understood" }).waitFor();
  await page.getByRole("button", { name: "Clear the search" }).click();
  await eventually(async () => (await rows(page).count()) === 3);

  // The reader, with its widths.
  await page.getByRole("link", { name: /^Your code for Quick Shop/ }).click();
  await page.getByRole("heading", { name: "Your code for Quick Shop" }).waitFor();
  await page.getByRole("button", { name: "320" }).click();
  await eventually(async () => (await page.locator("iframe").boundingBox())?.width === 320);
  for (const tab of ["Text", "Headers", "Security", "Source", "Attachments (1)"]) {
    await page.getByRole("tab", { name: tab, exact: true }).click();
    await page.getByRole("tabpanel").locator(":scope > *").first().waitFor();
  }
  await page.keyboard.press("Escape");
  await eventually(async () => (await page.evaluate(() => document.activeElement?.id ?? "")).startsWith("row-"));
  await clear(page);
  assert.deepEqual(problems, []);
  await context.close();
});

test("the keyboard alone selects, marks, deletes and downloads", async () => {
  const { context, page, problems } = await openInbox();
  await page.getByText("No mail yet").waitFor();
  for (let i = 1; i <= 5; i++) await send(`user${i}@company.test`, textMail(`mail ${i}`, `From here on\n> quoted ${i}`));
  await eventually(async () => (await rows(page).count()) === 5);
  const unread = () => page.getByText("(unread)").count();
  assert.equal(await unread(), 5);

  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("Shift+J");
  await page.keyboard.press("Shift+ArrowDown");
  await page.getByText("3 selected").waitFor();
  await page.keyboard.press("u");
  await eventually(async () => (await unread()) === 2);

  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
  const script = "import mailbox,sys; print([(m['Subject'], m.get_payload()) for m in mailbox.mbox(sys.argv[1])])";
  const read = execFileSync("python3", ["-c", script, await saved.path()], { encoding: "utf8" });
  assert.equal(read.trim(), String.raw`[('mail 3', '>From here on\n> quoted 3\n'), ('mail 4', '>From here on\n> quoted 4\n'), ('mail 5', '>From here on\n> quoted 5\n')]`);

  await page.locator("a[id^=row-]").first().focus();
  await page.keyboard.press("Delete");
  await eventually(async () => (await subjects(page)).join() === "mail 2,mail 1");
  await eventually(() => page.evaluate(() => document.activeElement?.id.startsWith("row-") && document.activeElement.textContent.includes("mail 2"))); // the row below what was deleted
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "search");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");

  // By mouse: a range with Shift.
  await page.getByRole("checkbox", { name: "Select mail 2" }).click();
  await page.getByRole("checkbox", { name: "Select mail 1" }).click({ modifiers: ["Shift"] });
  await page.getByText("2 selected").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("No mail yet").waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("only what is on the screen is in the document, and new mail does not move what one reads", async () => {
  const { context, page, problems } = await openInbox();
  await page.getByText("No mail yet").waitFor();
  const many = 260; // more than two pages of the API
  for (let i = 1; i <= many; i++) await send("many@company.test", textMail(`mail ${i}`, "x"));
  await rows(page).first().waitFor();
  const list = page.locator(".mails-box");
  await eventually(async () => (await list.evaluate((box) => ((box.scrollTop = box.scrollHeight), box.scrollHeight / 72))) >= many);
  await page.getByRole("link", { name: "mail 1 (unread)", exact: true }).waitFor();
  assert.ok((await rows(page).count()) < 60, `${await rows(page).count()} rows are in the document`);

  await list.evaluate((box) => (box.scrollTop = 0)); // what came while it was scrolled is no longer new
  await page.getByRole("link", { name: `mail ${many} (unread)`, exact: true }).waitFor();
  await list.evaluate((box) => (box.scrollTop = 72 * 100));
  const middle = page.getByRole("link", { name: "mail 155 (unread)", exact: true });
  await middle.waitFor();
  const before = await middle.boundingBox();
  await send("many@company.test", textMail("one more", "x"));
  await page.getByRole("button", { name: "1 new message" }).waitFor();
  assert.deepEqual(await middle.boundingBox(), before);
  await page.getByRole("button", { name: "1 new message" }).click();
  await page.getByRole("link", { name: "one more (unread)" }).waitFor();

  await page.getByRole("button", { name: "Delete all" }).click();
  await page.getByRole("heading", { name: `Delete ${many + 1} messages?` }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Delete all" }).click();
  await page.getByText("No mail yet").waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("what a developer comes for is found without a hint", async () => {
  const { context, page, problems } = await openInbox();
  await page.getByText("No mail yet").waitFor();
  await send("ada@company.test", htmlMail("Reset your password", '<p>Reset it: <a href="http://localhost:3000/reset?token=abc">Reset password</a></p>'));
  await send("bob@company.test", htmlMail("Reset your password", '<p><a href="http://localhost:3000/reset?token=def">Reset password</a></p>'));
  await send("ada@company.test", richMail("731204", "127.0.0.1:1"));
  await eventually(async () => (await rows(page).count()) === 3);
  await counts(page, "3 · 3 unread");

  // The reset mail of ada, in the words that come to mind, and its link.
  await field(page).fill("ada reset");
  await eventually(async () => (await rows(page).count()) === 1);
  assert.equal(await page.getByRole("link", { name: "Open the link to localhost:3000" }).getAttribute("href"), "http://localhost:3000/reset?token=abc");

  // A link to the search, which someone else opens.
  await page.getByRole("button", { name: "Copy link to this search" }).click();
  const shared = await page.evaluate(() => navigator.clipboard.readText());
  const other = await openInbox({ path: new URL(shared).pathname + new URL(shared).search });
  await eventually(async () => (await rows(other.page).count()) === 1);
  await other.context.close();

  // As a phone shows it.
  await rows(page).first().click();
  await page.getByTitle("Phone", { exact: true }).click();
  await eventually(async () => (await page.locator("iframe").boundingBox())?.width === 375);
  await page.keyboard.press("Escape");

  // The attachment.
  await field(page).fill("prices.csv");
  await eventually(async () => (await subjects(page)).join() === "Your code for Quick Shop");
  await rows(page).first().click();
  await page.getByRole("tab", { name: "Attachments (1)" }).click();
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download prices.csv" }).click()]);
  assert.equal(saved.suggestedFilename(), "prices.csv");
  await page.keyboard.press("Escape");

  // What came before today: the prefix brings the day.
  await field(page).fill("bef");
  await page.getByRole("option", { name: /^before:/ }).click();
  assert.match(await field(page).inputValue(), /^before:\d{4}-\d\d-\d\d $/);
  await page.getByText("No message matches this search.").waitFor();
  await page.getByRole("button", { name: "Clear the search" }).click();

  // All as read, also what has not been read from the service yet.
  for (let i = 1; i <= 120; i++) await send("many@company.test", textMail(`mail ${i}`, "x"));
  await counts(page, "123 · 121 unread");
  await page.reload();
  await rows(page).first().waitFor();
  await counts(page, "123 · 121 unread");
  await page.getByRole("checkbox", { name: "Select all that are listed" }).click();
  const all = page.getByRole("button", { name: "Select all 123" });
  if (await all.count()) await all.click(); // else the rest has come meanwhile
  await page.getByText("123 selected").waitFor();
  await page.getByRole("button", { name: "Mark as read" }).click();
  await page.keyboard.press("Escape");
  await counts(page, "123 · 0 unread");
  assert.deepEqual(problems, []);
  await context.close();
});

test("what is offered for a search does not hide what it finds, and an unfinished search deletes nothing", async () => {
  const { context, page, problems } = await openInbox();
  await page.getByText("No mail yet").waitFor();
  await send("ada@company.test", richMail("731204", "127.0.0.1:1"));
  await send("bob@company.test", textMail("hello", "x"));
  await eventually(async () => (await rows(page).count()) === 2);

  // What was chosen is done with: the next click is for the list.
  await field(page).fill("has");
  await page.getByRole("option", { name: /^has:attachment/ }).click();
  await eventually(async () => (await rows(page).count()) === 1);
  await rows(page).first().click();
  await page.getByRole("heading", { name: "Your code for Quick Shop" }).waitFor();
  assert.equal(await field(page).inputValue(), "has:attachment ");
  await page.keyboard.press("Escape");

  // Nor does an empty field hide it, however it was emptied.
  for (const empty of [() => page.getByRole("button", { name: "Clear the search" }).click(), () => field(page).press("Escape")]) {
    await field(page).fill("hello ");
    await eventually(async () => (await rows(page).count()) === 1);
    if ((await page.getByRole("option").count()) > 0) await field(page).press("Escape"); // closes what is offered
    await empty();
    await eventually(async () => (await rows(page).count()) === 2);
    assert.equal(await field(page).inputValue(), "");
    assert.equal(await page.getByRole("option").count(), 0);
  }

  // A prefix without its value is no search yet, and brings the day by keyboard.
  const removing = page.getByRole("button", { name: "Delete all found" });
  await field(page).fill("hello");
  await eventually(async () => (await removing.isEnabled()) && (await rows(page).count()) === 1);
  await field(page).fill("before:");
  await eventually(() => removing.isDisabled());
  assert.equal(await page.getByRole("alert").count(), 0);
  await field(page).press("ArrowDown");
  await field(page).press("Enter");
  assert.match(await field(page).inputValue(), /^before:\d{4}-\d\d-\d\d/);
  await page.getByText("No message matches this search.").waitFor();

  await field(page).fill("after:someday");
  await page.getByRole("alert").filter({ hasText: "cannot be understood" }).waitFor();
  assert.equal(await removing.isDisabled(), true);
  assert.equal(await page.getByText(/ unread$/).count(), 0, "no search has counted what is listed");
  assert.deepEqual(problems, []);
  await context.close();
});

test("yesterday ends at midnight where one is", async () => {
  const { context, page, problems } = await openInbox({ timezoneId: "Asia/Ho_Chi_Minh" });
  await send("ada@company.test", textMail("today", "x"));
  await rows(page).first().waitFor();
  await field(page).fill("before:");
  await page.getByRole("option").click();
  assert.match(await field(page).inputValue(), /^before:\d{4}-\d\d-\d\dT00:00:00\+07:00 $/);
  await page.getByText("No message matches this search.").waitFor();
  await field(page).fill((await field(page).inputValue()).replace("before", "after"));
  await rows(page).first().waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("closing a message keeps the search that is on", async () => {
  const { context, page, problems } = await openInbox();
  await send("ada@company.test", textMail("first", "x"));
  await send("ada@company.test", textMail("second", "x"));
  await eventually(async () => (await rows(page).count()) === 2);
  await field(page).fill("first");
  await eventually(async () => (await subjects(page)).join() === "first");
  for (const close of [() => page.getByRole("button", { name: "Mark as unread" }).click(), () => page.getByRole("button", { name: "Close", exact: true }).click()]) {
    await rows(page).first().click();
    await page.locator("article h2").waitFor();
    await field(page).fill("second");
    await eventually(async () => (await subjects(page)).join() === "second");
    await close();
    await eventually(async () => (await page.locator("article").count()) === 0);
    assert.equal(await field(page).inputValue(), "second");
    assert.equal(new URL(page.url()).search + new URL(page.url()).hash, "?q=second");
    assert.equal((await subjects(page)).join(), "second");
    await field(page).fill("first");
    await eventually(async () => (await subjects(page)).join() === "first");
  }
  assert.deepEqual(problems, []);
  await context.close();
});

for (const size of ["desktop", "phone"]) {
  test(`mail of a project names its recipients, and an open message has its code to copy: ${size}`, async () => {
    const { context, page, problems } = await openInbox({ size });
    await send("ada@company.test", textMail("Your code", "Your verification code is 482913."), "flows");
    await rows(page).first().waitFor();
    await page.getByText("ada@company.test").waitFor();
    assert.equal(await page.getByText("@projects.invalid").count(), 0);

    // The name of an application finds its mail.
    await send("ada@company.test", textMail("of none", "x"));
    await eventually(async () => (await rows(page).count()) === 2);
    await field(page).fill("your flow");
    await page.getByRole("option", { name: "flows Only the project flows" }).click();
    await eventually(() => new URL(page.url()).search === "?q=your&project=flows");
    await eventually(async () => (await subjects(page)).join() === "Your code");

    await rows(page).first().click();
    await page.locator("article").getByRole("button", { name: "Copy code" }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "482913");
    assert.deepEqual(await accessibility(page), []);
    assert.equal(await overflow(page), false);
    assert.deepEqual(problems, []);
    await context.close();
  });
}

test("a phone copies the link to a search from the menu", async () => {
  const { context, page, problems } = await openInbox({ size: "phone" });
  await send("ada@company.test", textMail("first", "x"));
  await rows(page).first().waitFor();
  await field(page).fill("to:ada");
  await eventually(() => new URL(page.url()).searchParams.get("q") === "to:ada");
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Copy link" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${origin}/?q=to%3Aada`);
  assert.deepEqual(await accessibility(page), []);
  assert.deepEqual(problems, []);
  await context.close();
});

test("the reader says how a message fares in mail clients, where its links lead, and its HTML", async () => {
  const { context, page, problems } = await openInbox();
  await page.getByText("No mail yet").waitFor();
  await send("ada@company.test", htmlMail("Offers", '<div style="display:flex">Offers</div>\r\n<p><img src="http://127.0.0.1:1/a.png"></p>\r\n<p><a href="http://evil.example/in">https://bank.example/</a> <a href="https://xn--bnk-6na.example/go?url=https%3A%2F%2Fshop.example%2F"><img src="http://127.0.0.1:1/b.png" alt="Shop" width="9" height="9"></a> https://plain.example/a</p>\r\n'));
  await page.getByRole("link", { name: /^Offers/ }).click();
  const panel = page.getByRole("tabpanel");

  await page.getByRole("tab", { name: "Checks", exact: true }).click();
  await panel.getByText(/^\d+(\.\d)? of 100$/).waitFor();
  assert.deepEqual(await panel.getByRole("heading").allTextContents(), ["The whole message", "Features that some clients do not support"]);
  await panel.getByRole("listitem").filter({ hasText: "Images without alt (line 2)" }).waitFor();
  const flex = panel.getByRole("listitem").filter({ hasText: "display:flex" });
  assert.match(await flex.textContent(), /\(line 1\).*Not supported by: \w/s);
  assert.equal(await flex.getByRole("link").getAttribute("href"), "https://www.caniemail.com/features/css-display-flex/");
  assert.match(await flex.getByRole("link").getAttribute("rel"), /noreferrer/);
  await page.getByRole("combobox", { name: "Mail client" }).selectOption("Outlook");
  await eventually(async () => (await flex.textContent()).includes("Not supported by: Outlook Windows"));
  assert.doesNotMatch(/Not supported by: (.*)/.exec(await flex.textContent())[1], /Gmail|GMX|Thunderbird/);
  assert.deepEqual(await accessibility(page), []);

  await page.getByRole("tab", { name: "Links (3)", exact: true }).click();
  const links = (await panel.getByRole("listitem").all()).map((item) => item.locator("p").allTextContents());
  assert.deepEqual((await Promise.all(links)).map((lines) => lines.map((line) => line.trim())), [
    ["https://bank.example/", "http://evil.example/in", "not encrypted (http)", "the text names another host"],
    ["Shop", "https://xn--bnk-6na.example/go?url=https%3A%2F%2Fshop.example%2F", "letters of another script in the host", "passes through a redirect that counts clicks"],
    ["(no text)", "https://plain.example/a"],
  ]);
  assert.deepEqual(await accessibility(page), []);
  assert.equal(await overflow(page), false);

  await page.getByRole("tab", { name: "HTML", exact: true }).click();
  const source = panel.locator("pre");
  assert.match(await source.textContent(), /^<div style="display: ?flex;?">Offers<\/div>\n<p>/);
  assert.equal(await source.locator("span", { hasText: /^"http:\/\/evil\.example\/in"$/ }).count(), 1, "values of attributes have a colour");
  assert.deepEqual(await accessibility(page), []);
  assert.equal(await overflow(page), false);
  await panel.getByRole("button", { name: "Copy HTML" }).click();
  await eventually(async () => (await page.evaluate(() => navigator.clipboard.readText())).includes("evil.example"));

  await page.getByRole("tab", { name: "Headers", exact: true }).click();
  const filter = panel.getByRole("searchbox", { name: "Filter headers" });
  await filter.fill("subject offers");
  await eventually(async () => (await panel.locator("dt").allTextContents()).join() === "Subject:");
  await filter.fill("no such header");
  await panel.getByText("No header matches.").waitFor();
  assert.deepEqual(await accessibility(page), []);

  assert.deepEqual(problems, [], "nothing else may be asked");
  await context.close();
});

test("the reader shows the parts of a message, and saves each", async () => {
  const { context, page, problems } = await openInbox();
  await page.getByText("No mail yet").waitFor();
  await send("ada@company.test", richMail("731204", "127.0.0.1:1"));
  await page.getByRole("link", { name: /^Your code for Quick Shop/ }).click();
  await page.getByRole("tab", { name: "Parts", exact: true }).click();
  const panel = page.getByRole("tabpanel");
  await panel.getByText("text/csv").waitFor();
  const lines = (await panel.locator("li > div p:first-child").allTextContents()).map((line) => line.trim().replace(/\s+/g, " "));
  assert.deepEqual(lines, ["0multipart/mixed", "1multipart/alternative", "1.1text/plain", "1.2text/html", "2text/csv prices.csv"]);
  assert.equal(await panel.locator("ul ul ul > li").count(), 2, "parts of the alternative are nested");
  const [saved] = await Promise.all([page.waitForEvent("download"), panel.getByRole("button", { name: "Download part 2, prices.csv" }).click()]);
  assert.equal(saved.suggestedFilename(), "prices.csv");
  assert.equal(readFileSync(await saved.path(), "utf8"), "a,b");
  assert.deepEqual(await accessibility(page), []);
  assert.equal(await overflow(page), false);
  assert.deepEqual(problems, []);
  await context.close();
});

// The service may give messages tags and projects; here they are put into its answers.
test("tags and projects of a message narrow the list", async () => {
  await send("ada@company.test", textMail("tagged", "x"));
  const { context, page, problems } = await openInbox();
  await page.route(/\/me\/messages\?/, async (route) => {
    const asked = new URL(route.request().url());
    asked.searchParams.delete("project");
    asked.searchParams.delete("q");
    const response = await route.fetch({ url: asked.href });
    const body = await response.json();
    for (const mail of body.data) Object.assign(mail, { tags: ["welcome", "build 7", "a", "b"], project: "shop" });
    await route.fulfill({ response, json: body });
  });
  await page.goto(`${origin}/?project=shop`);
  await rows(page).first().waitFor();
  const asked = (name) => new URL(page.url()).searchParams.get(name);
  await page.getByRole("button", { name: "Only shop. Show all projects" }).click();
  await eventually(() => asked("project") === null);
  await page.getByText("+1", { exact: true }).waitFor(); // the tags beyond the third
  await page.getByRole("button", { name: "Only the project shop" }).click();
  await eventually(() => asked("project") === "shop");
  const [request] = await Promise.all([page.waitForRequest(/q=tag/), page.getByRole("button", { name: "Find the tag build 7" }).click()]);
  assert.deepEqual(Object.fromEntries(new URL(request.url()).searchParams), { limit: "100", q: 'tag:"build 7"', project: "shop" });
  assert.equal(await field(page).inputValue(), 'tag:"build 7"');
  assert.equal(asked("q"), 'tag:"build 7"');
  await field(page).fill("ta");
  await page.getByRole("option", { name: /^tag:/ }).waitFor();
  assert.deepEqual(await accessibility(page), []);
  assert.equal(await overflow(page), false);
  assert.deepEqual(problems, []);
  await page.unrouteAll({ behavior: "wait" });
  await context.close();
});

for (const size of ["desktop", "phone"]) {
  for (const [locale, colorScheme] of [["en", "light"], ["vi", "dark"]]) {
    test(`the inbox is accessible and fits: ${size}, ${locale}, ${colorScheme}`, async () => {
      await send("ada@company.test", richMail("620915", "127.0.0.1:1"));
      const { context, page, problems } = await openInbox({ size, locale, colorScheme });
      await rows(page).first().waitFor();
      assert.deepEqual(await accessibility(page), []);
      assert.equal(await overflow(page), false);
      await rows(page).first().click();
      await page.locator("article h2").waitFor();
      await page.locator("iframe").waitFor();
      assert.deepEqual(await accessibility(page), []);
      assert.equal(await overflow(page), false);
      await page.goBack();
      await rows(page).first().waitFor({ state: "visible" });
      assert.deepEqual(problems, []);
      await context.close();
    });
  }
}

test("the header of the public port leads to the inbox under profile dev", async () => {
  await send("ada@company.test", textMail("by the other port", "x"));
  const { context, page, problems } = await visit(browser, { origin: process.env.GONEBOX_DEV_URL });
  await page.getByRole("link", { name: "Inbox", exact: true }).click();
  await page.getByRole("link", { name: "by the other port (unread)" }).waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("an account has the mail of all its mailboxes in the inbox, and nobody else has", async () => {
  const account = await signUp("inbox@example.org");
  const one = await call("POST", "/mailboxes", account.token, {});
  const two = await call("POST", "/mailboxes", account.token, {});
  await deliver(one.address, textMail("to the first", "x"));
  await deliver(two.address, textMail("to the second", "x"));
  const { context, page, problems } = await visit(browser, { path: "/inbox" });
  await page.getByRole("heading", { name: "Sign in" }).waitFor(); // without a sign-in
  await context.close();

  const signed = await visit(browser, { path: "/sign-in" });
  await signIn(signed.context, account);
  await signed.page.goto(`${url}/account`);
  await signed.page.getByRole("link", { name: "Inbox", exact: true }).first().click();
  await eventually(async () => (await subjects(signed.page)).join() === "to the second,to the first");
  assert.equal(new URL(signed.page.url()).pathname, new URL("/inbox", url).pathname);
  assert.deepEqual([...problems, ...signed.problems], []);
  await signed.context.close();
});
