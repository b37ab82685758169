import { en } from "./staff.en";
import { vi } from "./staff.vi";
import { text } from "./text.svelte";

/** StaffText holds the catalogue of the staff's pages, which comes with them. */
class StaffText {
  t = $derived(text.language === "vi" ? vi : en);
}

export const staffText = new StaffText();
