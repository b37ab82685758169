package message

import (
	"strings"

	"github.com/gonebox/gonebox/internal/sanitize"
)

// linksMax bounds the addresses that are listed of one message.
const linksMax = 100

// links lists the addresses in a message. It is called when a message is read and not when it arrives, since most messages are never read.
func links(d detail) []string { return list(linksOf(d, linksMax)) }

// linksOf is links with a bound of its own.
func linksOf(d detail, max int) []string {
	if d.HTML != "" {
		return sanitize.Links(d.HTML, max)
	}
	return textLinks(d.Text, max)
}

// textLinks lists the http and https addresses in plain text, in order of first appearance, at most max.
func textLinks(text string, max int) []string {
	var found []string
	seen := make(map[string]bool)
	for len(found) < max {
		at := nextLink(text)
		if at < 0 {
			break
		}
		link := text[at : at+linkEnd(text[at:])]
		text = text[at+len(link):]
		link = strings.TrimRight(link, ".,;:!?'\"*_)]}»”’")
		if strings.HasSuffix(link, "//") || seen[link] {
			continue
		}
		seen[link] = true
		found = append(found, link)
	}
	return found
}

// nextLink is where the next address begins, or -1.
func nextLink(text string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], "://")
		if i < 0 {
			return -1
		}
		i += from
		for _, scheme := range [...]string{"https", "http"} {
			if start := i - len(scheme); start >= 0 && strings.EqualFold(text[start:i], scheme) {
				return start
			}
		}
		from = i + 3
	}
}

// linkEnd is the length of the address that text begins with: up to white space, a quote or an angle bracket.
func linkEnd(text string) int {
	if end := strings.IndexAny(text, " \t\r\n<>\"`|\u00a0\u3000"); end >= 0 {
		return end
	}
	return len(text)
}
