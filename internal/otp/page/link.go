package page

import (
	"strings"

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

// onlyAmps says whether an attribute has character references, and all are
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

// TextLink notes an address in a plain text. The words before it on its line
// and on the line above say what it is for.
func (p *Page) TextLink(start, end int) {
	if len(p.Links) >= maxLinks || p.Lines[p.LineAt(start)].Part != InText {
		return
	}
	for end > start && !IsAlnum(p.Low[end-1]) && p.Low[end-1] != '/' && p.Low[end-1] != '=' {
		end--
	}
	from := p.Lines[max(0, p.LineAt(start)-1)].Start
	p.Links = append(p.Links, Link{Url: string(p.Raw[start:end]), Start: max(from, start-maxLinkWords), End: end})
}

// maxLinkWords is how far before an address its words may stand, in runes.
const maxLinkWords = 160
