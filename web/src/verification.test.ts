import { expect, test } from "vitest";
import { verificationLink } from "./verification";

const plain = (...addresses: string[]) => addresses.map((address) => ({ address, words: "" }));

test.each([
  ["the address says so", plain("https://a.example/blog", "https://a.example/verify?t=1"), "Hi", "https://a.example/verify?t=1"],
  ["the words say so", [{ address: "https://click.example/x1", words: "Read more" }, { address: "https://click.example/x2", words: "Confirm your address" }], "Hi", "https://click.example/x2"],
  ["the words in Vietnamese", [{ address: "https://click.example/x2", words: "Xác nhận email" }], "Chào bạn", "https://click.example/x2"],
  ["words count more than the address", [...plain("https://a.example/login"), { address: "https://a.example/x", words: "Verify" }], "Hi", "https://a.example/x"],
  ["only link under a subject that asks for it", plain("https://click.example/x1", "https://click.example/x1"), "Confirm your email", "https://click.example/x1"],
  ["none of several that say nothing", plain("https://click.example/x1", "https://click.example/x2"), "Confirm your email", undefined],
  ["no link of a newsletter", plain("https://shop.example/sale", "https://shop.example/unsubscribe?token=1"), "Sale", undefined],
  ["nothing but https", plain("http://a.example/verify", "javascript:verify()"), "Verify", undefined],
  ["the host is no reason", plain("https://login.example/sale", "https://b.example/"), "Sale", undefined],
])("%s", (_, candidates, subject, wanted) => expect(verificationLink(candidates, subject)?.url).toBe(wanted));
