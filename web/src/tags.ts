// The tags of messages, in the form that the service gives them (docs/spec/mailpit.md).

/** mostTags is how many tags a message may have. */
export const mostTags = 20;

const longest = 100; // characters of a tag

/** tagsIn are the tags that a text lists, separated by commas; null where a part of it is no tag. A person may write the # that stands before a tag here. */
export function tagsIn(text: string): string[] | null {
  const parts = text.split(",").map((part) => part.trim().replace(/^#/, "")).filter((part) => part !== "");
  if (parts.some((part) => /[^\w\-.@\s]/.test(part))) return null;
  const tags = parts.map((part) => part.replace(/\s+/g, " ").trim().slice(0, longest).trim());
  return tags.every((tag) => tag !== "") ? tags : null;
}

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

/** withTags are tags with others beside them, sorted, each once: two that differ in case alone are the same. */
export function withTags(tags: readonly string[], others: readonly string[]): string[] {
  const all = [...tags];
  for (const tag of others) if (!all.some((one) => isSame(one, tag))) all.push(tag);
  return all.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
}

/** withoutTag are tags without one of them. */
export const withoutTag = (tags: readonly string[], tag: string): string[] => tags.filter((one) => !isSame(one, tag));

/** looksAtTags reports whether what a search finds depends on tags. */
export const looksAtTags = (search: string) => /(^|[\s!-])(tag:|is:tagged)/i.test(search);
