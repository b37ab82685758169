import { byTag } from "./languages";
import type { LinkCatalogue } from "./languages/en";
import { text } from "./text.svelte";

const catalogues = byTag(import.meta.glob<LinkCatalogue>("./languages/*.ts", { eager: true, query: "?link", import: "link" }));

/** LinkText holds the words of the card of a verification link, which come with it. */
class LinkText {
  t = $derived(catalogues[text.language]!);
}

export const linkText = new LinkText();
