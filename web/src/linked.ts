// The link that one of the newest messages asks to open. It is loaded with the first message that has no code.
import { boxes } from "./boxes.svelte";
import LinkHead from "./components/LinkHead.svelte";
import type { Inbox } from "./inbox.svelte";
import { actionLink } from "./link";
import { page, senderOf } from "./page.svelte";
import { linkText } from "./text/link.svelte";

const most = 3; // messages that are looked at, newest first

const announced = new WeakMap<Inbox, Set<string>>();

/** look shows the link of the newest of the messages that came after the newest code. */
export function look(inbox: Inbox): void {
  const box = boxes.find(inbox.id);
  if (!box || box.ended) return;
  const known = announced.get(inbox) ?? new Set<string>();
  announced.set(inbox, known);
  const code = inbox.messages.findIndex((message) => message.otp);
  for (const message of inbox.messages.slice(0, code < 0 ? most : Math.min(code, most))) {
    const link = actionLink(message.action);
    if (!link) continue;
    const { id } = message;
    if (inbox.link?.id !== id) inbox.link = { id, link, title: () => linkText.t.title, Head: LinkHead };
    const fresh = !known.has(id);
    known.add(id);
    if (!fresh || Date.parse(message.receivedAt) < inbox.openedAt) return;
    const title = `${linkText.t.title} · ${senderOf(message)}`;
    page.announce(linkText.t.from(senderOf(message), link.host));
    page.alarm(title);
    page.notify(title, box.address);
    return;
  }
}
