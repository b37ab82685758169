// Who sent the newest code: the card shows the address itself at every width, since the name is whatever the sender
// wants, and whether the sender is verified as the service tells it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deliver, launch, open } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const mail = (from) => `From: ${from}\nSubject: Your code 482913\n\nYour code is 482913\n`;

for (const size of ["desktop", "phone"]) {
  test(`the card shows the sender's address: ${size}`, async () => {
    const { context, page, problems, address } = await open(browser, { size });
    await deliver(address, mail('"service@bank.example" <attacker-with-a-long-name@evil.example>'), "<dmarc=pass@evil.example>");
    const card = page.locator("section.code-arrives");
    const shown = card.getByText("<attacker-with-a-long-name@evil.example>");
    await shown.waitFor({ state: "visible" });
    const box = await shown.boundingBox();
    const { width } = page.viewportSize();
    assert.ok(box.width > 0 && box.height > 0 && box.x >= 0 && box.x + box.width <= width, `the address is at ${JSON.stringify(box)}, the page is ${width} wide`);
    assert.ok(await card.getByText("Sender not verified").isVisible());
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "the page can be scrolled sideways");

    // What the service says is shown, and nothing else decides.
    await page.route(/\/api\/v1\/mailboxes\/me\/messages/, async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      for (const message of json.data) message.verified = true;
      await route.fulfill({ response, json });
    });
    await page.reload();
    await card.getByText("Sender verified").waitFor({ state: "visible" });
    assert.deepEqual(problems, []);
    await context.close();
  });
}
