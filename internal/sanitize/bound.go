package sanitize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of what is parsed into a tree. The parser itself stops at 512 open elements.
const (
	maxSource = 4 << 20 // bytes
	maxNodes  = 100_000 // elements and texts that the parser may create, an upper estimate
	maxAttrs  = 256     // of one tag, in source larger than smallSource

	smallSource = 64 << 10 // below this only maxNodes matters
)

// affordable reports whether parsing src stays within the limits. Two things cost the parser more than their length: it
// reopens unclosed formatting elements (b, font, …) in every following block, and it merges the attributes of every further
// body and html tag into the first. A rough count suffices for nearly every mail; otherwise the tags are parsed exactly.
func affordable(src string) bool {
	if len(src) > maxSource {
		return false
	}
	tags, formatting, roots := roughCount(src)
	if tags*(1+formatting) <= maxNodes && (roots <= 2 || len(src) <= smallSource) && len(src) <= smallSource {
		return true
	}
	return closeCount(src)
}

// roughCount counts what may be a tag, a formatting start tag and a root's start tag. It takes comments and quoted
// values for markup too, so that it errs on the safe side.
func roughCount(src string) (tags, formatting, roots int) {
	for {
		i := strings.IndexByte(src, '<')
		if i < 0 {
			return tags, formatting, roots
		}
		src = src[i+1:]
		tags++
		switch name := leadingName(src); {
		case isFormatting(name):
			formatting++
		case name == "body" || name == "html":
			roots++
		}
	}
}

// leadingName is the lower-case name a start tag would have, empty if it is longer than any we look for.
func leadingName(s string) string {
	var buf [8]byte
	for i := range min(len(s), len(buf)) {
		c := s[i] | 0x20
		if c < 'a' || c > 'z' {
			return string(buf[:i])
		}
		buf[i] = c
	}
	return ""
}

func isFormatting(name string) bool {
	switch name {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

// closeCount estimates the nodes the parser will make, with the formatting elements open at each tag.
func closeCount(src string) bool {
	z := html.NewTokenizer(strings.NewReader(src))
	nodes, open := 0, 0
	for nodes <= maxNodes {
		switch z.Next() {
		case html.ErrorToken:
			return true
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			if string(name) == "noscript" {
				z.NextIsNotRawText()
			}
			if isFormatting(atom.String(name)) {
				open++
			}
			nodes += 2 + open
			for attrs := 0; more; attrs++ {
				if attrs == maxAttrs {
					return false
				}
				_, _, more = z.TagAttr()
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); isFormatting(atom.String(name)) {
				open = max(0, open-1)
			}
			nodes += 2 + open
		case html.CommentToken:
			nodes++
		}
	}
	return false
}
