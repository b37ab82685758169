// How HTML will look that staff have not published yet. The server sanitizes what is published; this shows what it keeps.
const kept = new Set(
  "A ABBR B BLOCKQUOTE BR CAPTION CODE DD DEL DIV DL DT EM H1 H2 H3 H4 H5 H6 HR I INS LI OL P PRE S SMALL SPAN STRONG SUB SUP TABLE TBODY TD TFOOT TH THEAD TR U UL".split(" "),
);
const dropped = new Set("SCRIPT STYLE TEMPLATE IFRAME OBJECT EMBED NOSCRIPT TEXTAREA SELECT TITLE SVG MATH".split(" "));

/** preview builds elements anew from html: those of text, without attributes except the targets of links. */
export function preview(html: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  copy(new DOMParser().parseFromString(html, "text/html").body, fragment); // a document without a window runs nothing
  return fragment;
}

function copy(from: Node, to: Node): void {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) to.appendChild(document.createTextNode(node.nodeValue ?? ""));
    if (node.nodeType !== Node.ELEMENT_NODE || dropped.has(node.nodeName.toUpperCase())) continue;
    copy(node, kept.has(node.nodeName) ? to.appendChild(shown(node as Element)) : to);
  }
}

function shown(element: Element): Element {
  if (element.nodeName !== "A") return document.createElement(element.nodeName);
  const target = element.getAttribute("href") ?? "";
  if (!/^(https?:\/\/|mailto:)/i.test(target)) return document.createElement("span");
  const link = document.createElement("a");
  link.href = target;
  link.target = "_blank"; // what is being written stays open
  link.rel = "noopener noreferrer";
  return link;
}
