// Purchases that are sent twice, and what was ordered before.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { call, eventually, launch, operate, signIn, signUp, soundness, transfer, url, visit } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const words = {
  en: { bank: "Bank transfer", amount: "Amount in đồng", orders: "Orders", none: "No orders yet.", pending: "Waiting for your transfer", paid: "Paid", choose: "Choose Plus", buy: "Confirm", renews: "Renews on", prices: "Plans and prices", point: "points a month", yearly: "Yearly", register: "Create an account", missing: "You need", lost: "without a refund", topUp: "Buy points", buys: "Buys 500 points", points: "500 points", chooseNext: "Choose Pro", ledger: ["Top-up", "Bank transfer", "Plus · Monthly"] },
  vi: { bank: "Chuyển khoản ngân hàng", amount: "Số tiền (đồng)", orders: "Đơn", none: "Chưa có đơn nào.", pending: "Đang chờ", paid: "Đã thanh toán", choose: "Chọn Plus", buy: "Xác nhận", renews: "Gia hạn ngày", prices: "Gói và giá", point: "điểm mỗi tháng", yearly: "Theo năm", register: "Tạo tài khoản", missing: "Bạn cần thêm", lost: "không hoàn lại", topUp: "Mua điểm", buys: "Mua được 500 điểm", points: "500 điểm", chooseNext: "Chọn Pro", ledger: ["Nạp điểm", "Chuyển khoản ngân hàng", "Plus · Theo tháng"] },
};

/** twice lets the first call of an operation reach the service and loses its answer, and holds each until released. It collects the keys. */
async function twice(page, path) {
  const keys = [];
  let release = () => {};
  await page.route(`**/api/v1${path}`, async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    keys.push(route.request().headers()["idempotency-key"]);
    await new Promise((resolve) => (release = resolve));
    if (keys.length > 1) return route.continue();
    await route.fetch();
    await route.abort();
  });
  return { keys, release: () => release() };
}

for (const [locale, size, colorScheme] of [["en", "desktop", "light"], ["vi", "phone", "dark"]]) {
  test(`orders in ${locale} on a ${size}`, async () => {
    const say = words[locale];
    const pair = `orders-${locale}-${size}`;
    const account = await signUp(`${pair}@example.org`);
    const { context, page, problems } = await visit(browser, { path: "/sign-in", size, locale, colorScheme });
    await signIn(context, account);
    const shows = (text, from = page) => from.getByText(text, { exact: false }).filter({ visible: true }).first().waitFor();
    const sound = soundness(page, pair);
    const orders = page.locator("section[aria-labelledby=orders]");
    await page.goto(`${url}/account/wallet`);
    await shows(say.none, orders);

    // On Free no plan is lost, and what is missing is said before anything is sent.
    await page.goto(`${url}/account/plans`);
    await page.getByRole("button", { name: say.choose }).click();
    const dialog = page.locator("dialog");
    await shows(say.missing, dialog);
    assert.equal(await dialog.getByText(say.lost).count(), 0, "a plan is lost on Free");
    await sound("short");
    await dialog.getByRole("link", { name: say.topUp }).click();
    await page.waitForURL("**/account/wallet");

    // The answer to an order is lost: the second press gets the same order.
    const order = await twice(page, "/me/wallet/topups");
    const bank = page.getByRole("button", { name: say.bank });
    await page.getByLabel(say.amount).fill("500000");
    await shows(say.buys, page.locator("section[aria-labelledby=top-up]"));
    await bank.click();
    await eventually(async () => order.keys.length === 1 && (await bank.isDisabled()));
    order.release();
    await page.waitForSelector("form [role=alert]");
    await bank.click();
    await eventually(() => order.keys.length === 2);
    order.release();
    await page.waitForURL("**/account/wallet/*");
    assert.ok(order.keys[0], "an order has a key");
    assert.equal(order.keys[1], order.keys[0]);
    const made = await call("GET", "/me/wallet/topups", account.token);
    assert.equal(made.length, 1, `the orders are ${JSON.stringify(made)}`);

    // Yesterday's order is found, with its state, and paid.
    await page.goto(`${url}/account/wallet`);
    await orders.locator("tbody tr").first().waitFor();
    assert.equal(await orders.locator("tbody tr").count(), 1);
    await shows(say.pending, orders);
    await sound("pending");
    await transfer(pair, `CT ${made[0].memo}`, 500_000);
    await eventually(async () => (await call("GET", "/me/wallet/topups", account.token))[0].status === "paid");
    await page.reload();
    await shows(say.paid, orders);
    await sound("paid");
    await orders.getByRole("link", { name: made[0].memo }).click();
    await page.waitForURL(`**/account/wallet/${made[0].id}`);
    await shows(say.points);

    // The answer to the purchase of a plan is lost: it is debited once.
    await page.goto(`${url}/account/plans`);
    const plan = await twice(page, "/me/subscription");
    await page.getByRole("button", { name: say.choose }).click();
    assert.equal(await dialog.getByText(say.lost).count(), 0, "a plan is lost on Free");
    const buy = page.locator("dialog").getByRole("button", { name: say.buy, exact: true });
    await buy.click();
    await eventually(async () => plan.keys.length === 1 && (await buy.isDisabled()));
    plan.release();
    await page.waitForSelector("dialog [role=alert]");
    await buy.click();
    await eventually(() => plan.keys.length === 2);
    plan.release();
    await shows(say.renews);
    assert.ok(plan.keys[0], "a purchase has a key");
    assert.equal(plan.keys[1], plan.keys[0]);
    const entries = await call("GET", "/me/wallet/transactions", account.token);
    assert.deepEqual(entries.map(({ kind }) => kind), ["subscription", "topup"]);

    // A larger plan ends the one that runs, and the ledger has no words of another language.
    await page.getByRole("button", { name: say.chooseNext }).click();
    await shows(say.lost, dialog);
    await page.goto(`${url}/account/wallet`);
    const rows = page.locator("section[aria-labelledby=ledger] tbody tr");
    await rows.nth(1).waitFor();
    const ledger = (await rows.allInnerTexts()).join("\n");
    for (const word of say.ledger) assert.ok(ledger.includes(word), `the ledger is ${ledger}, without ${word}`);
    if (locale === "vi") assert.doesNotMatch(ledger, /bank|transfer|month/i);
    await sound("ledger");
    assert.deepEqual(problems, []);
    await context.close();
  });
}

for (const [locale, size, colorScheme] of [["en", "phone", "dark"], ["vi", "desktop", "light"], ["vi", "phone", "light"], ["en", "desktop", "dark"]]) {
  test(`prices before registration in ${locale} on a ${size}`, async () => {
    const say = words[locale];
    const { context, page, problems } = await visit(browser, { size, locale, colorScheme });
    await page.locator("footer").getByRole("link", { name: say.prices }).click();
    await page.waitForURL("**/prices");
    const [provider] = await call("GET", "/payment-providers");
    const plus = (await call("GET", "/plans")).find(({ name }) => name === "Plus");
    const dong = (n) => new Intl.NumberFormat(locale, { style: "currency", currency: "VND" }).format(n);
    const card = page.locator("main li", { has: page.getByRole("heading", { name: "Plus" }) });
    await card.getByText(dong(plus.prices.monthly * provider.pointPrice)).waitFor();
    await card.getByText(`${plus.prices.monthly} ${say.point}`).waitFor();
    await page.getByText(dong(provider.pointPrice)).first().waitFor();
    await soundness(page, `prices-${locale}-${size}`)("monthly");
    await page.getByRole("button", { name: say.yearly }).click();
    await card.getByText(dong(plus.prices.yearly * provider.pointPrice)).waitFor();
    await page.locator("main").getByRole("link", { name: say.register }).click();
    await page.waitForURL("**/register");
    await page.locator("main").getByRole("link", { name: say.prices }).click();
    await page.waitForURL("**/prices");
    assert.deepEqual(problems, []);
    await context.close();
  });
}

test("the rail leads staff to their pages, and nobody else", async () => {
  for (const [size, link] of [["desktop", "nav a[href='/staff']"], ["phone", "nav option[value=staff]"]]) {
    const account = await signUp(`rail-${size}@example.org`);
    const { context, page } = await visit(browser, { path: "/sign-in", size });
    await signIn(context, account);
    await page.goto(`${url}/account`);
    await page.getByText(account.email).first().waitFor();
    assert.equal(await page.locator(link).count(), 0, `${size}: a user is led to the staff's pages`);
    operate("user", "set-role", account.email, "staff");
    await page.goto(`${url}/account`);
    await page.locator(link).waitFor({ state: "attached" });
    if (size === "phone") await page.locator("nav select").selectOption("staff");
    else await page.locator(link).click();
    await page.waitForURL("**/staff");
    await page.waitForSelector("main h1:has-text('Overview')");
    await context.close();
  }
});
