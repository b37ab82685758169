package otp

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxRunes bounds what is read of each part of a mail. A code stands near the
// top; 64 Ki letters are some twenty printed pages.
const maxRunes = 64 << 10

// maxComposed bounds the combining marks that are joined to their letters; few
// mails hold any.
const maxComposed = 4096

// part is where in the mail a line stands.
type part uint8

const (
	inSubject part = iota
	inPreheader
	inText
	inHTML
)

func (p part) String() string {
	return [...]string{"subject", "preheader", "text", "html"}[p]
}

// told is the part as a reader counts them. A text and its HTML are one mail
// written twice.
func (p part) told() part {
	if p == inText {
		return inHTML
	}
	return p
}

// counts is how often something stands in each part of a mail.
type counts [4]int

// told is how often a reader is told something: what stands in a text and in its
// HTML has been said once.
func (n counts) told() int { return n[inSubject] + max(n[inText], n[inPreheader]+n[inHTML]) }

// The gaps between lines. A sentence may run over a soft one.
const (
	softBreak = '\n'
	hardBreak = '\v'
	cellBreak = '\t'
)

// line is a line of text or a block of HTML: runes start to end of the page.
type line struct {
	start, end int
	part       part
	large      bool // written in large or widely spaced letters, or as a heading
	link       bool // all of it is a link
	foot       bool // footer or small print, from footAt on
	footAt     int
	quoted     bool // of a quoted or forwarded mail
	district   int  // in which its phrases vote for their language
}

// inFoot says whether a place on the line is in the footer.
func (l *line) inFoot(i int) bool { return l.foot && i >= l.footAt }

// link is a reference and the runes it is written on.
type link struct {
	url        string
	start, end int
	escaped    bool // the ampersands of the address
}

// page is a mail as the extractor reads it: the runes as shown and folded,
// side by side, without what is not seen.
type page struct {
	x        *lexicon
	raw      []rune // while the mail is read, there is nothing else
	low      []rune
	tags     []byte // of the keys by which the trie knows them
	kind     []byte // of each rune
	lines    []line
	links    []link
	spans    []span
	words    *[1 << wordBits]word
	matches  []match
	far      int     // the last rune that the look-up of a word has read
	senses   []sense // of the matches
	marks    []mark
	found    []candidate
	steps    int       // of the loops that are not plainly linear; for tests
	composed int       // combining marks joined to letters
	stack    []element // of the HTML, while it is read
	hidden   []rune    // of the HTML, likewise
	counts   []uint64  // of words and breaks before each rune, in its block
	totals   []uint64  // of the blocks
	votes    []ballot  // for the languages, by district
	bounds   [4][2]int // the runes of each part

	part     part
	limit    int
	begin    int // where the open line starts
	large    bool
	unlinked bool // the open line has runes outside links
	inLink   bool
}

// keepRunes is how large a page may be to be used again for another mail: one
// with two full parts is, at some 3 MB.
const keepRunes = 160 << 10

// blank gives an empty page; its buffers are those of an earlier mail.
func (x *lexicon) blank() *page {
	p, _ := x.pages.Get().(*page)
	if p == nil {
		return &page{x: x, words: new([1 << wordBits]word)}
	}
	clear(p.words[:])
	*p = page{
		x: x, words: p.words, raw: p.raw[:0], low: p.low[:0], tags: p.tags[:0], kind: p.kind[:0], counts: p.counts[:0], totals: p.totals[:0],
		lines: p.lines[:0], links: p.links[:0], spans: p.spans[:0], marks: p.marks[:0], found: p.found[:0], stack: p.stack[:0], hidden: p.hidden[:0], matches: p.matches[:0], senses: p.senses[:0], votes: p.votes[:0],
	}
	return p
}

// room makes room for about so many runes, so that a page does not grow step by
// step.
func (p *page) room(n int) {
	p.raw = slices.Grow(p.raw, n)
}

// discard gives the buffers of a page back.
func (p *page) discard() {
	if cap(p.raw) <= keepRunes {
		clear(p.links)
		clear(p.stack[:cap(p.stack)])
		clear(p.found)
		p.x.pages.Put(p)
	}
}

// open starts a part of the mail.
func (p *page) open(where part) {
	p.breakLine(hardBreak)
	p.part, p.limit = where, len(p.raw)+maxRunes
	p.bounds[where] = [2]int{len(p.raw), len(p.raw)}
}

// full says whether the part has been read as far as it will be.
func (p *page) full() bool { return len(p.raw) >= p.limit }

// write adds one rune to the open line; runs of spaces become one.
func (p *page) write(r rune) {
	if r >= '!' && r <= '~' {
		p.raw = append(p.raw, r)
		p.unlinked = p.unlinked || !p.inLink
		return
	}
	if r >= 0x300 && r <= 0x36F {
		p.compose(r)
		return
	}
	switch p.x.fold(r) {
	case 0:
	case ' ', '\n':
		p.gap(' ')
	default:
		p.raw = append(p.raw, r)
		p.unlinked = p.unlinked || !p.inLink
	}
}

// gap adds a space or a cell break, unless one is there or the line is empty.
func (p *page) gap(r rune) {
	n := len(p.raw)
	if n == p.begin {
		return
	}
	if last := p.raw[n-1]; last == ' ' || last == cellBreak {
		if r == cellBreak {
			p.raw[n-1] = r
		}
		return
	}
	p.raw = append(p.raw, r)
}

// compose joins a combining mark to the letter before it.
func (p *page) compose(mark rune) {
	n := len(p.raw)
	if n == p.begin {
		return
	}
	if p.composed++; p.composed > maxComposed {
		return
	}
	if c := []rune(norm.NFC.String(string([]rune{p.raw[n-1], mark}))); len(c) == 1 {
		if p.x.fold(c[0]) != 0 {
			p.raw[n-1] = c[0]
		}
	}
}

// breakLine ends the open line.
func (p *page) breakLine(with rune) {
	n := len(p.raw)
	for n > p.begin && (p.raw[n-1] == ' ' || p.raw[n-1] == cellBreak) {
		n--
	}
	p.raw = p.raw[:n]
	if n == p.begin {
		if with == hardBreak && n > 0 {
			p.raw[n-1] = with
		}
		return
	}
	p.lines = append(p.lines, line{start: p.begin, end: n, part: p.part, large: p.large, link: !p.unlinked})
	p.raw = append(p.raw, with)
	p.begin, p.large, p.unlinked = n+1, false, false
	p.bounds[p.part][1] = n + 1
}

// readText adds a plain text: quoted lines are left out.
func (p *page) readText(s string) {
	fresh, skip := true, false
	width, begin := widthOf(s), len(p.raw)
	for i := 0; i < len(s) && !p.full(); {
		if c := s[i]; !skip && c < utf8.RuneSelf && (!fresh || c > ' ' && c != '>') {
			if n, _ := p.ascii(s[i:]); n > 0 {
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
				p.breakLine(hardBreak)
			case width > 0 && !skip && p.runsOn(begin, s[i:], width):
				p.gap(' ')
			default:
				p.breakLine(softBreak)
			}
			begin = len(p.raw)
			fresh, skip = true, false
		case skip:
		case fresh && r == '>' && !pointed(s[i:]):
			skip, fresh = true, false
		default:
			p.write(r)
			fresh = fresh && len(p.raw) == p.begin
		}
	}
	p.breakLine(hardBreak)
}

// pointed says whether a line that begins with an angle bracket also ends with one:
// they point at what is between them, as in ">>> 482913 <<<".
func pointed(rest string) bool {
	line, _, _ := strings.Cut(rest[:min(len(rest), 4*maxLone)], "\n")
	return strings.HasSuffix(strings.TrimRight(line, " \r"), "<")
}

// lineAt gives the index of the line that holds a rune.
func (p *page) lineAt(i int) int {
	lo, hi := 0, len(p.lines)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if p.lines[mid].end <= i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// text is a span as the mail shows it, breaks as spaces.
func (p *page) text(start, end int) string {
	out := make([]rune, 0, end-start)
	for _, r := range p.raw[start:end] {
		if p.x.fold(r) == ' ' || r == softBreak || r == hardBreak || r == cellBreak {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}
