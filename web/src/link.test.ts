import { expect, test } from "vitest";
import { linkOf, pieces } from "./link";

test("the host of a link is that of its address", () => {
  expect(linkOf("https://good.example@evil.example:8443/a?b#c")).toMatchObject({ host: "evil.example:8443", rest: "/a?b#c" });
  expect(linkOf("javascript:alert(1)")).toBeNull();
  expect(linkOf("no address")).toBeNull();
  expect(linkOf(undefined)).toBeNull();
});

test("the pieces of a text are the text", () => {
  const plain = "See https://a.example/x?y=1. (Or http://b.example/z) <https://c.example>\n";
  const all = pieces(plain);
  expect(all.map((piece) => piece.text).join("")).toBe(plain);
  expect(all.filter((piece) => piece.link).map((piece) => piece.text)).toEqual(["https://a.example/x?y=1", "http://b.example/z", "https://c.example"]);
});
