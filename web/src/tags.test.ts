import { expect, test } from "vitest";
import { looksAtTags, tagsIn, withTags, withoutTag } from "./tags";

test.each([
  ["checkout", ["checkout"]],
  [" #sign-up , build  7,,a_b.c@d ", ["sign-up", "build 7", "a_b.c@d"]],
  ["", []],
  [" , ", []],
  ["#", []],
  ["x".repeat(99) + " yz", ["x".repeat(99)]],
  ["khẩn", null],
  ["a, b!", null],
  ["<b>", null],
  ["a, # ", ["a"]],
])("tagsIn(%j) = %j", (text, want) => expect(tagsIn(text)).toEqual(want));

test("tags are sorted, and each is there once whatever its case", () => {
  expect(withTags(["News"], ["zeta", "NEWS", "Alpha", "alpha", "mid"])).toEqual(["Alpha", "mid", "News", "zeta"]);
  expect(withTags([], [])).toEqual([]);
  expect(withoutTag(["a", "News"], "news")).toEqual(["a"]);
});

test.each([
  ["tag:a", true],
  ["hello -tag:a", true],
  ["hello !IS:tagged", true],
  ["vintage:a is:unread", false],
  ["tagged", false],
])("looksAtTags(%j) = %j", (search, want) => expect(looksAtTags(search)).toBe(want));
