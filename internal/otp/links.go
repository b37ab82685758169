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

// bestLinks ranks the links that verify or sign in.
func (p *page) bestLinks() []string {
	type ranked struct {
		url  string
		rank int
	}
	var found []ranked
	consider := func(url string, rank int) {
		rank += rankURL(url)
		if rank < 2 || len(url) > maxLinkLen {
			return
		}
		for i := range found {
			if found[i].url == url {
				found[i].rank = max(found[i].rank, rank)
				return
			}
		}
		found = append(found, ranked{url, rank})
	}
	for _, l := range p.links {
		if web(l.url) && !p.lines[p.lineAt(min(l.start, max(0, len(p.low)-1)))].quoted {
			consider(l.url, p.rankWords(l.start, l.end))
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return b.rank - a.rank })
	var out []string
	for _, f := range found[:min(len(found), bestLinks)] {
		out = append(out, f.url)
	}
	return out
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
