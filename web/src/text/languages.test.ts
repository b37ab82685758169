import { expect, test } from "vitest";
import { byTag } from "./languages";

type Text = string | ((...args: unknown[]) => string);
type Language = { name: string; locale: string; asInEnglish?: string[] };

const modules = import.meta.glob<Language>("./languages/*.ts", { eager: true });
const all = Object.entries(byTag(modules)).map(([tag, { asInEnglish = [], ...texts }]) => ({ tag, asInEnglish, texts }));
const others = all.filter(({ tag }) => tag !== "en");

/** textsOf lists what a language exports, or a part of it, by its path. */
const textsOf = (value: unknown, path = ""): [string, Text][] =>
  typeof value === "object"
    ? Object.entries(value ?? {}).flatMap(([key, inner]) => textsOf(inner, path ? `${path}/${key}` : key))
    : [[path, value as Text]];

const numbers = [1111, 2222, 3333, 4444];

/** written is a text with numbers in the place of what it names. */
const written = (text: Text) => (typeof text === "function" ? text(...numbers) : text);

const english = textsOf(all.find(({ tag }) => tag === "en")?.texts);

test.each(all)("$tag is a language tag, and its locale too", ({ tag, texts }) => {
  expect([tag, texts.locale].flatMap((written) => Intl.getCanonicalLocales(written))).toEqual([tag, texts.locale]);
});

test.each(all)("no text of $tag is empty", ({ texts }) => {
  expect(textsOf(texts).filter(([, text]) => written(text).trim() === "")).toEqual([]);
});

// The compiler compares the catalogues too, but not what stands in their maps by code.
test.each(others)("$tag has the keys of English, of the same kinds", ({ texts }) => {
  const kinds = (all: [string, Text][]) => all.map(([path, text]) => `${path}: ${typeof text}`).sort();
  expect(kinds(textsOf(texts))).toEqual(kinds(english));
});

test.each(others)("each text of $tag names what the English one names", ({ texts }) => {
  const named = (text: Text | undefined) => numbers.filter((n) => text && written(text).includes(String(n)));
  const own = new Map(textsOf(texts));
  for (const [path, text] of english) expect([path, named(own.get(path))]).toEqual([path, named(text)]);
});

test.each(others)("$tag repeats only those English texts that asInEnglish lists", ({ texts, asInEnglish }) => {
  const own = new Map(textsOf(texts));
  const same = english.filter(([path, text]) => /\p{L}/u.test(written(text)) && written(own.get(path) ?? "") === written(text));
  expect(same.map(([path]) => path).sort()).toEqual([...asInEnglish].sort());
});
