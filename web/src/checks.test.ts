import { expect, test } from "vitest";
import { type Warning, byScope, clientsOf, concerning, featurePage } from "./checks";

const warning = (code: Warning["code"], title: string): Warning => ({ code, title, detail: "" });

test("warnings of the whole message stand apart from features, and both keep their order", () => {
  const { whole, features } = byScope([
    warning("text_part_missing", "no text"),
    warning("html_feature", "heavy"),
    warning("date_missing", "no date"),
    warning("html_feature", "light"),
  ]);
  expect(whole.map(({ title }) => title)).toEqual(["no text", "no date"]);
  expect(features.map(({ title }) => title)).toEqual(["heavy", "light"]);
});

test("a feature has a page by its name, and nothing else has one", () => {
  expect(featurePage("css-border-radius")).toBe("https://www.caniemail.com/features/css-border-radius/");
  expect(featurePage("html-h1-h6")).toBe("https://www.caniemail.com/features/html-h1-h6/");
  for (const other of [undefined, "", "../about", "a/b", "a?b", "https://evil.example", "javascript:x"]) expect([other, featurePage(other)]).toEqual([other, ""]);
});

const feature = (title: string, detail: string, ...clients: string[]): Warning => ({ code: "html_feature", title, detail, clients });
const grid = feature("display:grid", "3 of 41 clients do not support it, and 1 only in part: Gmail iOS.", "Outlook Windows", "Outlook Outlook.com", "Mozilla Thunderbird macOS");
const background = feature("background", "All 41 clients support it, 2 of them only in part: AOL Android, Outlook Windows Mail.");
const script = feature("script", "Clients run no scripts.");

test("the clients that warnings are about are named once", () => {
  expect(clientsOf([grid, background, feature("gap", "", "Gmail Desktop Webmail", "Yahoo! Mail Android", "Outlook macOS")])).toEqual(["Gmail", "Mozilla Thunderbird", "Outlook", "Yahoo! Mail"]);
});

test.each([
  ["Outlook", [{ ...grid, clients: ["Outlook Windows", "Outlook Outlook.com"] }, { ...background, clients: [] }]],
  ["Gmail", [{ ...grid, clients: [] }]],
  ["Mozilla Thunderbird", [{ ...grid, clients: ["Mozilla Thunderbird macOS"] }]],
  ["Mail", []],
  ["", [grid, background, script]],
])("the warnings about %j", (client, want) => {
  expect(concerning([grid, background, script], client)).toEqual(want);
});
