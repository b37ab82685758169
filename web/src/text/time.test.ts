import { expect, test } from "vitest";
import { page as en } from "./languages/en";
import { page as vi } from "./languages/vi";
import { age, octets, span } from "./time";

const minute = 60_000;

test.each([
  [-1, "0 s", "0 giây"],
  [59_999, "59 s", "59 giây"],
  [58 * minute, "58 min", "58 phút"],
  [60 * minute, "1 h", "1 giờ"],
  [61 * minute, "1 h 1 min", "1 giờ 1 phút"],
  [49 * 60 * minute, "2 d 1 h", "2 ngày 1 giờ"],
])("span of %d ms", (milliseconds, english, vietnamese) => {
  expect(span(en, milliseconds)).toBe(english);
  expect(span(vi, milliseconds)).toBe(vietnamese);
});

test("age counts up", () => {
  const at = "2026-11-23T21:00:00.000Z";
  const ages = [0, 4000, 5 * minute, 3 * 60 * minute].map((later) => age(en, at, Date.parse(at) + later));
  expect(ages).toEqual(["just now", "4 s ago", "5 min ago", "3 h ago"]);
});

test("sizes are in decimal units", () => {
  expect([0, 999, 1500, 25_000_000, 43e9, 2.5e12].map((n) => octets("en", n))).toEqual(["0 B", "999 B", "1.5 kB", "25 MB", "43 GB", "2.5 TB"]);
});
