import { expect, test } from "vitest";
import { sourcePieces } from "./htmlSource";

const written = (html: string) => sourcePieces(html).map(({ text }) => text).join("").replace(/ +$/gm, "");

test.each([
  ["", ""],
  ["plain &lt;text&gt;", "plain &lt;text&gt;"],
  ["<p>One <b>two</b></p>\n<p>Three</p>", "<p>One <b>two</b></p>\n<p>Three</p>"],
  ["<div><p>One</p><p>Two</p></div>", "<div>\n  <p>One</p>\n  <p>Two</p>\n</div>"],
  ["<table><tbody><tr><td></td></tr></tbody></table>", "<table>\n  <tbody>\n    <tr>\n      <td></td>\n    </tr>\n  </tbody>\n</table>"],
  ["<div>a<hr>b</div>", "<div>\n  a\n  <hr>\n  b\n</div>"],
  ["<div><pre>a\n  b\n</pre></div>", "<div>\n  <pre>a\n  b\n</pre>\n</div>"],
  ["<style>a { color: red }\nb { top: 0 }</style><p>x</p>", "<style>a { color: red }\nb { top: 0 }</style>\n<p>x</p>"],
  ["</div></div><p>x</p>", "</div>\n</div>\n<p>x</p>"],
])("%j is written as %j", (html, want) => {
  expect(written(html)).toBe(want);
});

test("a long element has its content on a line of its own", () => {
  const words = "word ".repeat(30).trim();
  expect(written(`<p>${words}</p>`)).toBe(`<p>\n  ${words}\n</p>`);
});

test("tags, attributes and comments are parted", () => {
  const pieces = sourcePieces(`<a href="https://a.example/?x=1&amp;y=>" title='t' hidden>x</a><!-- note -->`).filter(({ kind }) => kind !== "");
  expect(pieces.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    "tag <a",
    "name href",
    `value "https://a.example/?x=1&amp;y=>"`,
    "name title",
    "value 't'",
    "name hidden",
    "tag >",
    "tag </a",
    "tag >",
    "comment <!-- note -->",
  ]);
});

test.each(["<p>a<b>c", `<a href="x`, "a < b", "<!-- open", "<td><div></td></div>", "<br/><img src=x />", "<p =x y= >", "<>< /p>"])("nothing of %j is lost", (html) => {
  const marks = (text: string) => text.replace(/\s+/g, "");
  expect(marks(written(html))).toBe(marks(html));
});
