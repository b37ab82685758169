import { expect, test } from "vitest";
import { actionLink, linkOf, pieces } from "./link";

test("the host of a link is that of its address", () => {
  expect(linkOf("https://good.example@evil.example:8443/a?b#c")).toMatchObject({ host: "evil.example:8443", rest: "/a?b#c" });
  expect(linkOf("javascript:alert(1)")).toBeNull();
  expect(linkOf("no address")).toBeNull();
  expect(linkOf(undefined)).toBeNull();
});

const marked = (plain: string, links: string[]) => pieces(plain, links).filter((piece) => piece.link).map((piece) => piece.text);

test("the pieces of a text are the text", () => {
  const plain = "See https://a.example/x?y=1. (Or http://b.example/z) <https://c.example>\n";
  const links = ["https://a.example/x?y=1", "http://b.example/z", "https://c.example"];
  expect(pieces(plain, links).map((piece) => piece.text).join("")).toBe(plain);
  expect(marked(plain, links)).toEqual(links);
  expect(pieces(plain, [])).toEqual([{ text: plain, link: null }]);
  expect(pieces("", [])).toEqual([]);
});

test.each([
  ["only what the server lists", "https://a.example/1 https://a.example/2", ["https://a.example/2"], ["https://a.example/2"]],
  ["it ends where the server says", "(https://a.example/(x)_~) 详情https://b.example/路。谢谢", ["https://a.example/(x)_~", "https://b.example/"], ["https://a.example/(x)_~", "https://b.example/"]],
  ["the longer of two that begin alike", "https://a.example/x and https://a.example/x/y", ["https://a.example/x", "https://a.example/x/y"], ["https://a.example/x", "https://a.example/x/y"]],
  ["not the beginning of another address", "https://a.example/xyz https://a.example/x-1", ["https://a.example/x"], []],
  ["every time that it stands there", "https://a.example/ https://a.example/", ["https://a.example/"], ["https://a.example/", "https://a.example/"]],
  ["one that is broken in angle brackets", "<https://a.example/long\r\n  er?x=1>", ["https://a.example/longer?x=1"], ["https://a.example/long\r\n  er?x=1"]],
  ["what means something in a pattern", "https://a.example/a+b?c=[d]|e$ ^", ["https://a.example/a+b?c=[d]|e$"], ["https://a.example/a+b?c=[d]|e$"]],
  ["no other scheme", "javascript:alert(1) mailto:a@b.example", ["javascript:alert(1)", "mailto:a@b.example"], []],
])("marked is %s", (_, plain, links, wanted) => expect(marked(plain, links)).toEqual(wanted));

test.each([
  ["an action", { url: "https://a.example/x?t=1" }, "https://a.example/x?t=1"],
  ["no action", null, undefined],
  ["a summary that was kept from an older release", undefined, undefined],
  ["an action without encryption", { url: "http://a.example/x" }, undefined],
])("the link of %s", (_, action, wanted) => expect(actionLink(action)?.url).toBe(wanted));
