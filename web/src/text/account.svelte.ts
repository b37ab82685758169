import { byTag, languages } from "./languages";
import type { AccountCatalogue } from "./languages/en";
import { text } from "./text.svelte";

const catalogues = byTag(import.meta.glob<AccountCatalogue>("./languages/*.ts", { eager: true, query: "?account", import: "account" }));

/** AccountText holds the catalogue of the account's pages, which comes with them. */
class AccountText {
  t = $derived(catalogues[text.language]!);
}

export const accountText = new AccountText();

const locales = byTag(import.meta.glob<string>("./languages/*.ts", { eager: true, query: "?account", import: "locale" }));

/** localeOf is the locale of an account whose mail is to be in a language of the page. */
export const localeOf = (language: string) => locales[language]!;

/** languageOf is the language of the page for an account's locale: the longest tag that it begins with, or English. */
export const languageOf = (locale: string) =>
  languages.map(([tag]) => tag).filter((tag) => `${locale}-`.startsWith(`${tag}-`)).at(-1) ?? "en";
