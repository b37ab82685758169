// Every page of the account and of staff while the service is slow, fails, asks to wait, or cannot be reached: each says so in words, in
// its reader's language, and goes on once the service does.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { call, eventually, launch, signIn, signUp, soundness, url, visit } from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const words = {
  en: { loading: "Loading…", tryAgain: "Try again", failed: "This did not work.", wait: "in 7 s", unreachable: "The server cannot be reached.", lapsed: "Your sign-in has ended.", forbidden: "403: This page is for staff only" },
  vi: { loading: "Đang tải…", tryAgain: "Thử lại", failed: "Chưa thực hiện được.", wait: "sau 7 giây", unreachable: "Không kết nối được máy chủ.", lapsed: "Phiên đăng nhập đã kết thúc.", forbidden: "403: Trang này chỉ dành cho nhân viên" },
};
const pages = [
  ...["", "/mailboxes", "/domains", "/filters", "/webhooks", "/keys", "/wallet", "/plans", "/settings"].map((path) => `/account${path}`),
  ...["", "/users", "/domains", "/notices", "/pages", "/payments", "/messages", "/blocks", "/ingresses", "/audit"].map((path) => `/staff${path}`),
  "/prices",
];

const problem = (status, code, headers = {}) => ({
  status, headers: { "Content-Type": "application/problem+json", ...headers }, body: JSON.stringify({ type: "about:blank", title: "No", status, code, traceId: "0" }),
});
const answers = {
  failed: (route) => route.fulfill(problem(500, "server.internal")),
  wait: (route) => route.fulfill(problem(429, "rate.limited", { "Retry-After": "7" })),
  unreachable: (route) => route.abort("connectionrefused"),
  lapsed: (route) => route.fulfill(problem(401, "auth.invalid_token")),
};

for (const [locale, size, colorScheme] of [["en", "desktop", "light"], ["vi", "phone", "dark"], ["en", "phone", "dark"], ["vi", "desktop", "light"]]) {
  test(`pages whose calls fail, in ${locale} on a ${size}`, async () => {
    const say = words[locale];
    const pair = `failing-${locale}-${size}`;
    const thorough = (locale === "en") === (size === "desktop");
    const account = await signUp(`${pair}@failing.example`, "staff");
    const { context, page, problems } = await visit(browser, { path: "/sign-in", size, locale, colorScheme });
    await signIn(context, account);
    const sound = soundness(page, pair, thorough);
    const main = page.locator("main");

    // The pages of staff ask who is signed in before they read what they show.
    let answer = null;
    let held = [];
    await page.route("**/api/v1/**", (route) => {
      const { pathname } = new URL(route.request().url());
      if (answer === null || (page.url().includes("/staff") && pathname.endsWith("/me"))) return route.continue();
      if (answer === "slow") return void held.push(route);
      return answers[answer](route);
    });
    /** settled waits until all that has failed says a text or, without one, until all is shown. What says something else is tried again, also
        where it comes later than the rest. */
    const settled = (text) =>
      page.waitForFunction(([said, loading, tryAgain]) => {
        const shown = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
        const alerts = shown("main [role=alert]");
        const others = alerts.filter((one) => !said || !one.querySelector("p").textContent.includes(said));
        for (const one of others) [...one.querySelectorAll("button")].find((button) => button.textContent.trim() === tryAgain)?.click();
        if (said) return alerts.length > 0 && others.length === 0;
        return alerts.length === 0 && !shown("main p").some((one) => one.textContent === loading || one.textContent === "…");
      }, [text, say.loading, say.tryAgain], { polling: 500 });

    for (const path of pages) {
      const name = path.slice(1).replace("/", "-");
      answer = "slow";
      held = [];
      await page.goto(url + path);
      await main.getByText(/Loading…|Đang tải…|^…$/).filter({ visible: true }).first().waitFor();
      await eventually(() => held.length > 0);
      await sound(`${name}-slow`);
      answer = "failed";
      for (const route of held) await answers.failed(route).catch(() => {}); // some have been given up
      await settled(say.failed);
      await sound(`${name}-failed`);
      for (const kind of ["wait", "unreachable"]) {
        answer = kind;
        await settled(say[kind]);
      }
      answer = null;
      await settled();
      assert.equal(await main.getByRole("heading", { level: 1 }).count(), 1, `${path} has one heading`);
      await sound(`${name}-empty`);
    }

    // A sign-in that has ended in the meantime.
    answer = "lapsed";
    await page.goto(`${url}/account/keys`);
    await page.waitForURL("**/sign-in");
    await page.getByText(say.lapsed).waitFor();
    await sound("lapsed");
    answer = null;
    await page.goto(`${url}/staff`); // the init script signs in again
    await main.getByRole("heading", { level: 1 }).waitFor();
    answer = "lapsed";
    await page.getByRole("navigation").locator("a[href='/staff/audit'], select").first().evaluate((element) => {
      if (element instanceof HTMLSelectElement) {
        element.value = "audit";
        element.dispatchEvent(new Event("change", { bubbles: true }));
      } else element.click();
    });
    await page.getByText(say.forbidden).waitFor();
    answer = null;
    assert.ok(await call("GET", "/me", account.token), "the sign-in itself lives on: the page was told otherwise");
    assert.deepEqual(problems, []);
    await context.close();
  });
}
