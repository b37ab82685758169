// Package sanitize turns untrusted HTML into HTML that is safe to show, and into text. It fetches nothing and keeps no state.
// It works by allow lists: elements, attributes, addresses and style properties stay only if a list in this package has them.
//
// What a mail's HTML goes through: its cost is bounded by a count of its tags, golang.org/x/net/html parses it into a
// tree as a browser would, the tree is written out again with only what the lists allow, and the whole is repeated until
// nothing changes any more. So the output is well nested, cannot close an element around it, and every parser reads it as
// the same tree. The tests check it with bluemonday and lists of their own.
package sanitize

import (
	"html"
	"strings"
	"unicode/utf8"
)

// Image finds the part of the same mail that a cid: URL names (RFC 2392), unless it is larger than most bytes.
type Image = func(cid string, most int) (contentType string, data []byte, ok bool)

// HTML returns the safe form of a mail's HTML body, a fragment to be put into a page (docs/spec/messages.md "HTML"). seed
// is text that differs from mail to mail, as its identifier; the same mail with the same seed gives the same result. image
// finds the part a cid: URL names (nil: none); it is called once for each.
//
// The rules of style elements become style attributes. Those that hold at some widths of the screen only stay in a style
// element, within a div whose class is made of seed: each selector begins with that class, so the rules end with the mail.
//
// Sanitizing the result again changes nothing. A body that is too large, too deep or too costly to parse (see the limits
// in bound.go), or that is still changing after maxRounds rounds, is returned as text with line breaks: 256 KiB at most, out of the first 4 MiB.
func HTML(src, seed string, image Image) string {
	return mailRules.sanitize(src, scopeClass(seed), image)
}

// Notice returns the safe form of what staff publish (docs/spec/content.md#html): text, headings, lists, tables and links; no
// images, no styles. Unlike in mail, links within the site are kept.
func Notice(src string) string {
	return noticeRules.sanitize(src, "", nil)
}

// maxRounds bounds how often output is sanitized again until it does not change. Two rounds suffice for nearly everything.
const maxRounds = 5

func (rs *rules) sanitize(src, scope string, image Image) string {
	src = strings.ToValidUTF8(src, "\uFFFD")
	in, style := src, ""
	for round := range maxRounds {
		if !affordable(in) {
			break
		}
		r, ok := rs.rewrite(in, scope, image, round == 0)
		if !ok || len(r.html) > maxSource-maxMediaText {
			break
		}
		if round == 0 {
			style = r.style
		}
		if (r.stable || r.html == in) && r.nodes <= maxNodes-wrapNodes {
			return wrap(r.html, style, scope)
		}
		in, image = r.html, nil
	}
	return textOnly(src)
}

// wrapNodes is what body and wrap add at most to the nodes of a result, as closeCount counts: two div elements and a style.
const wrapNodes = 12

// wrap puts an element with the class scope around a mail with a style element.
func wrap(content, style, scope string) string {
	if style == "" {
		return content
	}
	return `<div class="` + scope + `">` + style + content + "</div>"
}

// Limits of a body that is shown as text only. They are such that the result is itself within the limits of bound.go.
const (
	maxTextBytes = 256 << 10
	maxTextLines = 10_000
)

// textOnly returns the readable text of src as HTML.
func textOnly(src string) string {
	text := Text(src[:min(len(src), maxSource)])
	if len(text) > maxTextBytes {
		text = text[:maxTextBytes]
		for !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]) {
			text = text[:len(text)-1]
		}
	}
	lines := strings.SplitN(text, "\n", maxTextLines+1)
	text = strings.Join(lines[:min(len(lines), maxTextLines)], "\n")
	return strings.ReplaceAll(html.EscapeString(strings.TrimSpace(text)), "\n", "<br>")
}
