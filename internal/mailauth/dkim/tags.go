package dkim

import (
	"errors"
	"fmt"
	"strings"
)

// tag is one tag of a list: its name, its value without the white space around it, and where the value is in the text,
// that white space included.
type tag struct {
	name, value string
	start, end  int
}

// tags are the tags of a list by name.
type tags map[string]tag

var errTags = errors.New("malformed tag list")

// parseTags parses a tag list (RFC 6376 §3.2). A tag that occurs twice makes the list invalid.
func parseTags(text string) (tags, error) {
	list := make(tags)
	for pos := 0; pos <= len(text); {
		end := len(text)
		if i := strings.IndexByte(text[pos:], ';'); i >= 0 {
			end = pos + i
		}
		spec := text[pos:end]
		name, value, ok := strings.Cut(spec, "=")
		switch trimmed := trimSpace(name); {
		case !ok && trimmed == "": // behind the last semicolon; some signers write one too many elsewhere
		case !ok || !isTagName(trimmed):
			return nil, fmt.Errorf("%w: %q", errTags, spec)
		case list.has(trimmed):
			return nil, fmt.Errorf("%w: two tags %s", errTags, trimmed)
		default:
			list[trimmed] = tag{trimmed, trimSpace(value), pos + len(name) + 1, end}
		}
		pos = end + 1
	}
	return list, nil
}

func (l tags) has(name string) bool {
	_, ok := l[name]
	return ok
}

// packed returns the value of a tag without any white space.
func (l tags) packed(name string) string { return removeSpace(l[name].value) }

// list returns the values of a tag that colons separate, without white space.
func (l tags) list(name string) []string { return strings.Split(l.packed(name), ":") }

// isTagName reports whether s is a letter followed by letters, digits and underscores.
func isTagName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// space is the white space of a header field, line ends included.
const space = " \t\r\n"

func trimSpace(s string) string { return strings.Trim(s, space) }

// removeSpace removes all white space.
func removeSpace(s string) string {
	if !strings.ContainsAny(s, space) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(space, r) {
			return -1
		}
		return r
	}, s)
}
