// What a list needs that shows a part of its rows: which rows are on the screen, and which are selected.

/** visible returns the rows, from the first to before the last, that a list of rows of one height shows, with some beyond each edge. */
export function visible(top: number, height: number, row: number, count: number, beyond: number): { first: number; last: number } {
  const first = Math.max(0, Math.min(count, Math.floor(top / row)) - beyond);
  const last = Math.min(count, Math.ceil((Math.max(0, top) + height) / row) + beyond);
  return { first: Math.min(first, last), last };
}

/** Selection is which rows are selected, by id, and the row from which a range begins. */
export type Selection = { ids: ReadonlySet<string>; anchor: string };

export const nothing: Selection = { ids: new Set(), anchor: "" };

/** toggled selects a row, or takes it out of the selection. */
export function toggled({ ids }: Selection, id: string): Selection {
  const after = new Set(ids);
  if (!after.delete(id)) after.add(id);
  return { ids: after, anchor: id };
}

/** extended selects the rows from the anchor to a row, in the order of the list, beside those that are selected. */
export function extended(selection: Selection, order: readonly string[], id: string): Selection {
  const to = order.indexOf(id);
  if (to < 0) return selection;
  const from = order.indexOf(selection.anchor);
  if (from < 0) return { ids: new Set([...selection.ids, id]), anchor: id };
  const range = order.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { ids: new Set([...selection.ids, ...range]), anchor: selection.anchor };
}

/** kept is a selection without the rows that are gone. */
export function kept(selection: Selection, gone: ReadonlySet<string>): Selection {
  if (![...selection.ids].some((id) => gone.has(id))) return selection;
  return { ids: new Set([...selection.ids].filter((id) => !gone.has(id))), anchor: gone.has(selection.anchor) ? "" : selection.anchor };
}

/** merged is a list, newest first, with the newest page of it read again: what came is added, and what is gone is left out. */
export function merged<T extends { id: string }>(known: readonly T[], page: readonly T[], complete: boolean): T[] {
  const oldest = page.at(-1)?.id ?? "";
  if (complete || !known.some(({ id }) => id >= oldest)) return [...page]; // complete, or with a gap behind the page
  return [...page, ...known.filter(({ id }) => id < oldest)];
}

/** joined is a list, newest first, with those of the newest page of it that were not known. What is not complete has none beyond its end. */
export function joined<T extends { id: string }>(known: readonly T[], page: readonly T[], complete: boolean): T[] {
  const ids = new Set(known.map(({ id }) => id));
  const oldest = complete ? "" : (known.at(-1)?.id ?? "");
  const fresh = page.filter(({ id }) => id > oldest && !ids.has(id));
  return [...known, ...fresh].sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Suggestion is a prefix of searches that can stand at the end of what is typed. */
const prefixes = [
  "from:", "to:", "subject:", "is:unread", "is:read", "has:attachment", "tag:", "is:tagged", "after:", "before:",
  "larger:", "smaller:", "cc:", "bcc:", "reply-to:", "addressed:", "message-id:", "has:inline",
] as const;

const takesDay = (prefix: string) => prefix === "after:" || prefix === "before:";

/** lastWord returns the word of a search that is being typed, without its sign and in lower case; null within a phrase. */
function lastWord(search: string): string | null {
  const quotes = search.split('"').length - 1;
  if (quotes % 2 === 1) return null;
  return (/[^\s]*$/.exec(search)?.[0] ?? "").replace(/^[-!]/, "").toLowerCase();
}

/** suggestions returns what the last word of a search may become: prefixes, all where a new word begins, or the day behind one that takes it. */
export function suggestions(search: string, day: string): string[] {
  const word = lastWord(search);
  if (word === null) return [];
  if (takesDay(word)) return [word + day];
  return prefixes.filter((prefix) => prefix.startsWith(word) && prefix !== word);
}

const mostProjects = 4; // that are offered at once

/** projectsFor returns the projects whose names begin with the last word of a search. */
export function projectsFor(search: string, names: readonly string[]): string[] {
  const word = lastWord(search);
  return word === null ? [] : names.filter((name) => name.startsWith(word)).slice(0, mostProjects);
}

/** withoutLastWord is a search without the word that is being typed. */
export const withoutLastWord = (search: string) => search.replace(/[^\s]*$/, "").trimEnd();

/** prefixOf returns the prefix that a suggestion begins with. */
export const prefixOf = (suggestion: string) => prefixes.find((prefix) => prefix === suggestion) ?? prefixes.find((prefix) => suggestion.startsWith(prefix))!;

/** isUnfinished reports whether a search ends with a prefix whose value has not been typed yet. */
export function isUnfinished(search: string): boolean {
  const word = lastWord(search);
  return word !== null && word.endsWith(":") && prefixes.some((prefix) => prefix === word);
}

/** dayOf writes the day of a time so that a search takes it as that of this device. Without an offset a day is one of UTC. */
export function dayOf(time: Date): string {
  const two = (n: number) => String(n).padStart(2, "0");
  const begin = new Date(time.getFullYear(), time.getMonth(), time.getDate());
  const ahead = -begin.getTimezoneOffset(); // minutes
  const date = `${begin.getFullYear()}-${two(begin.getMonth() + 1)}-${two(begin.getDate())}`;
  if (ahead === 0) return date;
  const offset = `${ahead < 0 ? "-" : "+"}${two(Math.floor(Math.abs(ahead) / 60))}:${two(Math.abs(ahead) % 60)}`;
  return `${date}T00:00:00${offset}`;
}

/** completed is a search whose last word has become a prefix, with the day where it takes one: what came before today is looked for most. */
export function completed(search: string, prefix: string, day: string): string {
  const word = /[-!]?[^\s]*$/.exec(search)?.[0] ?? "";
  const sign = /^[-!]/.exec(word)?.[0] ?? "";
  const value = takesDay(prefix) ? `${day} ` : prefix.endsWith(":") ? "" : " ";
  return search.slice(0, search.length - word.length) + sign + prefix + value;
}

/** tagged is a search that finds only messages with a tag as well. */
export function tagged(search: string, tag: string): string {
  const term = /[\s"]/.test(tag) ? `tag:"${tag.replaceAll('"', "")}"` : `tag:${tag}`;
  const words = search.trim();
  if (` ${words} `.toLowerCase().includes(` ${term} `.toLowerCase())) return words;
  return words ? `${words} ${term}` : term;
}

/** headersWith are the headers that have all of the words, in the name or the value, whatever their case. */
export function headersWith<T extends { name: string; value: string }>(headers: readonly T[], words: string): T[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return headers.filter(({ name, value }) => {
    const line = `${name}: ${value}`.toLowerCase();
    return wanted.every((word) => line.includes(word));
  });
}
