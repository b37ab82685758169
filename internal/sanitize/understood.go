package sanitize

import (
	"slices"
	"strings"
)

// isOverridden reports whether one of higher wins over all of d in every browser. A declaration that a browser does not
// understand does not win, so the winner's value must be one that all of them know, or be the same.
func isOverridden(d declaration, higher []ranked) bool {
	for _, h := range higher {
		if h.longhands.covers(d.longhands) && (h.name == d.name && h.value == d.value || isUnderstood(h.declaration)) {
			return true
		}
	}
	return false
}

// understood lists values that every browser knows, by property: words, or kinds of value in the letters of valueKind,
// behind a * where up to four may stand.
var understood = map[string][]string{
	"margin": {"*0l%a"}, "padding": {"*0l%"}, "border-radius": {"*0l%"},
	"margin-top": {"0l%"}, "margin-right": {"0l%a"}, "margin-bottom": {"0l%"}, "margin-left": {"0l%a"},
	"padding-top": {"0l%"}, "padding-right": {"0l%"}, "padding-bottom": {"0l%"}, "padding-left": {"0l%"},
	"width": {"0l%a"}, "min-width": {"0l%"}, "max-width": {"0l%", "none"},
	"height": {"0l%a"}, "min-height": {"0l%"}, "max-height": {"0l%", "none"},
	"font-size": {"0l%"}, "line-height": {"0l%"}, "text-indent": {"0l%"},
	"color": {"#"}, "background-color": {"#"}, "background": {"#"}, "border-color": {"#"},
	"border": {"0", "none"}, "border-top": {"0", "none"}, "border-bottom": {"0", "none"},
	"border-collapse": {"", "collapse", "separate"},
	"display":         {"", "none", "block", "inline", "inline-block", "table"},
	"font-style":      {"", "normal", "italic"},
	"font-weight":     {"", "normal", "bold"},
	"text-align":      {"", "left", "right", "center"},
	"text-decoration": {"", "none", "underline"},
	"vertical-align":  {"", "top", "middle", "bottom"},
}

func isUnderstood(d declaration) bool {
	values := understood[d.name]
	if len(values) == 0 {
		return false
	}
	if slices.Contains(values[1:], d.value) {
		return true
	}
	kinds, several := strings.CutPrefix(values[0], "*")
	n := 0
	for word := range strings.SplitSeq(d.value, " ") {
		kind := valueKind(word)
		if n++; kind == 0 || strings.IndexByte(kinds, kind) < 0 || n > 1 && !several {
			return false
		}
	}
	return n <= 4
}

// valueKind tells colours in hexadecimal (#), lengths (l), percentages (%), zero (0) and auto (a) apart; anything else is 0.
func valueKind(word string) byte {
	if rest, ok := strings.CutPrefix(word, "#"); ok {
		if (len(rest) == 3 || len(rest) == 6) && strings.Trim(rest, "0123456789abcdefABCDEF") == "" {
			return '#'
		}
		return 0
	}
	switch word {
	case "0":
		return '0'
	case "auto":
		return 'a'
	}
	n := digits(word)
	if n > 0 && n < len(word) && word[n] == '.' {
		n++
		n += digits(word[n:])
	}
	switch unit := word[n:]; {
	case n == 0 || word[n-1] == '.':
		return 0
	case unit == "%":
		return '%'
	case unit == "px" || unit == "em" || unit == "pt":
		return 'l'
	}
	return 0
}
