// The languages of the page: the files in src/text/languages, by tag, a longer tag after its prefix.
import { readdirSync } from "node:fs";

const folder = new URL("../src/text/languages/", import.meta.url);

/** tags returns the BCP 47 tags of all languages. */
export const tags = () => readdirSync(folder).map((name) => name.replace(/\.ts$/, "")).sort();
