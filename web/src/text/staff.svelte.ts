import { byTag } from "./languages";
import type { StaffCatalogue } from "./languages/en";
import { text } from "./text.svelte";

const catalogues = byTag(import.meta.glob<StaffCatalogue>("./languages/*.ts", { eager: true, query: "?staff", import: "staff" }));

/** StaffText holds the catalogue of the staff's pages, which comes with them. */
class StaffText {
  t = $derived(catalogues[text.language]!);
}

export const staffText = new StaffText();
