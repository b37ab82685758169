package message

// member returns the value of a member of a JSON object as it is written there, or "" if the object has no such member. The object is as
// package json writes it, without white space; of anything else member returns some part of it, or "".
func member(object, name string) string {
	for rest := cutByte(object, '{'); rest != ""; rest = cutByte(rest, ',') {
		key := rest[:valueLen(rest)]
		if rest = cutByte(rest[len(key):], ':'); rest == "" {
			return ""
		}
		n := valueLen(rest)
		if len(key) == len(name)+2 && key[1:len(key)-1] == name {
			return rest[:n]
		}
		rest = rest[n:]
	}
	return ""
}

// cutByte returns s without its first byte, or "" if that is not c.
func cutByte(s string, c byte) string {
	if s == "" || s[0] != c {
		return ""
	}
	return s[1:]
}

// valueLen returns the length of the JSON value that s begins with.
func valueLen(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i += stringLen(s[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']', ',', ':':
			if depth == 0 {
				return i
			}
			if s[i] == '}' || s[i] == ']' {
				depth--
			}
		}
	}
	return len(s)
}

// stringLen returns the length of the JSON string that s begins with, with its quotation marks.
func stringLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}
