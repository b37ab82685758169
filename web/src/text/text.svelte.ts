import { load, save } from "../store";
import { type Catalogue, en } from "./en";
import { vi } from "./vi";

export type Language = "en" | "vi";

const catalogues: Record<Language, Catalogue> = { en, vi };

/** Text holds the catalogue of the language that is shown. */
class Text {
  language = $state<Language>(load<Language>("language") ?? (navigator.language.startsWith("vi") ? "vi" : "en"));
  t = $derived(catalogues[this.language]);

  choose(language: Language): void {
    this.language = language;
    document.documentElement.lang = language;
    save("language", language);
  }
}

export const text = new Text();
