import { save } from "../store";
import { catalogueOf } from "./languages";
import type { Catalogue } from "./languages/en";

/** Text holds the catalogue of the language that is shown. Until start has loaded it, nothing may be drawn. */
class Text {
  language = $state(document.documentElement.lang);
  t = $state.raw({} as Catalogue);
  #wanted = ""; // the language that was chosen last; its catalogue may be on its way

  /** start shows the language that theme.js has found before the first paint, or English if it cannot be loaded. */
  async start(): Promise<void> {
    const catalogue = await catalogueOf(this.language).catch(() => null);
    if (!catalogue) this.language = document.documentElement.lang = "en";
    this.t = catalogue ?? (await catalogueOf("en"));
  }

  /** choose shows another language once it is loaded. Without a network it may not be: then the page stays as it is, and the choice holds from the next visit on. */
  async choose(language: string): Promise<void> {
    this.#wanted = language;
    save("language", language);
    const catalogue = await catalogueOf(language).catch(() => null);
    if (!catalogue || this.#wanted !== language) return;
    this.t = catalogue;
    this.language = language;
    document.documentElement.lang = language;
  }
}

export const text = new Text();
