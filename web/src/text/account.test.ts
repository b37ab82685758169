import { expect, test } from "vitest";
import { en } from "./account.en";
import { vi } from "./account.vi";

const keysOf = (value: object, path = ""): string[] =>
  Object.entries(value).flatMap(([key, inner]) => (typeof inner === "object" && inner !== null ? keysOf(inner, `${path}${key}/`) : [path + key]));

// The compiler compares the catalogues, but not what stands in their maps by code.
test("both languages have the same entries, and none is empty", () => {
  expect(keysOf(vi)).toEqual(keysOf(en));
  for (const catalogue of [en, vi]) expect(JSON.stringify(catalogue)).not.toMatch(/:""/);
});
