package page

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/autolink"
	"github.com/gonebox/gonebox/internal/htmltoken"
)

// maxLinks bounds the links of a mail that are looked at.
const maxLinks = 256

// openLink begins a link, unless its reference is empty.
func (p *Page) openLink(href string) bool {
	l := Link{Url: strings.TrimSpace(href), Start: len(p.Raw), End: -1}
	if l.Escaped = onlyAmps(href); !l.Escaped {
		l.Url = strings.TrimSpace(htmltoken.UnescapeValue(href))
	}
	if l.Url == "" {
		return false
	}
	p.closeLink()
	p.inLink = true
	if len(p.Links) < maxLinks {
		p.Links = append(p.Links, l)
	}
	return true
}

// onlyAmps reports whether an attribute has character references, and all are
// those of ampersands. Such addresses are common, and few of them are wanted.
func onlyAmps(value string) bool {
	found := false
	for {
		i := strings.IndexByte(value, '&')
		if i < 0 {
			return found
		}
		if value = value[i:]; !strings.HasPrefix(value, "&amp;") {
			return false
		}
		found, value = true, value[len("&amp;"):]
	}
}

func (p *Page) closeLink() {
	p.inLink = false
	if n := len(p.Links); n > 0 && p.Links[n-1].End < 0 {
		p.Links[n-1].End = len(p.Raw)
		p.Links[n-1].Start = min(p.Links[n-1].Start, len(p.Raw))
	}
}

// Unescape undoes what openLink has left.
func (l *Link) Unescape() {
	if l.Escaped {
		l.Url, l.Escaped = strings.ReplaceAll(l.Url, "&amp;", "&"), false
	}
}

// TextLink notes the address in a word of the text that is no link, from start to end, and returns where the address ends; that is start if there is
// none. The words before it on its line and on the line above say what it is for.
func (p *Page) TextLink(start, end int) int {
	line := p.LineAt(start)
	if p.Lines[line].Part < InText || p.tried >= maxLinks || p.Lines[line].Part == InHTML && p.isLinked(start) {
		return start
	}
	word := string(p.Raw[start:end])
	if !strings.Contains(word, "://") {
		return start
	}
	p.tried++
	// What is in front of the address may enclose it, and an address in angle brackets may go on in the next lines.
	from := max(p.Lines[line].Start, start-maxBefore)
	before := len(string(p.Raw[from:start]))
	text := string(p.Raw[from:min(len(p.Raw), end+maxAddress)])
	l, ok := autolink.Next(text, before)
	if !ok || l.Start >= before+len(word) {
		return start
	}
	end = from + utf8.RuneCountInString(text[:l.End])
	p.Links = append(p.Links, Link{Url: l.URL, Start: max(p.Lines[max(0, line-1)].Start, start-maxLinkWords), End: end, Typed: true})
	return end
}

// isLinked reports whether a place is in what a link of the HTML is written on.
func (p *Page) isLinked(place int) bool {
	return slices.ContainsFunc(p.Links, func(l Link) bool { return !l.Typed && l.Start <= place && place < l.End })
}

// maxBefore bounds what is looked at in front of an address, and maxAddress behind the word that it begins in, in runes.
const (
	maxBefore  = 32
	maxAddress = 4 << 10
)

// maxLinkWords is how far before an address its words may stand, in runes.
const maxLinkWords = 160
