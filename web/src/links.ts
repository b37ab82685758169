// The links of a message, with what is worth knowing before one opens them. Nothing of them is fetched.
import type { Message } from "./api/client";
import { type Link, linkOf } from "./link";
import { parsed } from "./mail";
import { withoutBidi } from "./page.svelte";

export type LinkKind = "insecure" | "mismatch" | "punycode" | "redirect" | "unsubscribe";

/** MailLink is an address with the text that a reader sees; link is null where it is none of the web, such as mailto. */
export type MailLink = { address: string; link: Link | null; text: string; kinds: LinkKind[] };

type Anchor = { href: string; text: string };

// Endings of files, which look like hosts where a text is nothing but the name of one.
const files = /\.(pdf|docx?|xlsx?|pptx?|csv|txt|zip|png|jpe?g|gif|svg|html?|js|css|json|md|ics|eml)$/i;

/** shownHosts are the hosts that a text shows: those of its addresses, or the one that it consists of. */
function shownHosts(text: string): string[] {
  const addresses: string[] = text.match(/\bhttps?:\/\/[^\s<>"]+|(?<![\w@.-])www\.[^\s<>"]+/gi) ?? [];
  const whole = text.trim();
  if (addresses.length === 0 && /^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*\.\p{L}{2,}\.?([/?#:]\S*)?$/u.test(whole) && !files.test(whole)) addresses.push(whole);
  return addresses.flatMap((address) => {
    const url = linkOf(/^https?:/i.test(address) ? address : `https://${address}`);
    return url ? [bare(new URL(url.url).hostname)] : [];
  });
}

const bare = (host: string) => host.replace(/^www\./, "").replace(/\.$/, "");
const isWithin = (host: string, shown: string) => host === shown || host.endsWith(`.${shown}`);

const onward = new Set(["url", "u", "q", "l", "link", "target", "dest", "destination", "goto", "go", "href", "redirect", "r"]);
const counters = /^(click|clicks|clk|trk|link-?track\w*)\d*\./;
const counting = /(^|\/)(ls\/click|wf\/click|track\/click|e\/c|clicks?|clk|trk|cl0|l0)(\/|$)|https?(:|%3a)(\/|%2f)/i;

/** isRedirect reports whether an address is known to count clicks before it leads on, or names the address that it leads on to. */
function isRedirect({ hostname, pathname, searchParams }: URL): boolean {
  if (counters.test(hostname) || counting.test(pathname)) return true;
  for (const [name, value] of searchParams) {
    const next = onward.has(name.toLowerCase()) ? linkOf(value) : null;
    if (next && new URL(next.url).hostname !== hostname) return true;
  }
  return false;
}

const unsubscribing = /unsubscri|opt-?out|abmelden|abbestellen|d[ée]sabonn|d[ée]sinscri|darse de baja|cancelar (la )?suscripci|h[uủ]y đăng k[yý]|отписаться|配信停止|退订/i;

/** kindsOf says what is worth knowing of a link; listed are the addresses of the header List-Unsubscribe. */
export function kindsOf(link: Link, text: string, listed: readonly string[] = []): LinkKind[] {
  const url = new URL(link.url);
  const host = bare(url.hostname);
  const is: Record<LinkKind, boolean> = {
    insecure: url.protocol === "http:",
    mismatch: shownHosts(text).some((shown) => !isWithin(host, shown)),
    punycode: host.split(".").some((label) => label.startsWith("xn--")),
    redirect: isRedirect(url),
    unsubscribe: listed.includes(link.url) || unsubscribing.test(text) || unsubscribing.test(url.pathname),
  };
  return (Object.keys(is) as LinkKind[]).filter((kind) => is[kind]);
}

/** linkList lists each address with each of its texts once: those of the HTML, then the others, which have no text. */
export function linkList(anchors: readonly Anchor[], others: readonly string[], listed: readonly string[] = []): MailLink[] {
  const all = new Map<string, MailLink>();
  const known = new Set<string>();
  const add = (address: string, text: string) => {
    const link = linkOf(address);
    const url = link?.url ?? address;
    const key = JSON.stringify([url, text]);
    known.add(url);
    if (!all.has(key)) all.set(key, { address: url, link, text, kinds: link ? kindsOf(link, text, listed) : [] });
  };
  for (const { href, text } of anchors) add(href.trim(), cleaned(text));
  for (const address of others) if (!known.has(linkOf(address)?.url ?? address)) add(address, "");
  return [...all.values()];
}

// Without what takes no room, so that it cannot hide a host that the text shows.
const cleaned = (text: string) => withoutBidi(text.replace(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, "").replace(/\s+/g, " "));

/** linksOf lists the links of a message. */
export function linksOf(message: Message): MailLink[] {
  const found = message.html ? [...parsed(message.html).content.querySelectorAll("a[href], area[href]")] : [];
  const anchors = found.map((element) => ({
    href: element.getAttribute("href") ?? "",
    text: element.textContent?.trim() || [...element.querySelectorAll("img"), element].map((image) => image.getAttribute("alt") ?? "").join(" "),
  }));
  const listed = message.headers
    .filter(({ name }) => name.toLowerCase() === "list-unsubscribe")
    .flatMap(({ value }) => [...value.matchAll(/<\s*([^<>\s]+)\s*>/g)].flatMap(([, address]) => linkOf(address)?.url ?? []));
  return linkList(anchors.filter(({ href }) => href.trim() !== "" && !href.startsWith("#")), message.links, listed);
}
