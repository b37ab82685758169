import { load, save } from "./store";

export type ThemeChoice = "system" | "light" | "dark";

/** Theme follows the system until someone chooses; public/theme.js sets it before the first paint. */
class Theme {
  choice = $state<ThemeChoice>(load<ThemeChoice>("theme") ?? "system");

  choose(choice: ThemeChoice): void {
    this.choice = choice;
    save("theme", choice);
    if (choice === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
  }
}

export const theme = new Theme();
