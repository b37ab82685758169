// Package page reads a mail as its reader sees it: lines of text, folded so that
// letters that look the same are the same, with notes of how each is set. What is
// not seen is left out.
package page

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/gonebox/gonebox/internal/apart"
	"github.com/gonebox/gonebox/internal/htmltoken"
	"github.com/gonebox/gonebox/internal/truncate"
)

// maxRunes bounds what is read of each part of a mail. A code stands near the
// top; 64 Ki letters are some twenty printed pages.
const maxRunes = 64 << 10

// MinCode is how many digits a code has at least.
const MinCode = apart.MinCode

// MaxLone is how long a line may be, in runes, on which a code stands alone.
const MaxLone = 64

// maxComposed bounds the combining marks that are joined to their letters; few
// mails hold any.
const maxComposed = 4096

// Part is where in the mail a line stands.
type Part uint8

// The parts of a mail, in the order in which they are read.
const (
	InSubject   Part = iota
	InPreheader      // text of the HTML that is not shown
	InText
	InHTML
)

// String names the part as explanations do.
func (p Part) String() string {
	return [...]string{"subject", "preheader", "text", "html"}[p]
}

// Merged is the part as a reader counts them. A text and its HTML are one mail
// written twice.
func (p Part) Merged() Part {
	if p == InText {
		return InHTML
	}
	return p
}

// Counts is how often something stands in each part of a mail.
type Counts [4]int

// Seen returns how often a reader sees something: what stands both in the text and
// in its HTML counts once.
func (n Counts) Seen() int { return n[InSubject] + max(n[InText], n[InPreheader]+n[InHTML]) }

// The gaps between lines. A sentence may run over a soft one.
const (
	SoftBreak = '\n'
	HardBreak = '\v'
	CellBreak = '\t'
)

// Line is a line of text or a block of HTML: runes start to end of the page.
type Line struct {
	Start, End int
	Part       Part
	Large      bool // written in large or widely spaced letters, or as a heading
	Link       bool // all of it is a link
	Foot       bool // footer or small print, from footAt on
	FootAt     int
	Quoted     bool // of a quoted or forwarded mail
	District   int  // in which its phrases vote for their language
}

// InFoot reports whether a place on the line is in the footer.
func (l *Line) InFoot(i int) bool { return l.Foot && i >= l.FootAt }

// Link is a reference and the runes it is written on.
type Link struct {
	Url        string
	Start, End int
	Escaped    bool   // the ampersands of the address
	Alt        string // of its last picture
	Typed      bool   // the address itself is written as text, and what it is written on are the words before it
}

// Page is a mail as the extractor reads it: the runes as shown and folded,
// side by side, without what is not seen.
type Page struct {
	Letters  *Alphabet
	Raw      []rune // while the mail is read, there is nothing else
	Low      []rune
	Tags     []byte // of the keys by which the trie knows them
	Kind     []byte // of each rune
	Lines    []Line
	Links    []Link
	Spans    []span
	Steps    int       // of the loops that are not plainly linear; for tests
	composed int       // combining marks joined to letters
	tried    int       // words of the text that were searched for an address
	stack    []element // of the HTML, while it is read
	path     htmltoken.Path
	tokens   htmltoken.Tokenizer
	hidden   []rune    // of the HTML, likewise
	counts   []uint64  // of words and breaks before each rune, in its block
	totals   []uint64  // of the blocks
	Bounds   [4][2]int // the runes of each part

	part     Part
	limit    int
	begin    int // where the open line starts
	large    bool
	unlinked bool // the open line has runes outside links
	inLink   bool
}

// Read fills the page with a mail, of which it may have had another before: its
// buffers are used again.
func (p *Page) Read(subject, text, html string) {
	p.reset()
	p.grow(min(len(subject), maxRunes) + min(len(text), maxRunes) + min(len(html)/4, maxRunes))
	p.open(InSubject)
	for _, r := range truncate.Octets(subject, maxBytes) {
		if p.isFull() {
			break
		}
		p.write(r)
	}
	p.open(InText)
	p.readText(subject, truncate.Octets(text, maxBytes))
	p.open(InHTML)
	p.readHTML(truncate.Octets(html, maxBytes))
	p.prepare()
}

// reset empties the page and keeps its buffers.
func (p *Page) reset() {
	clear(p.Links)
	clear(p.stack[:cap(p.stack)])
	p.path.Reset()
	*p = Page{
		Letters: Alphabets(), Raw: p.Raw[:0], Low: p.Low[:0], Tags: p.Tags[:0], Kind: p.Kind[:0], counts: p.counts[:0], totals: p.totals[:0],
		Lines: p.Lines[:0], Links: p.Links[:0], Spans: p.Spans[:0], stack: p.stack[:0], path: p.path, hidden: p.hidden[:0], tokens: p.tokens,
	}
}

// grow makes room for about so many runes, so that a page does not grow step by
// step.
func (p *Page) grow(n int) {
	p.Raw = slices.Grow(p.Raw, n)
}

// open starts a part of the mail.
func (p *Page) open(where Part) {
	p.breakLine(HardBreak)
	p.part, p.limit = where, len(p.Raw)+maxRunes
	p.Bounds[where] = [2]int{len(p.Raw), len(p.Raw)}
}

// isFull reports whether the part has been read as far as it will be.
func (p *Page) isFull() bool { return len(p.Raw) >= p.limit }

// write adds one rune to the open line; runs of spaces become one.
func (p *Page) write(r rune) {
	if r >= '!' && r <= '~' {
		p.Raw = append(p.Raw, r)
		p.unlinked = p.unlinked || !p.inLink
		return
	}
	if r >= 0x300 && r <= 0x36F {
		p.compose(r)
		return
	}
	switch p.Letters.Fold(r) {
	case 0:
	case ' ', '\n':
		p.writeGap(' ')
	default:
		p.Raw = append(p.Raw, r)
		p.unlinked = p.unlinked || !p.inLink
	}
}

// writeGap adds a space or a cell break, unless one is there or the line is empty.
func (p *Page) writeGap(r rune) {
	n := len(p.Raw)
	if n == p.begin {
		return
	}
	if last := p.Raw[n-1]; last == ' ' || last == CellBreak {
		if r == CellBreak {
			p.Raw[n-1] = r
		}
		return
	}
	p.Raw = append(p.Raw, r)
}

// compose joins a combining mark to the letter before it.
func (p *Page) compose(mark rune) {
	n := len(p.Raw)
	if n == p.begin {
		return
	}
	if p.composed++; p.composed > maxComposed {
		return
	}
	if c := []rune(norm.NFC.String(string([]rune{p.Raw[n-1], mark}))); len(c) == 1 {
		if p.Letters.Fold(c[0]) != 0 {
			p.Raw[n-1] = c[0]
		}
	}
}

// breakLine ends the open line.
func (p *Page) breakLine(with rune) {
	n := len(p.Raw)
	for n > p.begin && (p.Raw[n-1] == ' ' || p.Raw[n-1] == CellBreak) {
		n--
	}
	p.Raw = p.Raw[:n]
	if n == p.begin {
		if with == HardBreak && n > 0 {
			p.Raw[n-1] = with
		}
		return
	}
	p.Lines = append(p.Lines, Line{Start: p.begin, End: n, Part: p.part, Large: p.large, Link: !p.unlinked})
	p.Raw = append(p.Raw, with)
	p.begin, p.large, p.unlinked = n+1, false, false
	p.Bounds[p.part][1] = n + 1
}

// readText adds a plain text: quoted lines are left out.
func (p *Page) readText(subject, s string) {
	fresh, skip := true, false
	width, begin, quotes := widthOf(s), len(p.Raw), !isMarkdown(subject, s)
	for i := 0; i < len(s) && !p.isFull(); {
		if c := s[i]; !skip && c < utf8.RuneSelf && (!fresh || c > ' ' && c != '>') {
			if n, _ := p.writeASCII(s[i:]); n > 0 {
				i, fresh = i+n, false
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\r':
		case r == '\n' || r == 0x2028 || r == 0x2029 || r == 0x85:
			switch {
			case fresh:
				p.breakLine(HardBreak)
			case width > 0 && !skip && p.runsOn(begin, s[i:], width):
				p.writeGap(' ')
			default:
				p.breakLine(SoftBreak)
			}
			begin = len(p.Raw)
			fresh, skip = true, false
		case skip:
		case fresh && r == '>' && !quotes: // a block of the writer's own
		case fresh && r == '>' && !isPointer(s[i:]):
			skip, fresh = true, false
		default:
			p.write(r)
			fresh = fresh && len(p.Raw) == p.begin
		}
	}
	p.breakLine(HardBreak)
}

// isPointer reports whether a line that begins with an angle bracket also ends with one:
// they point at what is between them, as in ">>> 482913 <<<".
func isPointer(rest string) bool {
	line, _, _ := strings.Cut(rest[:min(len(rest), 4*MaxLone)], "\n")
	return strings.HasSuffix(strings.TrimRight(line, " \r"), "<")
}

// LineAt gives the index of the line that holds a rune.
func (p *Page) LineAt(i int) int {
	lo, hi := 0, len(p.Lines)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if p.Lines[mid].End <= i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Shown is a span as the mail shows it, breaks as spaces.
func (p *Page) Shown(start, end int) string {
	out := make([]rune, 0, end-start)
	for _, r := range p.Raw[start:end] {
		if p.Letters.Fold(r) == ' ' || r == SoftBreak || r == HardBreak || r == CellBreak {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}

// At gives a rune of a text, and 0 beyond its ends.
func At(r []rune, i int) rune {
	if i < 0 || i >= len(r) {
		return 0
	}
	return r[i]
}

// InQuotedMail reports whether a rune stands in a quoted mail.
func (p *Page) InQuotedMail(i int) bool {
	return len(p.Lines) > 0 && p.Lines[p.LineAt(min(i, len(p.Low)-1))].Quoted
}

// maxBytes bounds what is looked at of each part, markup included.
const maxBytes = 1 << 20
