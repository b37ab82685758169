package message

import (
	neturl "net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/gonebox/gonebox/internal/autolink"
	"github.com/gonebox/gonebox/internal/optout"
	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/sanitize"
)

// linksMax bounds the addresses that are listed of one message.
const linksMax = 100

// readPerLink is how many addresses are read, of a text and of the links of HTML, for each that may be listed: the same address may stand
// there a million times.
const readPerLink = 10

// foundLink is an address in a message.
type foundLink struct {
	url     string
	manages bool // it manages the mail: it unsubscribes, leads to preferences, or shows the mail in a browser
	logo    bool // it is a picture, wherever it stands
}

// linksOf lists the addresses in a message, each once and at most max: first those of the links of the HTML, then those that the HTML
// shows as text, then those of the text part. Those that manage the mail are behind all others.
func linksOf(d *detail, max int) []foundLink {
	c := newLinkCollector(d, max)
	if d.HTML != "" {
		found, shown := sanitize.Links(d.HTML, readPerLink*max)
		for _, l := range found {
			c.link(l, shown)
		}
		c.text(shown)
	}
	if d.HTML == "" || !d.Derived {
		c.text(d.Text)
	}
	var links, managing []foundLink
	for _, l := range c.found {
		if l.manages {
			managing = append(managing, l)
		} else {
			links = append(links, l)
		}
	}
	return append(links, managing...)
}

// links lists the addresses in a message.
func links(found []foundLink) []string {
	urls := make([]string, len(found))
	for i, l := range found {
		urls[i] = l.url
	}
	return urls
}

// NewAction returns the stored form of the link that the extractor says a mail asks to open. It returns nil if there is none, if its
// address has no host, or if it is too long for a summary.
func NewAction(found *otp.Action) *Action {
	if found == nil {
		return nil
	}
	u, err := neturl.Parse(found.URL)
	if err != nil {
		return nil
	}
	host, err := idna.ToASCII(strings.ToLower(u.Hostname()))
	if err != nil || host == "" || jsonLen(found.URL)+jsonLen(host) > actionMax {
		return nil
	}
	return &Action{URL: found.URL, Host: host, Kind: string(found.Kind), Confidence: found.Confidence}
}

// bestLink returns the address that a program which waits for a link is given, or nil: that of the action, else the first that is none
// of those that manage the mail, a logo's, or the front page of a site. refused are those that the extractor says cancel or report.
func bestLink(action *Action, found []foundLink, refused []string) *string {
	if action != nil {
		return &action.URL
	}
	for i := range found {
		if found[i].isBest(refused) {
			return &found[i].url
		}
	}
	return nil
}

// isBest reports whether a link may be the one to follow.
func (l *foundLink) isBest(refused []string) bool {
	return !l.manages && !l.logo && !otp.IsFrontPage(l.url) && !slices.ContainsFunc(refused, func(url string) bool { return linkKey(url) == linkKey(l.url) })
}

// follow reports whether a message has links, and returns its best link as bestLink does. Most messages have that near their beginning,
// so it reads some of the links of the HTML, then more, and all of them only if it must. What a mail says of an address behind its best
// link is not read.
func follow(d *detail, action *Action, refused []string) (hasLinks bool, best *string) {
	if d.HTML == "" {
		return followAll(d, action, refused)
	}
	if action != nil {
		if found, _ := sanitize.Links(d.HTML, 1); len(found) > 0 {
			return true, &action.URL
		}
	}
	for _, max := range [...]int{3, 12} {
		found, shown := sanitize.Links(d.HTML, max)
		if len(found) < max {
			break
		}
		found = found[:max-1] // the last one has been read to its beginning
		if end := slices.IndexFunc(found, func(l sanitize.Link) bool { return !hasSentence(shown, l.At) }); end >= 0 {
			found = found[:end]
		}
		if best := bestOf(found, shown, listHeader(d.Headers), refused); best != nil {
			return true, best
		}
	}
	return followAll(d, action, refused)
}

// bestOf is bestLink of links of HTML, each of which may stand there several times. It looks at no more of them than it must, which is
// at the first one in most mails.
func bestOf(found []sanitize.Link, shown, header string, refused []string) *string {
	for i, l := range found {
		key := linkKey(l.URL)
		isSame := func(other sanitize.Link) bool { return linkKey(other.URL) == key }
		if slices.ContainsFunc(found[:i], isSame) {
			continue
		}
		candidate := foundLink{url: l.URL, manages: managesMail(l.URL, header), logo: true}
		for _, l := range found[i:] {
			if isSame(l) {
				candidate.join(saysItManages(l, shown), l.Picture)
			}
		}
		if candidate.isBest(refused) {
			return &found[i].URL
		}
	}
	return nil
}

// followAll is follow that reads every link.
func followAll(d *detail, action *Action, refused []string) (hasLinks bool, best *string) {
	found := linksOf(d, linksMax)
	return len(found) > 0, bestLink(action, found, refused)
}

// hasSentence reports whether text, which may go on, has all that the function sentence reads behind start.
func hasSentence(text string, start int) bool {
	return len(text)-start >= maxSentence || strings.Contains(text[min(start, len(text)):], "\n")
}

// linkCollector collects addresses, each once.
type linkCollector struct {
	max    int
	found  []foundLink
	known  map[string]int // the index of each address among them
	header string         // the List-Unsubscribe fields
}

func newLinkCollector(d *detail, max int) *linkCollector {
	return &linkCollector{max: max, known: make(map[string]int), header: listHeader(d.Headers)}
}

// link adds a link of HTML. shown is the text outside of the links.
func (c *linkCollector) link(l sanitize.Link, shown string) {
	c.add(l.URL, saysItManages(l, shown), l.Picture)
}

func (c *linkCollector) add(url string, manages, logo bool) {
	key := linkKey(url)
	i, ok := c.known[key]
	if !ok {
		if i = len(c.found); i == c.max {
			return
		}
		c.known[key] = i
		c.found = append(c.found, foundLink{url: url, manages: managesMail(url, c.header), logo: logo})
	}
	c.found[i].join(manages, logo)
}

// join adds what another place in the mail says of the same address.
func (l *foundLink) join(manages, logo bool) {
	l.manages, l.logo = l.manages || manages, l.logo && logo
}

// managesMail reports whether an address manages the mail by what it is itself or by the List-Unsubscribe fields.
func managesMail(url, header string) bool {
	return optout.Address(url) || header != "" && strings.Contains(header, "<"+url+">")
}

// saysItManages reports whether a link of HTML manages the mail by what is written on it or beside it. shown is the text outside of the links.
func saysItManages(l sanitize.Link, shown string) bool {
	return optout.Label(l.Label) || isShort(l.Label) && optout.Sentence(sentence(shown, l.At, l.At))
}

// text adds the addresses of a text. The words beside an address say what it is for.
func (c *linkCollector) text(s string) {
	left := readPerLink * c.max
	for l := range autolink.All(s) {
		if left--; left < 0 || len(c.found) == c.max {
			return
		}
		c.add(l.URL, optout.Sentence(sentence(s, l.Start, l.End)), false)
	}
}

// linkKey is equal for addresses that differ in the case of scheme and host alone, or in the slash of an empty path (RFC 3986 §6.2.2.1, §6.2.3).
func linkKey(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		return strings.ToLower(url) + "/"
	}
	site, path := url[:len(url)-len(rest)+end], rest[end:]
	lower := strings.ToLower(site)
	switch {
	case path[0] != '/':
		return lower + "/" + path
	case lower == site:
		return url
	}
	return lower + path
}

// listHeader returns the List-Unsubscribe fields of a mail (RFC 2369 §3.2).
func listHeader(headers []Header) (fields string) {
	for _, h := range headers {
		if strings.EqualFold(h.Name, "List-Unsubscribe") || strings.EqualFold(h.Name, "List-Help") || strings.EqualFold(h.Name, "List-Archive") {
			fields += h.Value
		}
	}
	return fields
}

// maxShort is the length of a label that may say nothing by itself, such as "click here", in characters.
const maxShort = 16

func isShort(label string) bool { return utf8.RuneCountInString(label) <= maxShort }

// maxSentence bounds how far the words beside an address are read, in octets.
const maxSentence = 300

// sentence returns the words on both sides of an address, which stands in text from start to end: as far as its line and its sentence
// go, without other addresses. Where the line has no words before it, those of the line above count if they introduce it.
func sentence(text string, start, end int) string {
	start, end = min(start, len(text)), min(end, len(text))
	before := text[max(0, start-maxSentence):start]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	if above := strings.TrimRight(before[:len(before)-len(line)], " \r\n"); !hasLetter(line) && start < end {
		above = above[strings.LastIndexByte(above, '\n')+1:]
		if r, _ := utf8.DecodeLastRuneInString(above); !strings.ContainsRune(".!?。！？", r) {
			line = above
		}
	}
	after, _, _ := strings.Cut(text[end:min(len(text), end+maxSentence)], "\n")
	return lastSentence(line) + " " + firstSentence(after)
}

func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// lastSentence returns the end of s that no end of a sentence and no address is in.
func lastSentence(s string) string {
	from := 0
	for i, r := range s {
		if n := utf8.RuneLen(r); n > 0 && endsSentence(s, i, r) {
			from = i + n
		}
	}
	s = s[from:]
	if i := strings.LastIndex(s, "://"); i >= 0 {
		_, s, _ = strings.Cut(s[i:], " ")
	}
	return s
}

// firstSentence returns the beginning of s up to the end of a sentence or an address.
func firstSentence(s string) string {
	for i, r := range s {
		if endsSentence(s, i, r) {
			return s[:i]
		}
	}
	if i := strings.Index(s, "://"); i >= 0 {
		s = s[:max(0, strings.LastIndexByte(s[:i], ' '))]
	}
	return s
}

// endsSentence reports whether the character r at i ends a sentence.
func endsSentence(s string, i int, r rune) bool {
	switch r {
	case '。', '！', '？', '|', '•', '·':
		return true
	case '.', '!', '?':
		return i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\r'
	}
	return false
}
