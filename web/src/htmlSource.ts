// The HTML of a message, indented and parted for colours.

/** SourcePiece is a part of the source; kind is "" for text and for what indents. */
export type SourcePiece = { kind: "" | "tag" | "name" | "value" | "comment"; text: string };

type Line = { depth: number; pieces: SourcePiece[]; opens: string }; // opens is the element that begins there, "" for text

const whole = "-"; // an element that ends on its line

const tokens = /<!--[^]*?(?:-->|$)|<[!/]?[a-z](?:"[^"]*"|'[^']*'|[^"'>])*>|[^<]+|</gi;
const attributes = /([^\s=]+)(\s*=\s*)("[^"]*"|'[^']*'|\S+)|[^\s=]+|\s+|=/g;
const empty = new Set(["area", "br", "col", "hr", "img", "input", "source", "wbr"]);
const verbatim = new Set(["pre", "style", "textarea"]);
// What stands within a line of text.
const inline = new Set(
  "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr".split(" "),
);

const widest = 100; // characters of an element that fits on one line
const deepest = 40; // levels that are indented

/** tagPieces parts a tag into its name, and the names and values of its attributes. */
function tagPieces(tag: string): SourcePiece[] {
  const head = /^<[!/]?[^\s/>]*/.exec(tag)![0];
  const tail = /\s*\/?>$/.exec(tag.slice(head.length))?.[0] ?? "";
  const pieces: SourcePiece[] = [{ kind: "tag", text: head }];
  for (const [all, name, equals, value] of tag.slice(head.length, tag.length - tail.length).matchAll(attributes)) {
    if (name && value) pieces.push({ kind: "name", text: name }, { kind: "", text: equals! }, { kind: "value", text: value });
    else pieces.push({ kind: all.trim() ? "name" : "", text: all });
  }
  if (tail) pieces.push({ kind: "tag", text: tail });
  return pieces;
}

const lengthOf = ({ pieces }: Line) => pieces.reduce((sum, { text }) => sum + text.length, 0);

class Lines {
  all: Line[] = [];
  depth = 0;
  #current: Line | null = null;

  append(...pieces: SourcePiece[]): void {
    if (!this.#current) this.begin("");
    this.#current!.pieces.push(...pieces);
  }

  begin(opens: string): void {
    this.all.push((this.#current = { depth: this.depth, pieces: [], opens }));
  }

  text(text: string): void {
    const collapsed = text.replace(/[ \t\r\n\f]+/g, " ");
    const written = this.#current ? collapsed : collapsed.trimStart();
    if (written) this.append({ kind: "", text: written });
  }

  end(): void {
    this.#current = null;
  }

  open(name: string, pieces: SourcePiece[]): void {
    this.begin(name);
    this.append(...pieces);
    this.end();
    this.depth++;
  }

  /** close ends an element, on one line with its start where that is short. */
  close(name: string, pieces: SourcePiece[]): void {
    this.end();
    this.depth = Math.max(0, this.depth - 1);
    const last = this.all.at(-1);
    const before = this.all.at(-2);
    const start = last?.opens === name ? last : last?.opens === "" && before?.opens === name && last.depth === before.depth + 1 ? before : null;
    const inner = start && start !== last ? last! : null;
    if (start?.depth === this.depth && lengthOf(start) + (inner ? lengthOf(inner) : 0) <= widest) {
      if (inner) start.pieces.push(...this.all.pop()!.pieces);
      start.pieces.push(...pieces);
      start.opens = whole;
      return;
    }
    this.append(...pieces);
    this.end();
  }
}

/** sourcePieces parts HTML, as a serializer writes it, and puts each block on lines of its own. */
export function sourcePieces(html: string): SourcePiece[] {
  const lines = new Lines();
  let kept = ""; // the element whose white space counts
  for (const [token] of html.matchAll(tokens)) {
    const [, slash, named] = /^<(\/?)([a-z][^\s/>]*)/i.exec(token) ?? [];
    const name = named?.toLowerCase() ?? "";
    if (token.startsWith("<!--")) lines.append({ kind: "comment", text: token });
    else if (!name && kept) lines.append({ kind: "", text: token });
    else if (!name) lines.text(token);
    else if (kept || inline.has(name)) {
      lines.append(...tagPieces(token));
      if (slash && name === kept) {
        kept = "";
        lines.end();
      }
    } else if (empty.has(name)) {
      lines.end();
      lines.append(...tagPieces(token));
      lines.end();
    } else if (verbatim.has(name) && !slash) {
      kept = name;
      lines.begin(whole);
      lines.append(...tagPieces(token));
    } else if (slash) lines.close(name, tagPieces(token));
    else lines.open(name, tagPieces(token));
  }
  return lines.all.flatMap(({ depth, pieces }, i) => [{ kind: "", text: (i > 0 ? "\n" : "") + "  ".repeat(Math.min(depth, deepest)) }, ...pieces]);
}
