// Package optout recognizes the links of a mail that manage the mail itself: those that unsubscribe, that lead to the preferences of its
// reader, and that show it in a browser. A program that waits for the link of a mail never means one of them.
package optout

import (
	_ "embed"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed phrases.txt
var source string

// lexicon is the phrases of all languages, normalized, by their first character.
type lexicon struct{ manage, show map[rune][]string }

var phrases = sync.OnceValue(func() lexicon {
	l := lexicon{make(map[rune][]string), make(map[rune][]string)}
	for line := range strings.Lines(source) {
		tag, list, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		all := l.manage
		if strings.HasPrefix(tag, "+") {
			all = l.show
		}
		for phrase := range strings.SplitSeq(list, "|") {
			if phrase = normalize(phrase); phrase != "" {
				first, _ := utf8.DecodeRuneInString(phrase)
				all[first] = append(all[first], phrase)
			}
		}
	}
	return l
})

// maxLabel bounds what is looked at of a text, in octets.
const maxLabel = 500

// Label reports whether the text that a link is written on is that of a link which manages the mail.
func Label(text string) bool {
	text = normalize(text[:min(len(text), maxLabel)])
	return contains(text, phrases().manage) || contains(text, phrases().show)
}

// Sentence reports whether a text beside a link says that the link unsubscribes or leads to preferences. That a link is to be opened in a
// browser is said of every link.
func Sentence(text string) bool {
	return contains(normalize(text[:min(len(text), maxLabel)]), phrases().manage)
}

// contains reports whether a word of text begins with one of the phrases. In a script without spaces, words begin everywhere.
func contains(text string, phrases map[rune][]string) bool {
	before := ' '
	for i, r := range text {
		if r >= 0xe00 || !unicode.IsLetter(before) && !unicode.IsMark(before) {
			for _, phrase := range phrases[r] {
				if strings.HasPrefix(text[i:], phrase) {
					return true
				}
			}
		}
		before = r
	}
	return false
}

// normalize returns s in lower case with single spaces and plain apostrophes, without soft hyphens.
func normalize(s string) string {
	s = strings.Map(func(r rune) rune {
		switch r {
		case '’', '‘', 'ʼ', '´', '`':
			return '\''
		case '\u00ad', '\u200b', '\u200e', '\u200f', '\ufeff':
			return -1
		case '‐', '‑', '–':
			return '-'
		}
		return unicode.ToLower(r)
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// anywhere are the words by which an address unsubscribes, wherever they stand in it, and inPath those that tell what a page is
// for, so that they count in its path alone: "?next=/preferences" is where another page goes on.
var (
	anywhere = []string{"unsubscri", "desubscri", "optout", "opt-out", "opt_out", "email-preferences", "emailpreferences", "email_preferences"}
	inPath   = []string{
		"preferences", "preference-center", "preferencecenter", "preference-centre", "manage-subscriptions", "subscription-settings", "email-settings",
		"emailsettings", "email_settings", "mail-settings", "notification-settings", "settings/notifications", "settings/emails", "view-in-browser", "viewinbrowser", "view_in_browser",
		"view-online", "viewonline", "view-email", "webversion", "web-version", "web_version", "online-version", "onlineversion", "browserview", "abmelde", "abbestell",
		"desabonn", "desinscri", "desuscri", "darse-de-baja", "cancelar-suscripcion", "disiscri", "descadastr", "afmelden", "uitschrijven", "avregistrera", "avprenumerera",
		"odhlasit", "odhlaseni", "wypisz", "dezabon", "leiratkoz", "huy-dang-ky", "/unsub/", "/unsub?",
	}
)

// Address reports whether an address says by itself that it manages the mail.
func Address(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host, path, query := strings.ToLower(u.Hostname()), strings.ToLower(u.Path)+"?", strings.ToLower(u.RawQuery)
	if strings.HasPrefix(host, "unsubscribe.") || strings.HasPrefix(host, "unsub.") {
		return true
	}
	for _, word := range anywhere {
		if strings.Contains(path, word) || strings.Contains(query, word) {
			return true
		}
	}
	return slices.ContainsFunc(inPath, func(word string) bool { return strings.Contains(path, word) })
}
