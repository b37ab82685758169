import { expect, test } from "vitest";
import { entry, separator } from "./mbox";

const octets = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const text = (octets: Uint8Array) => String.fromCharCode(...octets);
const at = "2026-03-04T05:06:07.89Z";

test("a message begins with a line that names its sender and time", () => {
  expect(separator("ada@shop.example", at)).toBe("From ada@shop.example Wed Mar  4 05:06:07 2026\n");
  expect(separator("", "2026-11-28T22:00:00Z")).toBe("From MAILER-DAEMON Sat Nov 28 22:00:00 2026\n");
  expect(separator("a b\r\nFrom x@y", at)).toBe("From abFromx@y Wed Mar  4 05:06:07 2026\n");
});

test("lines end with a line feed, and an empty line ends the message", () => {
  expect(text(entry(octets("Subject: x\r\n\r\nhello\r\n"), "a@b", at)).split("\n").slice(1)).toEqual(["Subject: x", "", "hello", "", ""]);
  expect(text(entry(octets("Subject: x\r\n\r\nhello"), "a@b", at))).toMatch(/hello\n\n$/);
  expect(text(entry(octets("a\rb\r\r\nc"), "a@b", at))).toContain("\na\rb\r\nc\n\n"); // a lone CR stays
});

test("a line that looks like the beginning of a message is quoted", () => {
  const lines = text(entry(octets("From me\r\n>From you\r\n>>From us\r\n From\r\nFromage\r\nX From y\r\n"), "a@b", at)).split("\n");
  expect(lines.slice(1, 7)).toEqual([">From me", ">>From you", ">>>From us", " From", "Fromage", "X From y"]);
  expect(text(entry(octets("From \n".repeat(500)), "a@b", at)).split("\n>From ").length).toBe(501);
});

test("octets stay as they are", () => {
  const raw = Uint8Array.from({ length: 256 }, (_, i) => (i === 10 || i === 13 ? 65 : i));
  const made = entry(raw, "a@b", at);
  expect(made.slice(-258, -2)).toEqual(raw);
});
