// What the frame of a mail adds to the HTML of the server: backgrounds, small images, narrow columns, and places in the mail.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deliver, htmlMail, launch, open, url } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** read opens a mail of this HTML and gives the page and the frame. */
async function read(name, html) {
  const { context, page, address } = await open(browser, { viewport: { width: 390, height: 800 }, colorScheme: "light" });
  const asked = [];
  await page.route((address) => !address.href.startsWith(url), (route) => {
    asked.push(route.request().url());
    return route.fulfill({ contentType: "image/png", body: Buffer.from(pixel.split(",")[1], "base64") });
  });
  await deliver(address, htmlMail(name, html));
  await page.click("a[id^=row-]");
  await page.locator("iframe:not(.invisible)").waitFor();
  const frame = async () => (await page.locator("iframe").elementHandle()).contentFrame();
  return { context, page, frame, asked };
}

test("a background image is loaded with the others, and light text can be read before", async () => {
  const sea = "https://cdn.acme.example/sea.png";
  const { context, page, frame, asked } = await read("background", `<table width="300"><tr><td id="x" style="background-image:url(${sea})"><p style="color:#fff">Light</p></td><td background="${sea}">Dark</td></tr></table>`);
  const grounds = async () =>
    (await frame()).evaluate(() => [...document.querySelectorAll("td")].map((cell) => [getComputedStyle(cell).backgroundColor, getComputedStyle(cell).backgroundImage]));
  assert.deepEqual(await grounds(), [["rgb(118, 118, 118)", "none"], ["rgba(0, 0, 0, 0)", "none"]]);
  assert.deepEqual(asked, []);
  await page.getByRole("button", { name: "Load images" }).click();
  await page.waitForFunction(() => document.querySelector("iframe")?.contentDocument?.querySelector("td")?.style.backgroundImage);
  assert.deepEqual(await grounds(), [["rgba(0, 0, 0, 0)", `url("${sea}")`], ["rgba(0, 0, 0, 0)", `url("${sea}")`]]);
  await context.close();
});

test("a small image keeps its width beside a cell that takes all", async () => {
  const { context, frame } = await read("logo", `<table style="width:100%"><tr><td><img src="${pixel}" width="30" height="30"></td><td style="width:100%">Acme</td></tr></table><img src="${pixel}" width="900" height="9">`);
  const widths = await (await frame()).evaluate(() => [...document.images].map((image) => image.getBoundingClientRect().width));
  assert.equal(widths[0], 30);
  assert.ok(widths[1] <= 390, `an image of 900 px is ${widths[1]} px wide on 390`);
  await context.close();
});

test("a sum in a narrow column is not broken", async () => {
  const { context, frame } = await read("sums", `<table width="340"><tr><td width="600">We have packed your order today and hand it to the carrier tomorrow morning, weather permitting.</td><td><b>$160.00</b></td></tr></table>`);
  const height = await (await frame()).evaluate(() => document.querySelector("b").getBoundingClientRect().height);
  assert.ok(height < 40, `the sum is ${height} px high`);
  await context.close();
});

test("a link to a place in the mail stays in its frame", async () => {
  const { context, page, frame } = await read("anchor", `<p><a href="#part">Go</a></p><div style="height:3000px">x</div><h2 id="part">Part</h2>`);
  const before = page.url();
  await (await frame()).locator("a").click();
  const top = async () => (await page.locator("iframe").boundingBox()).y + (await (await frame()).evaluate(() => document.querySelector("h2").getBoundingClientRect().y));
  assert.equal((await frame()).url(), "about:srcdoc");
  assert.equal(page.url(), before);
  assert.ok((await top()) < 800, `the place is at ${await top()} px, below the window`);
  await context.close();
});
