package mcp

import (
	"html"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"github.com/gonebox/gonebox/internal/htmltoken"
)

// link is a link of a mail as tools return it. The URL and its host are all that it contains of what the sender wrote.
type link struct {
	URL     string `json:"url" jsonschema:"The address, always https."`
	Host    string `json:"host" jsonschema:"The host that it leads to."`
	Warning string `json:"warning,omitempty" jsonschema:"Why the link may not be what it seems."`
}

// The values of warning. They are fixed texts, so that they cannot contain an instruction from a mail.
const (
	warnPunycode = "The host is an international name, which may look like another one."
	warnMismatch = "The text of the link names another host than it leads to."
	warnUserInfo = "There is a user name before the host, which makes the address look like another one."
	warnAddress  = "The host is an IP address instead of a name."
)

// rankedLinks returns the https links of a message, each once: first the one that the message asks to open, then
// those that verify or sign in beside its code, then the others in the order of the message. Links with other schemes are left out, since an agent
// must not open them.
func (m *fullMessage) rankedLinks() []link {
	source := ""
	if m.HTML != nil {
		source = *m.HTML
	}
	var best []string
	if m.Action != nil {
		best = append(best, m.Action.URL)
	}
	if m.OTP != nil {
		best = append(best, m.OTP.Links...)
	}
	deceptive := deceptiveTargets(source)
	var links []link
	for _, address := range slices.Concat(best, m.Links) {
		l, ok := newLink(address)
		if !ok || slices.ContainsFunc(links, func(other link) bool { return other.URL == l.URL }) {
			continue
		}
		if l.Warning == "" && deceptive[l.URL] {
			l.Warning = warnMismatch
		}
		links = append(links, l)
	}
	return links
}

// linkToFollow returns the link that the service chose for those who wait for one. If that is not https, it returns the first
// link to the same host that is.
func (m *fullMessage) linkToFollow() (link, bool) {
	if m.BestLink == nil {
		return link{}, false
	}
	chosen, err := url.Parse(*m.BestLink)
	if err != nil {
		return link{}, false
	}
	best, ok := newLink(*m.BestLink)
	for _, l := range m.rankedLinks() {
		if ok && l.URL == best.URL || !ok && l.Host == strings.ToLower(chosen.Hostname()) {
			return l, true // with its warning
		}
	}
	return best, ok
}

// kindOf returns the kind of the action that a link is, or nil if it is none.
func (m *fullMessage) kindOf(l link) *string {
	if m.Action != nil {
		if a, ok := newLink(m.Action.URL); ok && a.URL == l.URL || !ok && normalized(m.Action.URL) == l.URL {
			return &m.Action.Kind
		}
	}
	return nil
}

// newLink returns the link for an https URL. It returns false for another scheme, for a URL without a host, and for a
// host that is not valid. Internationalized host names are returned as A-labels (xn--…), which reveals look-alikes.
func newLink(address string) (link, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" {
		return link{}, false
	}
	host, err := idna.ToASCII(strings.ToLower(u.Hostname()))
	if err != nil || strings.ContainsAny(host, " \t\r\n\"<>") {
		return link{}, false
	}
	if host != strings.ToLower(u.Hostname()) { // the URL must show the A-labels too
		if port := u.Port(); port != "" {
			u.Host = host + ":" + port
		} else {
			u.Host = host
		}
	}
	l := link{URL: u.String(), Host: host}
	switch {
	case u.User != nil:
		l.Warning = warnUserInfo
	case slices.ContainsFunc(strings.Split(host, "."), func(label string) bool { return strings.HasPrefix(label, "xn--") }):
		l.Warning = warnPunycode
	case strings.Contains(host, ":"), strings.Trim(host, "0123456789.") == "":
		l.Warning = warnAddress
	}
	return l, true
}

// deceptiveTargets returns the URLs of the links in an HTML text whose visible text names another host than the one they
// lead to. Tags within a link do not end its text.
func deceptiveTargets(source string) map[string]bool {
	found := make(map[string]bool)
	target := ""
	var text strings.Builder
	for z := htmltoken.New(source); z.Next(); {
		switch {
		case z.Kind == htmltoken.Text:
			if target != "" {
				text.WriteString(html.UnescapeString(z.Text))
			}
		case z.Name != "a":
		case z.Kind == htmltoken.StartTag:
			target, _ = z.Attr("href")
			text.Reset()
		case target != "":
			if l, ok := newLink(target); ok && namesOtherHost(text.String(), l.Host) {
				found[l.URL] = true
			}
			target = ""
		}
	}
	return found
}

// namesOtherHost reports whether the text of a link contains host names, but neither host nor a parent domain of it. A
// text such as "Confirm" contains none, so it is not deceptive.
func namesOtherHost(text, host string) bool {
	found := false
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t\r\n,;()[]<>\"'|", r) }) {
		_, after, hasScheme := strings.Cut(word, "://")
		if hasScheme {
			word = after
		}
		word, _, _ = strings.Cut(word, "/")
		word = strings.TrimRight(word, ".:!?…")
		if at := strings.LastIndexByte(word, '@'); at >= 0 {
			word = word[at+1:]
		}
		name, err := idna.ToASCII(word)
		if err != nil || !isHostName(name) {
			continue
		}
		name = strings.TrimPrefix(name, "www.")
		if name == host || strings.HasSuffix(host, "."+name) {
			return false
		}
		found = true
	}
	return found
}

// isHostName reports whether a word looks like a host name: at least two labels, and a top-level domain that is not a
// number.
func isHostName(word string) bool {
	labels := strings.Split(word, ".")
	last := labels[len(labels)-1]
	if len(labels) < 2 || len(last) < 2 || strings.Trim(strings.TrimPrefix(last, "xn--"), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.Trim(last, "0123456789") == "" {
		return false
	}
	for _, label := range labels {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}
