// Which page is shown: the path of its address. Links within the page change it without loading the document anew.

/** ours tells the paths that this program draws from those that the server answers otherwise. */
export const ours = (path: string) => path === "/" || /^\/(sign-in|register|account|pages|staff)(\/|$)/.test(path);

class Route {
  path = $state(location.pathname);
  /** wanted is where a sign-in leads back to. */
  wanted = "";

  start(): void {
    addEventListener("popstate", () => (this.path = location.pathname));
    document.addEventListener("click", (event) => {
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      const other = event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
      if (!link || other || link.target || link.hash || link.origin !== location.origin || !ours(link.pathname)) return;
      event.preventDefault();
      this.go(link.pathname);
    });
  }

  /** go shows another page; with replace the browser's Back does not come back to this one. */
  go(path: string, replace = false): void {
    if (path !== location.pathname || location.hash) history[replace ? "replaceState" : "pushState"](null, "", path);
    this.path = path;
    scrollTo(0, 0);
  }
}

export const route = new Route();
