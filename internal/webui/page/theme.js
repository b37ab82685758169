// Sets the theme and the language before the first paint, so that nothing flashes.
(() => {
  const root = document.documentElement;
  const base = document.querySelector("meta[name=base]").content;
  const load = (key) => {
    try {
      return JSON.parse(localStorage.getItem(`gonebox${base}.${key}`)); // as in web/src/store.ts
    } catch {
      return null;
    }
  };
  const theme = load("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const languages = [...document.querySelectorAll("meta[name=language]")].map((meta) => meta.content); // a longer tag comes after its prefix
  const chosen = load("language");
  const language = languages.includes(chosen) ? chosen : languages.filter((tag) => `${navigator.language}-`.startsWith(`${tag}-`)).pop() || "en";
  root.lang = language;
})();
