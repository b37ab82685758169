// The words of the card of a verification link, which come with it.
import { text } from "./text.svelte";

const en = {
  title: "Verification link",
  copied: "Link copied",
  from: (sender: string, host: string) => `Verification link from ${sender}, which leads to ${host}`,
};

const vi: typeof en = {
  title: "Liên kết xác minh",
  copied: "Đã sao chép liên kết",
  from: (sender, host) => `Liên kết xác minh từ ${sender}, dẫn đến ${host}`,
};

class LinkText {
  t = $derived(text.language === "vi" ? vi : en);
}

export const linkText = new LinkText();
