import { byTag } from "./languages";
import type { InboxCatalogue } from "./languages/en";
import { text } from "./text.svelte";

const catalogues = byTag(import.meta.glob<InboxCatalogue>("./languages/*.ts", { eager: true, query: "?inbox", import: "inbox" }));

/** InboxText holds the words of the inbox, which come with it. */
class InboxText {
  t = $derived(catalogues[text.language]!);
}

export const inboxText = new InboxText();
