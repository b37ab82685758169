// Cloudflare Email Worker of Gonebox for the ingress NAME: it posts each mail, as it is, and tells Cloudflare what came of it.
// A mail that could not be stored now makes it throw, so that the sending server tries again; one that is refused for good is rejected.
const url = "URL";
const secret = "SECRET";

export default {
  async email(message, env) {
    const text = new TextEncoder();
    const field = (value) => String.fromCharCode(...text.encode(value)); // UTF-8 in a header field
    const body = new Uint8Array(await new Response(message.raw).arrayBuffer());
    const time = Math.floor(Date.now() / 1000);
    const head = text.encode([time, message.from, message.to, "", ""].join("\n"));
    const signed = new Uint8Array(head.length + body.length);
    signed.set(head);
    signed.set(body, head.length);
    const key = await crypto.subtle.importKey("raw", text.encode(env?.GONEBOX_SECRET ?? secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const mac = [...new Uint8Array(await crypto.subtle.sign("HMAC", key, signed))].map((octet) => octet.toString(16).padStart(2, "0")).join("");
    const response = await fetch(url, {
      method: "POST", redirect: "manual", body,
      headers: { "Content-Type": "message/rfc822", "X-Envelope-From": field(message.from), "X-Envelope-To": field(message.to), "X-Signature": `t=${time},v1=${mac}` },
    });
    if (response.ok) return;
    const { status } = response;
    const { detail } = await response.json().catch(() => ({}));
    if (status < 400 || status >= 500 || [401, 403, 429].includes(status)) throw new Error(`Gonebox answered ${status}: ${detail}`);
    message.setReject(detail ?? "The mail is refused");
  },
};
