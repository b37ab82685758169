// Which page is shown: the path of its address. Links within the page change it without loading the document anew.
import { at, pathOf } from "./base";

/** isPagePath reports whether this program draws the page of a path; the server answers all others. */
export const isPagePath = (path: string) => path === "/" || /^\/(sign-in|register|reset|account|inbox|pages|prices|staff)(\/|$)/.test(path);

class Route {
  /** path is that of the service, below base. */
  path = $state(pathOf(location.pathname));
  /** wanted is where a sign-in leads back to. */
  wanted = "";

  start(): void {
    addEventListener("popstate", () => (this.path = pathOf(location.pathname)));
    document.addEventListener("click", (event) => {
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      const other = event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
      if (!link || other || link.target || link.hash || link.origin !== location.origin || !isPagePath(pathOf(link.pathname))) return;
      event.preventDefault();
      this.go(pathOf(link.pathname));
    });
  }

  /** go shows another page; with replace the browser's Back does not come back to this one. */
  go(path: string, replace = false): void {
    if (at(path) !== location.pathname || location.hash) history[replace ? "replaceState" : "pushState"](null, "", at(path));
    this.path = path;
    scrollTo(0, 0);
  }
}

export const route = new Route();
