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
  const language = load("language") || (navigator.language.startsWith("vi") ? "vi" : "en");
  root.lang = language;
})();
