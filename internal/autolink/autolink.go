// Package autolink finds the web addresses in plain text, and decides where each of them ends. It is the one place that does:
// a message's list of links and the extractor of codes both ask it.
//
// An address begins with http:// or https:// and consists of what RFC 3986 allows. It ends where an extended
// autolink of GitHub Flavored Markdown ends, with two differences: "_", "~" and "-" at the end belong to the address,
// since tokens end in them, and letters of scripts that are written without spaces (Chinese, Japanese, Korean, Thai and others)
// end an address, since they are the sentence around it. In angle brackets an address may extend over several lines and be preceded by
// "URL:" (RFC 3986 Appendix C).
package autolink

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// maxLength is the longest address that is found, in octets. A longer one is skipped as a whole.
const maxLength = 8 << 10

// Link is an address in a text.
type Link struct {
	URL        string // with its scheme in lower case, and without line breaks and invisible characters
	Start, End int    // where it stands in the text, in octets
}

// All returns the addresses in text in their order. Its time is proportional to the length of text.
func All(text string) iter.Seq[Link] {
	return func(yield func(Link) bool) {
		for from := 0; ; {
			l, ok := Next(text, from)
			if !ok || !yield(l) {
				return
			}
			from = l.End
		}
	}
}

// Next returns the first address in text that begins at from or later.
func Next(text string, from int) (l Link, ok bool) {
	for {
		start := nextScheme(text, from)
		if start < 0 {
			return Link{}, false
		}
		l, ok = match(text, start)
		if ok && len(l.URL) <= maxLength {
			return l, true
		}
		from = max(l.End, start+len("http://"))
	}
}

// nextScheme returns where the next http:// or https:// begins, or -1. It is not the end of a longer word.
func nextScheme(text string, from int) int {
	for {
		i := strings.Index(text[from:], "://")
		if i < 0 {
			return -1
		}
		end := from + i
		for _, scheme := range [...]string{"https", "http"} {
			start := end - len(scheme)
			if start >= from && strings.EqualFold(text[start:end], scheme) && (start == 0 || !continuesWord(text[start-1])) {
				return start
			}
		}
		from = end + len("://")
	}
}

// continuesWord reports whether a scheme that follows c is the end of a longer one, such as that of git+https://.
func continuesWord(c byte) bool { return isAlnum(c) || c == '+' }

// match returns the address whose scheme begins at start. If there is none, End is still where the search may go on.
func match(text string, start int) (l Link, ok bool) {
	if opened(text[:start]) {
		if l, ok = bracketed(text, start); ok {
			return l, true
		}
	}
	r := reader{text: text, start: start, pos: start + strings.Index(text[start:], "://") + len("://")}
	if !r.authority() {
		return Link{End: r.pos}, false
	}
	least := r.pos
	r.rest()
	end := r.trim(least)
	url := clean(text[start:end])
	if len(url) < end-start { // without its invisible characters it may read differently
		visible, ok := match(url, 0)
		return Link{URL: visible.URL, Start: start, End: end}, ok
	}
	return Link{URL: url, Start: start, End: end}, true
}

// opened reports whether before ends in an angle bracket, with or without URL: behind it.
func opened(before string) bool {
	before = strings.TrimRight(before[max(0, len(before)-16):], " ")
	if n := len(before) - len("URL:"); n >= 0 && strings.EqualFold(before[n:], "URL:") {
		before = strings.TrimRight(before[:n], " ")
	}
	return strings.HasSuffix(before, "<")
}

// bracketed returns the address in angle brackets that begins at start. Its lines are joined; a space within a line means that
// the brackets enclose something else, and ok is false.
func bracketed(text string, start int) (l Link, ok bool) {
	inner := text[start:min(len(text), start+2*maxLength)]
	end := strings.IndexAny(inner, `<>"`)
	if end < 0 || inner[end] != '>' {
		return Link{}, false
	}
	joined, ok := join(inner[:end])
	if !ok {
		return Link{}, false
	}
	joined = clean(joined)
	r := reader{text: joined, pos: strings.Index(joined, "://") + len("://")}
	if !r.authority() || r.pos < len(joined) && strings.IndexByte("/?#", joined[r.pos]) < 0 {
		return Link{}, false
	}
	for i := range len(joined) {
		if c := joined[i]; c <= ' ' || c == 0x7f || strings.IndexByte("\\`|", c) >= 0 {
			return Link{}, false
		}
	}
	return Link{URL: joined, Start: start, End: start + end}, true
}

// maxLines bounds the lines of an address in angle brackets.
const maxLines = 32

// join removes the line breaks in s with the blanks around them. ok is false where s has an empty line or other blanks.
func join(s string) (joined string, ok bool) {
	lines := strings.SplitN(strings.ReplaceAll(s, "\r\n", "\n"), "\n", maxLines+1)
	for i, line := range lines {
		lines[i] = strings.Trim(line, " \t")
		if lines[i] == "" && i > 0 && i < len(lines)-1 || strings.ContainsAny(lines[i], " \t\r\u00a0\u3000") {
			return "", false
		}
	}
	return strings.Join(lines, ""), len(lines) <= maxLines
}

// clean returns an address with its scheme in lower case and without invisible characters.
func clean(s string) string {
	i := strings.Index(s, "://")
	s = strings.ToLower(s[:i]) + s[i:]
	if isASCII(s) {
		return s
	}
	before, host := rune(0), true
	var out strings.Builder
	out.Grow(len(s))
	for k, r := range s {
		host = host && (k < i+len("://") || r != '/' && r != '?' && r != '#')
		switch {
		case isInvisible(r) && !(host && isJoiner(r) && before >= utf8.RuneSelf):
		case r == utf8.RuneError:
			out.WriteRune(r)
		default:
			out.WriteString(s[k : k+utf8.RuneLen(r)])
			before = r
		}
	}
	return out.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
