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

export type Piece = { text: string; link: Link | null };

/** pieces cuts plain text into texts and the web addresses in it. */
export function pieces(plain: string): Piece[] {
  const all: Piece[] = [];
  let end = 0;
  for (const match of plain.matchAll(/https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]}]/g)) {
    const link = linkOf(match[0]);
    if (!link) continue;
    all.push({ text: plain.slice(end, match.index), link: null }, { text: match[0], link });
    end = match.index + match[0].length;
  }
  all.push({ text: plain.slice(end), link: null });
  return all.filter((piece) => piece.text !== "");
}
