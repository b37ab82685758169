package otp

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/otp/lexicon"
	"github.com/gonebox/gonebox/internal/otp/page"
)

const (
	mostLinks  = 5 // given
	maxLinkLen = 2048
)

// ranked is a link and how likely it is wanted.
type ranked struct {
	url   string
	rank  int
	first int // where the mail has it first
}

// bestLinks ranks the links that verify or sign in.
func bestLinks(p *lexicon.Text) []string {
	end := 0
	for i := range p.Links {
		end = max(end, p.Links[i].End)
	}
	p.Find(end)
	var found []ranked
	mark := 0
	for i := range p.Links {
		l := &p.Links[i]
		mark = p.MarkFrom(l.Start, mark)
		words := rankWords(p, mark, l.End)
		if l.Escaped && unwanted(l.Url, words) {
			continue
		}
		l.Unescape()
		rank := rankURL(l.Url, words)
		if rank < wanted || !givable(p, l) { // few are wanted
			continue
		}
		if k := slices.IndexFunc(found, func(r ranked) bool { return r.url == l.Url }); k >= 0 {
			found[k].rank = max(found[k].rank, rank)
		} else {
			found = append(found, ranked{l.Url, rank, firstLink(p, i)})
		}
	}
	slices.SortFunc(found, func(a, b ranked) int { return cmp.Or(b.rank-a.rank, a.first-b.first) })
	var out []string
	for _, f := range found[:min(len(found), mostLinks)] {
		out = append(out, f.url)
	}
	return out
}

// givable says whether a link leads to the web and is not of a quoted mail.
func givable(p *lexicon.Text, l *page.Link) bool {
	return web(l.Url) && len(l.Url) <= maxLinkLen && !p.Cited(l.Start)
}

// firstLink is the first link to where the link i leads.
func firstLink(p *lexicon.Text, i int) int {
	for k := range p.Links[:i] {
		p.Links[k].Unescape()
	}
	return slices.IndexFunc(p.Links, func(l page.Link) bool { return l.Url == p.Links[i].Url && givable(p, &l) })
}

// wanted is the rank from which a link is given.
const wanted = 2

func web(url string) bool {
	return len(url) > 8 && (strings.EqualFold(url[:8], "https://") || strings.EqualFold(url[:7], "http://"))
}

// rankWords weighs the words a link is written on, from one mark on.
func rankWords(p *lexicon.Text, from, end int) int {
	rank := 0
	for i := from; i < len(p.Marks) && p.Marks[i].Start < end; i++ {
		switch m := &p.Marks[i]; {
		case m.Class&lexicon.Auth != 0:
			rank += 3
		case m.Class&lexicon.Foot != 0:
			rank -= 5
		case m.Class&lexicon.Guard != 0:
			rank -= 2
		}
	}
	return min(rank, 3)
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
