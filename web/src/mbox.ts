// Messages as one mbox file, in the form that keeps lines that begin with "From " apart from those between messages (mboxrd).

const [lineFeed, carriageReturn, greater] = [10, 13, 62];
const fromLine = new TextEncoder().encode("From ");

/** separator is the line before a message (RFC 4155, appendix A): the sender of the envelope and the time of arrival, as asctime writes it. */
export function separator(sender: string, receivedAt: string): string {
  const at = new Date(receivedAt);
  const [day = "", date = "", month = "", year = "", time = ""] = at.toUTCString().replace(",", "").split(" ");
  const address = sender.replace(/[^\x21-\x7e]/g, "") || "MAILER-DAEMON";
  return `From ${address} ${day} ${month} ${date.replace(/^0/, " ")} ${time} ${year}\n`;
}

/** entry is a raw message as it stands in the file: lines end with a line feed, and a line that begins with "From ", also behind ">", gets one ">" more. */
export function entry(raw: Uint8Array, sender: string, receivedAt: string): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(separator(sender, receivedAt));
  // A line of n octets gets longer by one at most, and needs six to be quoted.
  const out = new Uint8Array(head.length + raw.length + Math.ceil(raw.length / 6) + 2);
  out.set(head);
  let end = head.length;
  for (let i = 0, begins = true; i < raw.length; i++) {
    if (begins && isFromLine(raw, i)) out[end++] = greater;
    begins = raw[i] === lineFeed;
    if (raw[i] === carriageReturn && raw[i + 1] === lineFeed) continue;
    out[end++] = raw[i]!;
  }
  if (out[end - 1] !== lineFeed) out[end++] = lineFeed;
  out[end++] = lineFeed;
  return out.slice(0, end);
}

function isFromLine(raw: Uint8Array, at: number): boolean {
  while (raw[at] === greater) at++;
  return fromLine.every((octet, i) => raw[at + i] === octet);
}
