// Which link of a message verifies or signs in. The server ranks links in messages with a code; of others it lists them all.
import { type Link, linkOf } from "./link";

/** Candidate is a web address of a message, with the words that it is written on, if any. */
export type Candidate = { address: string; words: string };

// The words of the addresses that the server looks for as well (internal/otp).
const inAddress = /verif|confirm|activat|magic|sign[-_]?in|log-?in|auth|validat|reset|passwordless|otp|token=|code=|opt-?in|aktiv|valider|bestaet|potvrd/i;
const inWords = /verif|confirm|activat|sign\s?-?in|log\s?-?in|reset|xác (nhận|minh|thực)|kích hoạt|đăng nhập|đặt lại/i;
const unwanted = /unsubscribe|preferences|privacy|terms|\/help|support|policy|opt-?out|not-?me|wasnt|revoke|secure-account|report|browser|faq|contact|abuse|hủy đăng ký|\.(png|gif|jpg|css)\b/i;

/** verificationLink returns the best link by https of those in a message; null where none verifies or signs in. */
export function verificationLink(candidates: Candidate[], subject: string): Link | null {
  let best: Link | null = null;
  let most = 0;
  const others: Link[] = [];
  for (const { address, words } of candidates) {
    const link = linkOf(address);
    if (!link?.url.startsWith("https:") || unwanted.test(link.rest) || unwanted.test(words)) continue;
    others.push(link);
    const rank = (inWords.test(words) ? 2 : 0) + (inAddress.test(link.rest) ? 1 : 0);
    if (rank > most) [best, most] = [link, rank];
  }
  const distinct = new Set(others.map((link) => link.url));
  // An address that says nothing is meant where the subject asks for it and there is no other.
  return best ?? (distinct.size === 1 && inWords.test(subject) ? others[0]! : null);
}

/** candidatesOf lists the web addresses of a message, those of its HTML with their words. Nothing of the HTML is loaded. */
export function candidatesOf(html: string | null, links: string[]): Candidate[] {
  const template = document.createElement("template");
  template.innerHTML = html ?? "";
  const written = [...template.content.querySelectorAll("a[href]")].map((a) => ({
    address: a.getAttribute("href")!,
    words: a.textContent.replace(/\s+/g, " ").trim(),
  }));
  return [...written, ...links.map((address) => ({ address, words: "" }))];
}
