import { expect, test } from "vitest";
import { en } from "./account.en";
import { vi } from "./account.vi";
import { en as staffEn } from "./staff.en";
import { vi as staffVi } from "./staff.vi";

const keysOf = (value: object, path = ""): string[] =>
  Object.entries(value).flatMap(([key, inner]) => (typeof inner === "object" && inner !== null ? keysOf(inner, `${path}${key}/`) : [path + key]));

// The compiler compares the catalogues, but not what stands in their maps by code.
test.each([
  ["account", en, vi],
  ["staff", staffEn, staffVi],
])("both languages of the %s pages have the same entries, and none is empty", (_, english, vietnamese) => {
  expect(keysOf(vietnamese)).toEqual(keysOf(english));
  for (const catalogue of [english, vietnamese]) expect(JSON.stringify(catalogue)).not.toMatch(/:""/);
});
