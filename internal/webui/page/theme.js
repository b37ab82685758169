// Sets the theme and the language before the first paint, so that nothing flashes.
(() => {
  const root = document.documentElement;
  const load = (key) => {
    try {
      return JSON.parse(localStorage.getItem("gonebox." + key));
    } catch {
      return null;
    }
  };
  const theme = load("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const files = new Map([...document.querySelectorAll("meta[name=language]")].map((meta) => [meta.content, meta.dataset.file]));
  const languages = [...files.keys()]; // a longer tag comes after its prefix
  const chosen = load("language");
  const language = languages.includes(chosen) ? chosen : languages.filter((tag) => `${navigator.language}-`.startsWith(`${tag}-`)).pop() || "en";
  root.lang = language;
  if (files.get(language)) document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", crossOrigin: "", href: files.get(language) }));
})();
