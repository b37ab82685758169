package otp

import (
	"cmp"
	"math/bits"
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
	for i := range p.links {
		l := &p.links[i]
		if !p.givable(l) {
			continue
		}
		rank := rankURL(l.url, p.rankWords(l.start, l.end))
		if rank < wanted {
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

// firstLink is the first link to where the link i leads.
func (p *page) firstLink(i int) int {
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

// rankWords weighs the words a link is written on.
func (p *page) rankWords(start, end int) int {
	rank := 0
	first, _ := slices.BinarySearchFunc(p.marks, start, func(m mark, at int) int { return m.start - at })
	for _, m := range p.marks[first:] {
		if m.start >= end {
			break
		}
		switch {
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

// rankURL adds to the rank of a link's words what the address itself says. Most
// links of a mail are not wanted, and it stops as soon as that is sure.
func rankURL(url string, rank int) int {
	low := strings.ToLower(url[:min(len(url), 512)])
	_, rest, _ := strings.Cut(low, "://")
	host, path, _ := strings.Cut(rest, "/")
	before := rank
	rank += 2 * wantedWords.in(path)
	if rank < wanted {
		return rank
	}
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

// wantedWords stand in the addresses of links that verify or sign in.
var wantedWords = newWordSet("verif", "confirm", "activat", "magic", "signin", "sign-in", "sign_in", "login", "log-in", "auth", "validat", "reset",
	"passwordless", "otp", "token=", "code=", "optin", "opt-in", "aktiv", "valider", "bestaet", "potvrd")

// wordSet is a set of at most 32 words that are looked for all at once. The
// first two letters of each are a bit, which rules out most places of a text.
type wordSet struct {
	words []string
	pairs [32]uint32
}

func newWordSet(words ...string) *wordSet {
	s := &wordSet{words: words}
	for _, w := range words {
		s.pairs[w[0]&31] |= 1 << (w[1] & 31)
	}
	return s
}

// in counts the words that a text has in it.
func (s *wordSet) in(text string) int {
	var found uint32
	for i := range len(text) - 1 {
		if s.pairs[text[i]&31]>>(text[i+1]&31)&1 == 0 {
			continue
		}
		for k, w := range s.words {
			if strings.HasPrefix(text[i:], w) {
				found |= 1 << k
			}
		}
	}
	return bits.OnesCount32(found)
}
