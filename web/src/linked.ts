// Finding the verification link of the newest messages. It is loaded with the first message that has no code.
import { type Summary, listMessages, readMessage, setSeen } from "./api/client";
import { boxes } from "./boxes.svelte";
import LinkHead from "./components/LinkHead.svelte";
import type { Inbox } from "./inbox.svelte";
import type { Link } from "./link";
import { page, senderOf } from "./page.svelte";
import { linkText } from "./text/link.svelte";
import { candidatesOf, verificationLink } from "./verification";

const most = 3; // messages that are looked through, newest first
const largest = 1 << 20; // octets of a mail that is looked through
const echo = 2000; // milliseconds in which the stream still tells of a reading that was taken back

type Search = { known: Map<string, Link | null>; running: Promise<void> };
const searches = new WeakMap<Inbox, Search>();

/** look looks for a verification link in the messages that came after the newest code. */
export function look(inbox: Inbox): void {
  const search = searches.get(inbox) ?? { known: new Map(), running: Promise.resolve() };
  searches.set(inbox, search);
  // A failure is tried again when the list changes.
  search.running = search.running.then(() => once(inbox, search.known)).catch(() => {});
}

async function once(inbox: Inbox, known: Search["known"]): Promise<void> {
  const box = boxes.find(inbox.id);
  const code = inbox.messages.findIndex((message) => message.otp);
  const newest = inbox.messages.slice(0, code < 0 ? most : Math.min(code, most));
  if (!box || box.ended) return;
  if (newest.some((message) => !known.has(message.id))) {
    const linked = new Set((await listMessages(box.token, { has: ["link"] })).data.map((message) => message.id));
    for (const { id, size } of newest) if (!known.has(id) && (!linked.has(id) || size > largest)) known.set(id, null);
  }
  for (const message of newest) {
    const { id } = message;
    const fresh = !known.has(id);
    if (fresh) known.set(id, await linkIn(inbox, box.token, message));
    const link = known.get(id);
    if (!link) continue;
    if (inbox.link?.id !== id) inbox.link = { id, link, title: () => linkText.t.title, Head: LinkHead };
    if (!fresh || Date.parse(message.receivedAt) < inbox.openedAt) return;
    const title = `${linkText.t.title} · ${senderOf(message)}`;
    page.announce(linkText.t.from(senderOf(message), link.host));
    page.alarm(title);
    page.notify(title, box.address);
    return;
  }
}

/** linkIn reads a message for its link. Reading marks it as seen, which is taken back unless the person has read it meanwhile. */
async function linkIn(inbox: Inbox, token: string, { id, subject, seen }: Summary): Promise<Link | null> {
  const opened = () => page.open === id || inbox.messages.some((message) => message.id === id && message.seen);
  inbox.peeked.add(id);
  try {
    const { html, links } = await readMessage(token, id);
    if (!seen && !opened()) {
      await setSeen(token, id, false);
      if (opened()) await setSeen(token, id, true);
    }
    return verificationLink(candidatesOf(html, links), subject);
  } finally {
    setTimeout(() => inbox.peeked.delete(id), echo);
  }
}
