import { expect, test, vi } from "vitest";
vi.mock("./page.svelte", () => ({ withoutBidi: (text: string) => text.trim() }));
const { kindsOf, linkList } = await import("./links");
import { linkOf } from "./link";

test.each([
  ["https://shop.example/a", "Confirm", []],
  ["http://shop.example/a", "Confirm", ["insecure"]],
  ["https://evil.example/", "https://bank.example/login", ["mismatch"]],
  ["https://evil.example/", "Go to www.bank.example now", ["mismatch"]],
  ["https://evil.example/", "bank.example", ["mismatch"]],
  ["https://bank.example.evil.example/", "bank.example", ["mismatch"]],
  ["https://notbank.example/", "bank.example", ["mismatch"]],
  ["https://www.bank.example/a?b", "https://bank.example", []],
  ["https://login.bank.example/", "bank.example/login", []],
  ["https://bank.example/", "WWW.Bank.Example.", []],
  ["https://shop.example/", "ada@bank.example", []],
  ["https://shop.example/", "report.pdf", []],
  ["https://shop.example/", "Version 2.0", []],
  ["https://xn--bnk-6na.example/", "Confirm", ["punycode"]],
  ["https://bänk.example/", "bänk.example", ["punycode"]],
  ["https://bänk.example/", "bank.example", ["mismatch", "punycode"]],
  ["https://click.shop.example/x", "Offers", ["redirect"]],
  ["https://u1.ct.example/ls/click?upn=x", "Offers", ["redirect"]],
  ["https://a.example/L0/https:%2F%2Fshop.example%2F/1", "Offers", ["redirect"]],
  ["https://a.example/go?url=https%3A%2F%2Fshop.example%2F", "Offers", ["redirect"]],
  ["https://a.example/go?url=https%3A%2F%2Fa.example%2F", "Offers", []],
  ["https://a.example/verify?redirect_to=https%3A%2F%2Fb.example%2F", "Verify", []],
  ["https://shop.example/orders/track", "Track", []],
  ["https://shop.example/clickhouse", "Docs", []],
  ["https://shop.example/u/1", "Unsubscribe", ["unsubscribe"]],
  ["https://shop.example/u/1", "Hủy đăng ký", ["unsubscribe"]],
  ["https://shop.example/opt-out?u=1", "here", ["unsubscribe"]],
  ["https://shop.example/listed", "here", ["unsubscribe"]],
])("%s with the text %s has the kinds %j", (address, text, want) => {
  expect(kindsOf(linkOf(address)!, text, ["https://shop.example/listed"])).toEqual(want);
});

test("each address is listed with each of its texts once, and those without a text behind", () => {
  const anchors = [
    { href: "https://a.example", text: "One" },
    { href: " https://a.example/ ", text: " One\n" },
    { href: "https://a.example/", text: "Two" },
    { href: "mailto:ada@a.example", text: "Write" },
    { href: "https://evil.example/", text: "ba\u200bnk.exam\u00adple" },
  ];
  const got = linkList(anchors, ["https://a.example", "https://b.example/x"]).map(({ address, text, kinds }) => [address, text, ...kinds]);
  expect(got).toEqual([
    ["https://a.example/", "One"],
    ["https://a.example/", "Two"],
    ["mailto:ada@a.example", "Write"],
    ["https://evil.example/", "bank.example", "mismatch"],
    ["https://b.example/x", ""],
  ]);
});
