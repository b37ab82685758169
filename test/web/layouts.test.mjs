// Ordinary mails look in the reader as in a mail client: each is drawn by the browser as it was sent, and by the reader, and
// every line of text must stand at the same place in the same type. With PAGE_SHOTS set both are put into one picture.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { deliver, htmlMail, launch, open, url } from "./harness.mjs";

const folder = new URL("../../internal/sanitize/testdata/", import.meta.url);
const names = ["action", "darkmode", "foundation", "grid", "hybrid", "mjml", "newsletter", "outlook", "purchase", "vietnamese"];
const widths = [700, 375];
const within = 3; // px
const shots = process.env.PAGE_SHOTS;

// A mail client has a font and a margin of its own for what a mail leaves open; those of the reader are given to both.
const usual = /const baseStyles = `([^`]+)`/.exec(readFileSync(new URL("../../web/src/mail.ts", import.meta.url), "utf8"))[1];

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

// Every remote image is this one.
const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="300"><rect width="600" height="300" fill="#8ab"/></svg>';
const pictures = (page) =>
  page.route((address) => !address.href.startsWith(url), (route) => route.fulfill({ contentType: "image/svg+xml", body: picture }));

/** lines lists what is written in a document: the place, the size and the colour of each run of text. */
const lines = () => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const words = node.data.replace(/[\s\u034f\u200b-\u200d\ufeff\u00ad]+/g, " ").trim();
    const parent = node.parentElement;
    if (!words || parent.closest("style, title, script") || !parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const { x, y, width, height } = range.getBoundingClientRect();
    const { color, fontSize, fontWeight } = getComputedStyle(parent);
    if (width > 1 && height > 1 && parseFloat(fontSize) > 2) found.push({ words, x, y, width, height, color, fontSize, fontWeight });
  }
  return found;
};

async function together(left, right, file) {
  const page = await browser.newPage();
  const shown = (image) => `<img style="vertical-align:top;outline:1px solid red;margin:8px" src="data:image/png;base64,${image.toString("base64")}">`;
  await page.setContent(`<body style="margin:0;background:#fff;white-space:nowrap;width:max-content">${shown(left)}${shown(right)}`);
  mkdirSync(shots, { recursive: true });
  writeFileSync(file, await page.locator("body").screenshot());
  await page.close();
}

for (const name of names) {
  test(`the mail ${name} looks as in a mail client`, async () => {
    const source = readFileSync(new URL(`${name}.in.html`, folder), "utf8");
    const { context, page, address } = await open(browser, { colorScheme: "light" });
    await pictures(page);
    await deliver(address, htmlMail(name, source));
    await page.click("a[id^=row-]");
    const load = page.getByRole("button", { name: "Load images" });
    await page.locator("iframe").waitFor();
    if (await load.isVisible()) {
      const loaded = page.locator("iframe").evaluate((frame) => new Promise((resolve) => frame.addEventListener("load", resolve, { once: true })));
      await Promise.all([loaded, load.click()]);
    }
    const original = await browser.newPage();
    original.setDefaultTimeout(90_000);
    await pictures(original);
    for (const width of widths) {
      await original.setViewportSize({ width, height: 900 });
      await original.setContent(`<!doctype html><style>${usual}</style>${source.replace(/<!doctype[^>]*>/i, "")}`);
      await page.locator("iframe").evaluate(async (frame, width) => {
        frame.style.width = `${width}px`;
        const inner = frame.contentDocument;
        await Promise.all([...inner.images].map((image) => image.complete || new Promise((resolve) => (image.onload = image.onerror = resolve))));
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        frame.style.height = "900px";
        frame.style.height = `${inner.documentElement.scrollHeight}px`;
      }, width);
      const frame = await (await page.locator("iframe").elementHandle()).contentFrame();
      const [sent, read] = [await original.evaluate(lines), await frame.evaluate(lines)];
      if (shots) await together(await original.screenshot({ fullPage: true }), await page.locator("iframe").screenshot(), `${shots}/layout-${name}-${width}.png`);
      assert.deepEqual(read.map(({ words }) => words), sent.map(({ words }) => words), `${width} px: the same text is visible`);
      const apart = sent.flatMap((line, i) => {
        const other = read[i];
        const moved = ["x", "y", "width", "height"].some((side) => Math.abs(line[side] - other[side]) > within);
        const dressed = ["color", "fontSize", "fontWeight"].some((name) => line[name] !== other[name]);
        return moved || dressed ? [`${line.words.slice(0, 40)}: ${JSON.stringify({ ...line, words: "" })} became ${JSON.stringify({ ...other, words: "" })}`] : [];
      });
      assert.deepEqual(apart, [], `${name} at ${width} px`);
    }
    await original.close();
    await context.close();
  });
}
