// Preparing the HTML of a message for its frame. The server has made it safe; here it is made to load nothing.

/** Sheet is a message ready for its frame. Its styles are applied by script, since the page's policy allows no inline style. */
export type Sheet = { html: string; css: string; images: number; hosts: number; trackers: number };

const remote = /^\s*(https?:)?\/\//i;
const styleAttribute = "data-gonebox-style";
const backgroundAttribute = "data-gonebox-ground"; // the address of a background image, empty where that is not loaded
// A style attribute as the server writes it. The browser would report each of them as against the page's policy.
const inlineStyle = /(<[a-z][^<>]*?)\sstyle="/g;

/** parsed gives the content of sanitized HTML, of which nothing is loaded or applied. Its style attributes have another name. */
export function parsed(source: string): HTMLTemplateElement {
  const template = document.createElement("template");
  template.innerHTML = source.replace(inlineStyle, `$1 ${styleAttribute}="`);
  return template;
}

/** prepareMail parses sanitized HTML without loading anything of it. Remote images are left out and counted unless load is set. */
export function prepareMail(source: string, load: boolean): Sheet {
  const template = parsed(source);
  const content = template.content;
  const css = [...content.querySelectorAll("style")].map((element) => {
    element.remove();
    return element.textContent;
  });
  const hosts = new Set<string>();
  let images = 0;
  let trackers = 0;
  for (const element of content.querySelectorAll<HTMLElement>("*")) {
    for (const name of ["srcset", "poster"]) element.removeAttribute(name);
    const background = element.getAttribute("background");
    if (background !== null) {
      element.removeAttribute("background");
      if (remote.test(background)) {
        images++;
        hosts.add(hostOf(background));
        element.setAttribute(backgroundAttribute, load ? background : "");
      }
    }
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

/** isTracker reports whether an image is invisible: one point wide and high at most. */
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

const baseStyles = `
html { background: #fff; color: #171d26; color-scheme: light; }
body { margin: 16px; font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; overflow-wrap: break-word; }
img { max-width: max(100%, min(200px, 100vw - 32px)); }
img[data-blocked] { display: inline-block; box-sizing: border-box; padding: 4px; outline: 1px dashed #81868f; outline-offset: -1px; background: #f7f6f2; color: #575e69; font-size: 13px; }
a { color: #0068a7; }
`;
// A word is not broken to make a column narrow, and a small image is not made narrow for the sake of the cell beside it.
const invertImages = "img { filter: invert(1) hue-rotate(180deg); }";

/** applyStyles applies the base styles and the message's own styles to a loaded frame, by the CSS object model. */
export function applyStyles(frame: HTMLIFrameElement, sheet: Sheet, dark: boolean): void {
  const inner = frame.contentDocument;
  const view = frame.contentWindow as (Window & { CSSStyleSheet: typeof CSSStyleSheet }) | null;
  if (!inner || !view) return;
  inner.adoptedStyleSheets = [baseStyles, sheet.css, dark ? invertImages : ""].map((css) => {
    const made = new view.CSSStyleSheet();
    made.replaceSync(css);
    return made;
  });
  for (const element of inner.querySelectorAll<HTMLElement>(`[${styleAttribute}]`)) {
    element.style.cssText = element.getAttribute(styleAttribute) ?? "";
    element.removeAttribute(styleAttribute);
  }
  for (const element of inner.querySelectorAll<HTMLElement>(`[${backgroundAttribute}]`)) applyBackground(element, view);
  inner.addEventListener("click", scrollToAnchor); // once, however often this is called
  copyBodyStyle(inner);
}

/** scrollToAnchor follows a link to a place in the mail. The browser would look for that place in the page around the frame. */
function scrollToAnchor(event: Event): void {
  const link = (event.target as Element | null)?.closest('a[href^="#"], area[href^="#"]');
  if (!link) return;
  event.preventDefault();
  link.ownerDocument.getElementById(link.getAttribute("href")!.slice(1))?.scrollIntoView();
}

const midGrey = "rgb(118, 118, 118)"; // on which both white and black can be read (4.5 : 1)

/** applyBackground sets the background image of an element; where that is not loaded, a colour on which text that is meant for it can be read. */
function applyBackground(element: HTMLElement, view: Window): void {
  const address = element.getAttribute(backgroundAttribute);
  if (address) element.style.backgroundImage = `url("${address.replace(/["\\\n]/g, encodeURIComponent)}")`;
  else if (!hasColour(element, view) && hasLightText(element, view)) element.style.backgroundColor = midGrey;
}

const numbersOf = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number);
const hasColour = (element: Element, view: Window) => (numbersOf(view.getComputedStyle(element).backgroundColor)[3] ?? 1) > 0.5;

/** hasLightText reports whether there is light text in an element, without a background of its own. */
function hasLightText(element: HTMLElement, view: Window): boolean {
  const texts = element.ownerDocument.createTreeWalker(element, 4); // NodeFilter.SHOW_TEXT
  for (let read = 0; read < 200 && texts.nextNode(); read++) {
    if (!texts.currentNode.textContent?.trim()) continue;
    let around = texts.currentNode.parentElement;
    const [red = 0, green = 0, blue = 0] = around ? numbersOf(view.getComputedStyle(around).color) : [];
    if (0.299 * red + 0.587 * green + 0.114 * blue < 140) continue;
    while (around && around !== element && !hasColour(around, view)) around = around.parentElement;
    if (around === element) return true;
  }
  return false;
}

/** copyBodyStyle gives the document the margin and the background of the mail's body, for which the server has put a div. */
function copyBodyStyle({ body, documentElement }: Document): void {
  for (let only = onlyDiv(body), depth = 0; only && depth < 2; only = onlyDiv(only), depth++) {
    const { display, margin, backgroundColor } = only.style;
    const background = display === "flow-root" ? backgroundColor : "";
    if (background) documentElement.style.backgroundColor = background;
    if (margin === "0px" || (background && margin)) body.style.margin = "0";
    if (background || margin) return;
  }
}

/** onlyDiv is the div that is all that an element has. */
function onlyDiv(element: HTMLElement): HTMLElement | null {
  const [first, ...others] = [...element.childNodes].filter((node) => node.nodeType === 1 || node.textContent?.trim());
  return first && others.length === 0 && first.nodeName === "DIV" ? (first as HTMLElement) : null;
}
