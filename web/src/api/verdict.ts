// Whether the sender of a message was authenticated, without marking the message as seen.
import { rawMessage } from "./client";

/** domainOf returns the domain of an address, in lower case. */
export const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1).toLowerCase();

/** aligned reports whether a signing domain is that of the From address or a parent of it (RFC 7489 §3.1, relaxed). */
const aligned = (signer: string, from: string) => signer.includes(".") && (from === signer || from.endsWith("." + signer));

/**
 * verifiedBy reads the Authentication-Results field (RFC 8601) that this server writes on top of a raw message: DMARC
 * passed, or a DKIM signature of the sender's own domain did.
 */
export function verifiedBy(head: string, from: string): boolean {
  const field = /^Authentication-Results:(.*(?:\r?\n[ \t].*)*)/im.exec(head)?.[1] ?? "";
  if (/\bdmarc=pass\b/.test(field)) return true;
  return [...field.matchAll(/\bdkim=pass header\.d=([^\s;]+)/g)].some((m) => aligned(m[1]!.toLowerCase(), domainOf(from)));
}

/** senderVerified reads the first octets of the raw message; null where it is no longer kept. */
export async function senderVerified(token: string, id: string, from: string): Promise<boolean | null> {
  try {
    const reader = (await rawMessage(token, id)).body!.getReader();
    const decoder = new TextDecoder();
    let head = "";
    while (head.length < 8192 && !/\r?\nReceived:/i.test(head)) {
      const { done, value } = await reader.read();
      if (done) break;
      head += decoder.decode(value, { stream: true });
    }
    void reader.cancel();
    return verifiedBy(head, from);
  } catch {
    return null;
  }
}
