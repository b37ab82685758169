// Preparing the HTML of a message for its frame. The server has made it safe; here it is made to load nothing.

/** Sheet is a message ready for its frame. Its styles are applied by script, since the page's policy allows no inline style. */
export type Sheet = { html: string; css: string; images: number; hosts: number; trackers: number };

const remote = /^\s*(https?:)?\/\//i;
const styleAttribute = "data-gonebox-style";
// A style attribute as the server writes it. The browser would report each of them as against the page's policy.
const inlineStyle = /(<[a-z][^<>]*?)\sstyle="/g;

/** prepareMail parses sanitized HTML without loading anything of it. Remote images are left out and counted unless load is set. */
export function prepareMail(source: string, load: boolean): Sheet {
  // Nothing of a template's content is loaded or applied.
  const template = document.createElement("template");
  template.innerHTML = source.replace(inlineStyle, `$1 ${styleAttribute}="`);
  const content = template.content;
  const css = [...content.querySelectorAll("style")].map((element) => {
    element.remove();
    return element.textContent;
  });
  const hosts = new Set<string>();
  let images = 0;
  let trackers = 0;
  for (const element of content.querySelectorAll<HTMLElement>("*")) {
    for (const name of ["srcset", "background", "poster"]) element.removeAttribute(name);
    const src = element.getAttribute("src");
    if (src !== null && remote.test(src)) {
      images++;
      hosts.add(hostOf(src));
      const tracker = isTracker(element);
      if (tracker) trackers++;
      if (!load) {
        element.removeAttribute("src");
        if (tracker) element.remove();
        else element.setAttribute("data-blocked", "");
      }
    }
  }
  return { html: template.innerHTML, css: css.join("\n"), images, hosts: hosts.size, trackers };
}

const hostOf = (src: string) => {
  try {
    return new URL(src, "https://unknown.invalid").host;
  } catch {
    return src;
  }
};

/** isTracker tells an image that nobody can see: one point wide and high at most. */
function isTracker(element: HTMLElement): boolean {
  const side = (name: "width" | "height") => {
    const written = element.getAttribute(name) ?? new RegExp(`(?:^|;)\\s*${name}\\s*:\\s*(\\d+)(?:px)?\\s*(?:;|$)`).exec(element.getAttribute(styleAttribute) ?? "")?.[1];
    return written === undefined || written === null ? Infinity : Number.parseInt(written, 10);
  };
  return side("width") <= 1 && side("height") <= 1;
}

/** documentOf is the frame's document: it may load nothing but images, and those only where load is set. */
export function documentOf(sheet: Sheet, load: boolean): string {
  const policy = `default-src 'none'; img-src data:${load ? " https: http:" : ""}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="referrer" content="no-referrer"></head><body>${sheet.html}</body></html>`;
}

const usual = `
html { background: #fff; color: #171d26; color-scheme: light; }
body { margin: 16px; font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; overflow-wrap: anywhere; }
img { max-width: 100%; }
img[data-blocked] { display: inline-block; box-sizing: border-box; padding: 4px; outline: 1px dashed #81868f; outline-offset: -1px; background: #f7f6f2; color: #575e69; font-size: 13px; }
a { color: #0068a7; }
`;
const inverted = "img { filter: invert(1) hue-rotate(180deg); }";

/** dress applies the usual and the message's own styles to a loaded frame, by the CSS object model. */
export function dress(frame: HTMLIFrameElement, sheet: Sheet, dark: boolean): void {
  const inner = frame.contentDocument;
  const view = frame.contentWindow as (Window & { CSSStyleSheet: typeof CSSStyleSheet }) | null;
  if (!inner || !view) return;
  inner.adoptedStyleSheets = [usual, sheet.css, dark ? inverted : ""].map((css) => {
    const made = new view.CSSStyleSheet();
    made.replaceSync(css);
    return made;
  });
  for (const element of inner.querySelectorAll<HTMLElement>(`[${styleAttribute}]`)) {
    element.style.cssText = element.getAttribute(styleAttribute) ?? "";
    element.removeAttribute(styleAttribute);
  }
  asBody(inner);
}

/** asBody gives the document the margin and the ground of the mail's body, for which the server has put a div. */
function asBody({ body, documentElement }: Document): void {
  for (let only = onlyDiv(body), depth = 0; only && depth < 2; only = onlyDiv(only), depth++) {
    const { display, margin, backgroundColor } = only.style;
    const ground = display === "flow-root" ? backgroundColor : "";
    if (ground) documentElement.style.backgroundColor = ground;
    if (margin === "0px" || (ground && margin)) body.style.margin = "0";
    if (ground || margin) return;
  }
}

/** onlyDiv is the div that is all that an element has. */
function onlyDiv(element: HTMLElement): HTMLElement | null {
  const [first, ...others] = [...element.childNodes].filter((node) => node.nodeType === 1 || node.textContent?.trim());
  return first && others.length === 0 && first.nodeName === "DIV" ? (first as HTMLElement) : null;
}
