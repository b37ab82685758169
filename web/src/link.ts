/** Link is a web address with its host apart, as the page shows it: never by a text of the mail. */
export type Link = { url: string; host: string; rest: string };

/** linkOf reads a web address; null where it is none. */
export function linkOf(address: string | undefined): Link | null {
  if (!address) return null;
  try {
    const url = new URL(address);
    if (url.protocol !== "https:" && url.protocol !== "http:") return null;
    return { url: url.href, host: url.host, rest: url.href.slice(url.href.indexOf(url.host) + url.host.length) };
  } catch {
    return null;
  }
}

/** actionLink returns the link that a message asks to open, if there is one and it leads there by https. */
export function actionLink(action: { url: string } | null | undefined): Link | null {
  const link = linkOf(action?.url);
  return link?.url.startsWith("https:") ? link : null;
}

export type Piece = { text: string; link: Link | null };

const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/**
 * pieces cuts plain text into texts and the web addresses in it. links are those that the server found: where an address ends
 * is for it to say. An address that goes on behind one of them is another one, and one in angle brackets may be broken.
 */
export function pieces(plain: string, links: readonly string[]): Piece[] {
  const found = new Map(links.flatMap((address) => ((link) => (link ? [[address, link] as const] : []))(linkOf(address))));
  if (found.size === 0) return plain ? [{ text: plain, link: null }] : [];
  const longestFirst = [...found.keys()].sort((a, b) => b.length - a.length);
  const any = new RegExp(`(?<=<)https?:[^<>]*\\n[^<>]*(?=>)|(?:${longestFirst.map(literal).join("|")})(?![\\w~%/=-])`, "g");
  const all: Piece[] = [];
  let end = 0;
  for (const match of plain.matchAll(any)) {
    const link = found.get(match[0].replace(/\s+/g, ""));
    if (!link) continue;
    all.push({ text: plain.slice(end, match.index), link: null }, { text: match[0], link });
    end = match.index + match[0].length;
  }
  all.push({ text: plain.slice(end), link: null });
  return all.filter((piece) => piece.text !== "");
}
