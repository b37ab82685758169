package sanitize

import (
	"strings"
	"unicode"
)

func keyword(words ...string) check {
	allowed := set(words...)
	return func(v string) (string, bool) {
		v = strings.ToLower(strings.TrimSpace(v))
		return v, allowed[v]
	}
}

// vertical is the value of valign.
func vertical(v string) (string, bool) {
	switch v = strings.ToLower(strings.TrimSpace(v)); v {
	case "top", "middle", "bottom", "baseline":
		return v, true
	}
	return "", false
}

// flag is an attribute that counts by being there.
func flag(string) (string, bool) { return "", true }

// number is a count or a width in pixels, of four digits at most.
func number(v string) (string, bool) {
	v = strings.TrimSuffix(strings.TrimSpace(v), "px")
	return v, len(v) <= 4 && digits(v) == len(v) && v != ""
}

// length is pixels or a percentage (HTML §2.3.4.4).
func length(v string) (string, bool) {
	v = strings.TrimSpace(v)
	n := strings.TrimSuffix(strings.TrimSuffix(v, "px"), "%")
	whole, part, _ := strings.Cut(n, ".")
	ok := len(n) <= 8 && digits(whole) == len(whole) && digits(part) == len(part) && whole != ""
	return v, ok && len(v)-len(n) <= 2
}

func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// fontSize is the size of a font element: 1 to 7, or a step.
func fontSize(v string) (string, bool) {
	v = strings.TrimSpace(v)
	n := strings.TrimLeft(v, "+-")
	return v, len(v)-len(n) <= 1 && len(n) == digits(n) && n != "" && len(n) <= 2
}

// color is a name or a number in hexadecimal, with or without #; rgb() is for styles.
func color(v string) (string, bool) {
	v = strings.TrimSpace(v)
	rest := strings.TrimPrefix(v, "#")
	if rest == "" || len(rest) > 24 {
		return "", false
	}
	for i := range len(rest) {
		if !isAlnum(rest[i]) {
			return "", false
		}
	}
	return v, true
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// fontFace is a list of font names.
func fontFace(v string) (string, bool) {
	v = strings.TrimSpace(v)
	if v == "" || len(v) > 256 {
		return "", false
	}
	for _, r := range v {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(` ,-_.'"`, r) {
			return "", false
		}
	}
	return v, true
}

// language is a tag of BCP 47, by its characters only.
func language(v string) (string, bool) {
	v = strings.TrimSpace(v)
	for i := range len(v) {
		if !isAlnum(v[i]) && v[i] != '-' {
			return "", false
		}
	}
	return v, v != "" && len(v) <= 35
}

// listType is the kind of number or bullet.
func listType(v string) (string, bool) {
	switch v = strings.TrimSpace(v); v {
	case "1", "a", "A", "i", "I", "disc", "circle", "square":
		return v, true
	}
	return "", false
}

// coordinates are those of an area: numbers and commas.
func coordinates(v string) (string, bool) {
	return v, len(v) <= 1024 && strings.Trim(v, "0123456789,. ") == ""
}

// freeText is for people to read (alt, title).
func freeText(v string) (string, bool) { return v, len(v) <= 2048 }
