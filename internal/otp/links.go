package otp

import (
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
	url  string
	rank int
}

// bestLinks ranks the links that verify or sign in.
func (p *page) bestLinks() []string {
	var found []ranked
	for _, l := range p.links {
		if !web(l.url) || len(l.url) > maxLinkLen || p.cited(l.start) {
			continue
		}
		if i := slices.IndexFunc(found, func(r ranked) bool { return r.url == l.url }); i >= 0 {
			found[i].rank = max(found[i].rank, p.rankWords(l.start, l.end)+rankURL(l.url))
		} else {
			found = append(found, ranked{l.url, p.rankWords(l.start, l.end) + rankURL(l.url)})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return b.rank - a.rank })
	var out []string
	for _, f := range found {
		if f.rank >= wanted && len(out) < bestLinks {
			out = append(out, f.url)
		}
	}
	return out
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
	for _, m := range p.marks {
		if m.start >= end {
			break
		}
		if m.start < start {
			continue
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

// rankURL weighs what the address itself says.
func rankURL(url string) int {
	low := strings.ToLower(url[:min(len(url), 512)])
	_, rest, _ := strings.Cut(low, "://")
	host, path, _ := strings.Cut(rest, "/")
	rank := 0
	for _, w := range [...]string{"verif", "confirm", "activat", "magic", "signin", "sign-in", "sign_in", "login", "log-in", "auth", "validat", "reset", "passwordless", "otp", "token=", "code=", "optin", "opt-in", "aktiv", "valider", "bestaet", "potvrd"} {
		if strings.Contains(path, w) {
			rank += 2
		}
	}
	for _, w := range [...]string{"unsubscribe", "preferences", "privacy", "terms", "/help", "support", "policy", "optout", "opt-out", "not-me", "notme", "wasnt", "revoke", "secure-account", "report", "browser", "faq", "contact", ".png", ".gif", ".jpg", ".css", "pixel", "abuse"} {
		if strings.Contains(path, w) {
			rank -= 5
		}
	}
	for _, w := range [...]string{"facebook.com", "twitter.com", "instagram.com", "linkedin.com", "youtube.com", "apps.apple.com", "play.google.com", "tiktok.com", "t.me", "w3.org"} {
		if strings.HasSuffix(host, w) && path != "" && rank < 4 {
			rank -= 2
		}
	}
	return rank
}
