import { expect, test } from "vitest";
import { verifiedBy } from "./verdict";

const head = (field: string) => `Return-Path: <a@b.example>\r\nAuthentication-Results: mx.example;${field}\r\nReceived: from x\r\n`;

test.each([
  ["DMARC passed", "\r\n\tspf=none;\r\n\tdmarc=pass header.from=shop.example", true],
  ["a signature of the domain itself", "\r\n\tdkim=pass header.d=shop.example; dmarc=none", true],
  ["a signature of a parent domain", "\r\n\tdkim=fail header.d=x.example;\r\n\tdkim=pass header.d=Shop.example", true],
  ["a signature of another domain", "\r\n\tdkim=pass header.d=list.example; dmarc=none", false],
  ["a signature of a domain that only ends alike", "\r\n\tdkim=pass header.d=op.example; dmarc=none", false],
  ["a signature of a top-level domain", "\r\n\tdkim=pass header.d=example", false],
  ["nothing passed", "\r\n\tspf=none; dkim=none; dmarc=none", false],
])("verifiedBy: %s", (_, field, want) => {
  expect(verifiedBy(head(field), "no-reply@mail.shop.example")).toBe(want);
});

test("a field that the sender wrote further down does not count", () => {
  const forged = head("\r\n\tdmarc=none") + "Authentication-Results: mx.example; dmarc=pass\r\n";
  expect(verifiedBy(forged, "a@shop.example")).toBe(false);
});
