// Mail that attacks who reads it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { canary, deliver, htmlMail, launch, open, url } from "./harness.mjs";
import { hostile } from "./hostile.mjs";

let browser;
let server;
before(async () => {
  browser = await launch();
  server = await canary();
});
after(async () => {
  await browser?.close();
  server?.close();
});

test("hostile mail runs no script, makes no request and covers nothing", async () => {
  const { context, page, address, problems } = await open(browser);
  const mails = hostile(server.host);
  assert.ok(mails.length >= 150, `${mails.length} mails`);
  for (let i = 0; i < mails.length; i += 10) {
    await Promise.all(mails.slice(i, i + 10).map((html, j) => deliver(address, htmlMail(`Hostile ${i + j}`, html))));
  }
  const lists = await page.evaluate(async () => {
    const token = JSON.parse(localStorage.getItem("gonebox.boxes")).boxes[0].token;
    const ids = [];
    for (let cursor = ""; cursor !== null; ) {
      const answer = await fetch(`/api/v1/mailboxes/me/messages?limit=100&cursor=${cursor}`.replace(/&cursor=$/, ""), { headers: { Authorization: `Bearer ${token}` } });
      const list = await answer.json();
      ids.push(...list.data.map((message) => [message.id, message.subject]));
      cursor = list.nextCursor;
    }
    return ids;
  });
  assert.equal(lists.length, mails.length);

  // Each is opened at its own address, as a link to it does.
  for (const [id, subject] of lists) {
    await page.evaluate((hash) => {
      history.pushState({ list: true }, "", hash);
      dispatchEvent(new PopStateEvent("popstate"));
    }, `#/m/${id}`);
    await page.waitForFunction((wanted) => document.querySelector("article h2")?.textContent === wanted && document.querySelector("#tab-panel > *"), subject);
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 20)));
    const seen = await page.evaluate(() => {
      const reachable = (element) => {
        const box = element.getBoundingClientRect();
        const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return element.contains(hit) || hit?.contains(element);
      };
      const controls = [...document.querySelectorAll("header button, header a, article [role=tab], article header button")];
      return {
        pwned: globalThis.pwned,
        place: location.origin,
        covered: controls.filter((control) => control.checkVisibility() && !reachable(control)).map((control) => control.outerHTML),
        frames: [...document.querySelectorAll("iframe")].map((frame) => frame.getAttribute("sandbox")),
      };
    });
    assert.equal(seen.pwned, undefined, `${subject} ran a script`);
    assert.equal(seen.place, url, `${subject} left the page`);
    assert.deepEqual(seen.covered, [], `${subject} covers controls`);
    for (const sandbox of seen.frames) assert.ok(sandbox !== null && !sandbox.includes("allow-scripts"), `${subject}: sandbox ${sandbox}`);
  }
  assert.equal(page.frames().length <= 2, true, "a mail made frames of its own");
  assert.deepEqual(server.seen, [], "a mail reached the canary");
  // A frame that Chromium keeps from running a script says so; nothing else may be said.
  assert.deepEqual(problems.filter((problem) => !/Blocked script execution|Content Security Policy/.test(problem)), []);
  await context.close();
});
