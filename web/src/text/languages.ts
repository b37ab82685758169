// The languages of the page are the files in languages/. Each part of a file is a module of its own (its query names it), so
// that a visitor first loads one language, without the texts of the account's and the staff's pages.
import type { Catalogue } from "./languages/en";

/** byTag turns the modules of languages/ into a map by language tag. */
export function byTag<T>(modules: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(modules).map(([path, module]) => [path.slice("./languages/".length, -".ts".length), module]));
}

const catalogues = byTag(import.meta.glob<Catalogue>("./languages/*.ts", { query: "?page", import: "page" }));
const names = byTag(import.meta.glob<string>("./languages/*.ts", { eager: true, query: "?name", import: "name" }));

/** catalogueOf loads what everyone sees in a language; it fails without a network. */
export const catalogueOf = (language: string): Promise<Catalogue> => catalogues[language]!();

/** languages are the tags of all languages, each with what its speakers call it, in the order of the tags. */
export const languages = Object.entries(names);

/** following returns the language after one, and the first after the last. */
export const following = (language: string) => languages[(languages.findIndex(([tag]) => tag === language) + 1) % languages.length]!;
