package resolver

import "strings"

// question is what is asked, and the key of the cache. name is in lower case with a trailing dot; it is empty for what
// can be no name of a host or record, which is answered without asking.
type question struct {
	name  string
	qtype uint16
}

func ask(name string, qtype uint16) question {
	return question{name: canonical(name), qtype: qtype}
}

// Limits of RFC 1035 §2.3.4, for names in presentation form without the trailing dot.
const (
	maxName  = 253
	maxLabel = 63
)

// canonical gives the form under which a name is asked for, or "" if it can be none. Names are compared without regard
// to the case of ASCII letters (RFC 4343). Escapes are refused: nobody who writes to us has reason to use them. So is
// everything outside ASCII: to have the A-label form is up to the caller.
func canonical(name string) string {
	name = strings.TrimSuffix(name, ".")
	if name == "" || len(name) > maxName {
		return ""
	}
	label := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '.':
			if label == 0 {
				return ""
			}
			label = 0
			continue
		case c <= ' ' || c >= 0x7f || c == '\\':
			return ""
		}
		if label++; label > maxLabel {
			return ""
		}
	}
	if label == 0 {
		return ""
	}
	return strings.ToLower(name) + "."
}

// isSpecial reports whether name lies under a top-level domain that a stub must not ask for (RFC 6761 §6.3 and §6.4).
func isSpecial(name string) bool {
	name = strings.TrimSuffix(name, ".")
	top := name[strings.LastIndexByte(name, '.')+1:]
	return top == "localhost" || top == "invalid"
}
