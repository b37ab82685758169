import { expect, test, vi } from "vitest";
import { completed, dayOf, extended, headersWith, isUnfinished, joined, kept, merged, nothing, prefixOf, projectsFor, suggestions, tagged, toggled, visible, withoutLastWord } from "./rows";
import { inbox } from "./text/languages/en";

test("only the rows on the screen are drawn, with some beyond", () => {
  expect(visible(0, 700, 70, 100_000, 5)).toEqual({ first: 0, last: 15 });
  expect(visible(7000, 700, 70, 100_000, 5)).toEqual({ first: 95, last: 115 });
  expect(visible(35, 700, 70, 100_000, 0)).toEqual({ first: 0, last: 11 });
  expect(visible(6_999_900, 700, 70, 100_000, 5)).toEqual({ first: 99_993, last: 100_000 });
});

test("a list that has become shorter than what was scrolled to shows its end", () => {
  expect(visible(7000, 700, 70, 3, 5)).toEqual({ first: 0, last: 3 });
  expect(visible(0, 700, 70, 0, 5)).toEqual({ first: 0, last: 0 });
  expect(visible(-80, 700, 70, 30, 0)).toEqual({ first: 0, last: 10 }); // beyond the top, as phones scroll
});

const order = ["f", "e", "d", "c", "b", "a"];
const idsOf = (selection: typeof nothing) => [...selection.ids].sort().join("");

test("a range goes from the row that was selected last to the other, in either direction", () => {
  expect(idsOf(extended(toggled(nothing, "e"), order, "c"))).toBe("cde");
  expect(idsOf(extended(toggled(nothing, "b"), order, "d"))).toBe("bcd");
  expect(idsOf(extended(extended(toggled(nothing, "d"), order, "f"), order, "b"))).toBe("bcdef"); // the anchor stays
});

test("a range without a beginning is its row, and one to a row that is gone changes nothing", () => {
  expect(idsOf(extended(nothing, order, "c"))).toBe("c");
  expect(idsOf(extended({ ids: new Set(), anchor: "gone" }, order, "c"))).toBe("c");
  expect(idsOf(extended(toggled(nothing, "c"), order, "gone"))).toBe("c");
});

test("what is selected twice is not selected, and what is deleted neither", () => {
  expect(idsOf(toggled(toggled(nothing, "c"), "c"))).toBe("");
  const selection = { ids: new Set(["a", "b"]), anchor: "b" };
  expect(kept(selection, new Set(["b"]))).toEqual({ ids: new Set(["a"]), anchor: "" });
  expect(kept(selection, new Set(["x"]))).toBe(selection);
});

const mails = (ids: string) => [...ids].map((id) => ({ id }));
const text = (list: { id: string }[]) => list.map(({ id }) => id).join("");

test("the newest page read again adds what came, drops what is gone and keeps what is older", () => {
  expect(text(merged(mails("fedcba"), mails("hgfd"), false))).toBe("hgfdcba");
  expect(text(merged(mails("fedcba"), mails("fe"), true))).toBe("fe");
  expect(text(merged(mails("cba"), mails("hgf"), false))).toBe("hgf"); // the pages between them were not read
  expect(text(merged([], mails("b"), true))).toBe("b");
});

test("prefixes are offered for the word that is typed, and the day behind one that takes it", () => {
  const offered = (search: string) => suggestions(search, "2026-03-14");
  expect(offered("is")).toEqual(["is:unread", "is:read", "is:tagged"]);
  expect(offered("invoice -fr")).toEqual(["from:"]);
  expect(offered("FROM")).toEqual(["from:"]);
  expect(offered("from:")).toEqual([]);
  expect(offered('"is')).toEqual([]);
  expect(offered("invoice ").length).toBeGreaterThan(10);
  expect(offered("code Before:")).toEqual(["before:2026-03-14"]);
  expect(offered("after:2026")).toEqual([]);
});

test.each([
  ["", ["shop", "shop-test", "auth", "ci"]],
  ["invoice SHO", ["shop", "shop-test"]],
  ["billing", ["billing"]],
  ["from:shop", []],
  ['"sho', []],
])("of the projects, %j offers %j", (search, want) => {
  expect(projectsFor(search, ["shop", "shop-test", "auth", "ci", "billing"])).toEqual(want);
});

test("a project that is chosen takes the place of the word", () => {
  expect(["sho", "invoice sho", "invoice ", ""].map(withoutLastWord)).toEqual(["", "invoice", "invoice", ""]);
});

test.each([...suggestions("", ""), "before:2026-03-14", "after:2026-03-14T00:00:00+07:00"])("of the suggestion %j what it means is known", (suggestion) => {
  expect(Object.keys(inbox.prefixes)).toContain(prefixOf(suggestion));
});

test.each([
  ["before:", true],
  ["invoice -From:", true],
  ["has:", false], // no prefix with a value of one's own
  ["from:ada", false],
  ["from: ada", false],
  ['"from:', false],
  ["note:", false],
  ["", false],
])("that %j waits for a value is %j", (search, want) => {
  expect(isUnfinished(search)).toBe(want);
});

test.each([
  ["UTC", "2026-03-14"],
  ["Asia/Ho_Chi_Minh", "2026-03-14T00:00:00+07:00"],
  ["America/St_Johns", "2026-03-13T00:00:00-02:30"],
])("the day of a device in %s is %s", (zone, want) => {
  vi.stubEnv("TZ", zone);
  expect(dayOf(new Date("2026-03-14T01:30:00Z"))).toBe(want);
  vi.unstubAllEnvs();
});

test("a prefix that is chosen takes the place of the word", () => {
  expect(completed("invoice -fr", "from:", "2026-03-14")).toBe("invoice -from:");
  expect(completed("is", "is:unread", "2026-03-14")).toBe("is:unread ");
  expect(completed("", "to:", "2026-03-14")).toBe("to:");
  expect(completed("code -bef", "before:", "2026-03-14")).toBe("code -before:2026-03-14 ");
});

test.each([
  ["", ["Subject", "Received", "X-Note"]],
  ["  ", ["Subject", "Received", "X-Note"]],
  ["SUBJ", ["Subject"]],
  ["subject: hello", ["Subject"]],
  ["mx.example", ["Received", "X-Note"]],
  ["received MX", ["Received"]],
  ["nothing", []],
])("of the headers, those with %j are %j", (words, want) => {
  const headers = [
    { name: "Subject", value: "Hello" },
    { name: "Received", value: "from mx.example" },
    { name: "X-Note", value: "seen at MX.example" },
  ];
  expect(headersWith(headers, words).map(({ name }) => name)).toEqual(want);
});

test("a tag is added to a search once", () => {
  expect(tagged("", "build 7")).toBe('tag:"build 7"');
  expect(tagged(" from:ada ", "welcome")).toBe("from:ada tag:welcome");
  expect(tagged("Tag:welcome code", "Welcome")).toBe("Tag:welcome code");
  expect(tagged("tag:welcome-back", "welcome")).toBe("tag:welcome-back tag:welcome");
});

test("what matches now is put among the rows, and none is left out or put beyond the end of what was read", () => {
  const of = (...ids: string[]) => ids.map((id) => ({ id }));
  expect(joined(of("9", "5"), of("8", "5", "3"), true)).toEqual(of("9", "8", "5", "3"));
  expect(joined(of("9", "5"), of("8", "5", "3"), false)).toEqual(of("9", "8", "5"));
  expect(joined([], of("2", "1"), true)).toEqual(of("2", "1"));
  expect(joined(of("9", "5"), [], true)).toEqual(of("9", "5"));
});
