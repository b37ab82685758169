import { en } from "./account.en";
import { vi } from "./account.vi";
import { text } from "./text.svelte";

/** AccountText holds the catalogue of the account's pages, which comes with them. */
class AccountText {
  t = $derived(text.language === "vi" ? vi : en);
}

export const accountText = new AccountText();
