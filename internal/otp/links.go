package otp

import (
	"cmp"
	"html"
	"slices"
	"strings"
)

const (
	maxLinks   = 256 // looked at
	bestLinks  = 5   // given
	maxLinkLen = 2048
)

// ranked is a link and how likely it is wanted.
type ranked struct {
	url   string
	rank  int
	first int // where the mail has it first
}

// bestLinks ranks the links that verify or sign in.
func (p *page) bestLinks() []string {
	var found []ranked
	mark := 0
	for i := range p.links {
		l := &p.links[i]
		mark = p.markFrom(l.start, mark)
		words := p.rankWords(mark, l.end)
		if l.escaped && unwanted(l.url, words) {
			continue
		}
		l.unescape()
		rank := rankURL(l.url, words)
		if rank < wanted || !p.givable(l) { // few are wanted
			continue
		}
		if k := slices.IndexFunc(found, func(r ranked) bool { return r.url == l.url }); k >= 0 {
			found[k].rank = max(found[k].rank, rank)
		} else {
			found = append(found, ranked{l.url, rank, p.firstLink(i)})
		}
	}
	slices.SortFunc(found, func(a, b ranked) int { return cmp.Or(b.rank-a.rank, a.first-b.first) })
	var out []string
	for _, f := range found[:min(len(found), bestLinks)] {
		out = append(out, f.url)
	}
	return out
}

// givable says whether a link leads to the web and is not of a quoted mail.
func (p *page) givable(l *link) bool {
	return web(l.url) && len(l.url) <= maxLinkLen && !p.cited(l.start)
}

// openLink begins a link, unless its reference is empty.
func (p *page) openLink(href string) bool {
	l := link{url: strings.TrimSpace(href), start: len(p.raw), end: -1}
	if l.escaped = onlyAmps(href); !l.escaped {
		l.url = strings.TrimSpace(html.UnescapeString(href))
	}
	if l.url == "" {
		return false
	}
	p.closeLink()
	p.inLink = true
	if len(p.links) < maxLinks {
		p.links = append(p.links, l)
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

func (p *page) closeLink() {
	p.inLink = false
	if n := len(p.links); n > 0 && p.links[n-1].end < 0 {
		p.links[n-1].end = len(p.raw)
		p.links[n-1].start = min(p.links[n-1].start, len(p.raw))
	}
}

// unescape undoes what openLink has left.
func (l *link) unescape() {
	if l.escaped {
		l.url, l.escaped = strings.ReplaceAll(l.url, "&amp;", "&"), false
	}
}

// firstLink is the first link to where the link i leads.
func (p *page) firstLink(i int) int {
	for k := range p.links[:i] {
		p.links[k].unescape()
	}
	return slices.IndexFunc(p.links, func(l link) bool { return l.url == p.links[i].url && p.givable(&l) })
}

// wanted is the rank from which a link is given.
const wanted = 2

// textLink notes an address in a plain text. The words before it on its line
// and on the line above say what it is for.
func (p *page) textLink(start, end int) {
	if len(p.links) >= maxLinks || p.lines[p.lineAt(start)].part != inText {
		return
	}
	for end > start && !isAlnum(p.low[end-1]) && p.low[end-1] != '/' && p.low[end-1] != '=' {
		end--
	}
	from := p.lines[max(0, p.lineAt(start)-1)].start
	p.links = append(p.links, link{url: string(p.raw[start:end]), start: max(from, start-maxLinkWords), end: end})
}

// maxLinkWords is how far before an address its words may stand, in runes.
const maxLinkWords = 160

// cited says whether a rune stands in a quoted mail.
func (p *page) cited(i int) bool {
	return len(p.lines) > 0 && p.lines[p.lineAt(min(i, len(p.low)-1))].quoted
}

func web(url string) bool {
	return len(url) > 8 && (strings.EqualFold(url[:8], "https://") || strings.EqualFold(url[:7], "http://"))
}

// rankWords weighs the words a link is written on, from one mark on.
func (p *page) rankWords(from, end int) int {
	rank := 0
	for i := from; i < len(p.marks) && p.marks[i].start < end; i++ {
		switch m := &p.marks[i]; {
		case m.class&classAuth != 0:
			rank += 3
		case m.class&classFoot != 0:
			rank -= 5
		case m.class&classGuard != 0:
			rank -= 2
		}
	}
	return min(rank, 3)
}

// markFrom is the index of the first mark that starts at a rune or after it. It is
// looked for from a mark that is mostly near.
func (p *page) markFrom(i, near int) int {
	for near > 0 && p.marks[near-1].start >= i {
		near--
	}
	for near < len(p.marks) && p.marks[near].start < i {
		near++
	}
	return near
}

// maxRanked is how much of an address is looked at.
const maxRanked = 512

// unwanted says whether an address will not be given, judged by what it has for
// itself. It may be escaped: the name of the ampersand makes no word.
func unwanted(url string, rank int) bool {
	_, path := hostPath(url)
	return len(url) <= maxRanked && rank+2*wantedWords.in(path) < wanted
}

// hostPath gives the host of an address and what follows its slash.
func hostPath(url string) (host, path string) {
	_, rest, _ := strings.Cut(url, "://")
	host, path, _ = strings.Cut(rest, "/")
	return host, path
}

// rankURL adds to the rank of a link's words what the address itself says. Most
// links of a mail are not wanted, and it stops as soon as that is sure.
func rankURL(url string, rank int) int {
	url = url[:min(len(url), maxRanked)]
	before := rank
	_, path := hostPath(url)
	if rank += 2 * wantedWords.in(path); rank < wanted {
		return rank
	}
	host, path := hostPath(strings.ToLower(url))
	for _, w := range [...]string{"unsubscribe", "preferences", "privacy", "terms", "/help", "support", "policy", "optout", "opt-out", "not-me", "notme", "wasnt", "revoke", "secure-account", "report", "browser", "faq", "contact", ".png", ".gif", ".jpg", ".css", "pixel", "abuse"} {
		if strings.Contains(path, w) {
			rank -= 5
		}
	}
	for _, w := range [...]string{"facebook.com", "twitter.com", "instagram.com", "linkedin.com", "youtube.com", "apps.apple.com", "play.google.com", "tiktok.com", "t.me", "w3.org"} {
		if strings.HasSuffix(host, w) && path != "" && rank-before < 4 {
			rank -= 2
		}
	}
	return rank
}
