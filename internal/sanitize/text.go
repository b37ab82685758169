package sanitize

import (
	"html"
	"strings"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/htmltoken"
)

// Text gives the readable text of HTML: for previews, filters and codes of mail without a text part. Blocks, rows, list
// items and br begin lines of their own, cells of a row are separated by a space, white space is collapsed outside pre,
// entities are decoded, links give their text only. What is not shown is left out: the head, scripts and styles,
// elements hidden by display:none, visibility:hidden or the hidden attribute, and invisible filler characters.
//
// It reads the tags one by one and builds no tree, so its time is proportional to the length of src whatever is in it.
func Text(src string) string {
	r := textReader{z: htmltoken.New(src)}
	r.out.Grow(min(len(src)/2, maxTextBytes))
	for r.z.Next() {
		switch r.z.Kind {
		case htmltoken.Text:
			if r.hiddenBy == "" {
				r.text(html.UnescapeString(r.z.Text))
			}
		case htmltoken.StartTag:
			r.start(r.z.Name)
		case htmltoken.EndTag:
			r.end(r.z.Name)
		}
	}
	return r.out.String()
}

type textReader struct {
	z   *htmltoken.Tokenizer
	out textWriter

	hiddenBy string // the element whose content is being left out; empty: none
	depth    int    // elements of that name open within it, itself included
	pre      int    // pre elements open
}

func (r *textReader) start(name string) {
	switch {
	case r.hiddenBy != "":
		if name == r.hiddenBy {
			r.depth++
		} else if name == "body" && r.hiddenBy == "head" {
			r.hiddenBy = ""
		}
		return
	case unread[name] || !void[name] && r.isHidden():
		r.hiddenBy, r.depth = name, 1
	case name == "pre":
		r.pre++
	}
	r.boundary(name)
}

func (r *textReader) end(name string) {
	if r.hiddenBy != "" {
		if name == r.hiddenBy {
			if r.depth--; r.depth == 0 {
				r.hiddenBy = ""
			}
		}
		return
	}
	if name == "pre" {
		r.pre = max(0, r.pre-1)
	}
	r.boundary(name)
}

// boundary separates the text before and after a tag as a browser shows it: by a line break, a space, or not at all.
func (r *textReader) boundary(name string) {
	switch {
	case name == "br":
		r.out.lineBreak()
	case name == "td" || name == "th":
		r.out.space()
	case isBlock[name]:
		r.out.newLine()
	}
}

// isHidden reports whether the attributes of the present tag hide its element.
func (r *textReader) isHidden() bool {
	for _, a := range r.z.Attrs {
		if a.Name == "hidden" || a.Name == "style" && hides(a.Value()) {
			return true
		}
	}
	return false
}

// hides reports whether an inline style takes the element out of view.
func hides(css string) bool {
	for decl := range strings.SplitSeq(css, ";") {
		name, val, _ := strings.Cut(decl, ":")
		switch name = strings.TrimSpace(name); {
		case strings.EqualFold(name, "display"):
			if hasWord(val, "none") {
				return true
			}
		case strings.EqualFold(name, "visibility"):
			if hasWord(val, "hidden") || hasWord(val, "collapse") {
				return true
			}
		}
	}
	return false
}

// hasWord reports whether the value of a declaration begins with word; !important may follow.
func hasWord(val, word string) bool {
	val = strings.TrimSpace(val)
	return len(val) >= len(word) && strings.EqualFold(val[:len(word)], word)
}

func (r *textReader) text(s string) {
	if r.pre > 0 {
		for line := range strings.Lines(s) {
			line, ended := strings.CutSuffix(line, "\n")
			r.out.words(line)
			if ended {
				r.out.lineBreak()
			}
		}
		return
	}
	r.out.words(s)
}

// unread are the elements whose content is not part of the text.
var unread = set("applet", "canvas", "datalist", "embed", "frameset", "head", "iframe", "map", "math", "noembed", "noframes",
	"noscript", "object", "script", "select", "style", "svg", "template", "title", "xml")

var isBlock = set("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir",
	"div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
	"hr", "html", "legend", "li", "listing", "main", "menu", "nav", "ol", "p", "plaintext", "pre", "section", "summary",
	"table", "tbody", "tfoot", "thead", "tr", "ul", "xmp")

// textWriter collects words with single spaces and line ends between them.
type textWriter struct {
	strings.Builder
	pendingSpace bool
	pendingLines int  // line ends to write before the next word
	wrote        bool // a word since the last line end
}

func (w *textWriter) space() { w.pendingSpace = true }

// newLine makes sure that the next word begins a line.
func (w *textWriter) newLine() {
	if w.wrote {
		w.pendingLines++
		w.wrote = false
	}
	w.pendingSpace = false
}

// lineBreak ends the line, even an empty one; two in a row leave one line empty, more do not add to that.
func (w *textWriter) lineBreak() {
	w.wrote = false
	w.pendingLines = min(w.pendingLines+1, 2)
	w.pendingSpace = false
}

// words writes s with its white space collapsed.
func (w *textWriter) words(s string) {
	for s != "" {
		n := plainRun(s)
		if n > 0 {
			w.word(s[:n])
			s = s[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case isSpace(r):
			w.pendingSpace = true
		case r == utf8.RuneError && size == 1:
			w.word("\uFFFD")
		case isFiller(r), isJoiner(r) && (w.pendingSpace || !w.wrote), r < ' ' || r == 0x7f:
			// invisible
		default:
			w.word(s[:size])
		}
		s = s[size:]
	}
}

// plainRun is the length of the printable ASCII at the beginning of s.
func plainRun(s string) int {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return i
		}
	}
	return len(s)
}

func (w *textWriter) word(s string) {
	switch {
	case w.pendingLines > 0:
		if w.Len() > 0 {
			w.WriteString("\n\n"[:min(w.pendingLines, 2)])
		}
	case w.pendingSpace && w.wrote:
		w.WriteByte(' ')
	}
	w.pendingLines, w.pendingSpace, w.wrote = 0, false, true
	if w.Cap()-w.Len() < len(s) {
		w.Grow(len(s)) // at least doubles it; appending alone would add a quarter
	}
	w.WriteString(s)
}

func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\f', '\v', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
		return true
	}
	return 0x2000 <= r && r <= 0x200a
}

// isFiller reports characters without a glyph, which mails use to push the next words out of a preview.
func isFiller(r rune) bool {
	switch r {
	case 0xad, 0x034f, 0x061c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2060, 0xfeff:
		return true
	}
	return false
}

// isJoiner reports characters that mean something within a word only.
func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d }
