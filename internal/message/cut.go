package message

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a summary: a sender may write a subject of 1 MiB, and a page holds 100 summaries. The message in full keeps everything
// (docs/spec/messages.md, Summary and full message). Lengths as JSON count what json.Marshal escapes, so that an event is at most 64 KiB.
const (
	textMax      = 998      // code points of the subject, of a name and of an address: the longest line of RFC 5322 §2.1.1
	toMax        = 12 << 10 // octets of the recipients as JSON; those beyond are left out
	codeLinksMax = 11 << 10 // octets of a code's links as JSON, likewise
)

// cut returns what a summary shows. It does not change s, and shares none of its long texts.
func (s stored) cut() stored {
	s.From, s.Subject = cutAddress(s.From), cutText(s.Subject)
	if s.MessageID = cutText(s.MessageID); addressesLen(s.To) > toMax || slices.ContainsFunc(s.To, Address.long) {
		s.To = cutAddresses(s.To)
	}
	if len(s.To) == 0 {
		s.EnvelopeTo = fitting(s.EnvelopeTo, toMax, func(to string) int { return Address{Address: to}.jsonLen() })
	}
	if o := s.OTP; o != nil && linksLen(o.Links) > codeLinksMax {
		shown := *o
		shown.Links = fitting(o.Links, codeLinksMax, jsonLen)
		s.OTP = &shown
	}
	return s
}

// cutText returns the first textMax code points of s.
func cutText(s string) string {
	if len(s) <= textMax {
		return s
	}
	n := 0
	for i := range s {
		if n == textMax {
			return strings.Clone(s[:i])
		}
		n++
	}
	return s
}

func cutAddress(a Address) Address {
	return Address{Name: cutText(a.Name), Address: cutText(a.Address)}
}

// long reports whether cutAddress shortens a.
func (a Address) long() bool { return a != cutAddress(a) }

// cutAddresses cuts each address, and leaves out those beyond toMax.
func cutAddresses(all []Address) []Address {
	shown := make([]Address, len(all))
	for i, a := range all {
		shown[i] = cutAddress(a)
	}
	return fitting(shown, toMax, Address.jsonLen)
}

// fitting returns the first elements of all, as many as have max octets together.
func fitting[T any](all []T, max int, size func(T) int) []T {
	sum := 0
	for i, v := range all {
		if sum += size(v); sum > max {
			return slices.Clone(all[:i])
		}
	}
	return all
}

func addressesLen(all []Address) (sum int) {
	for _, a := range all {
		sum += a.jsonLen()
	}
	return sum
}

func linksLen(all []string) (sum int) {
	for _, l := range all {
		sum += jsonLen(l)
	}
	return sum
}

// jsonLen is the length of {"name":…,"address":…} and a comma.
func (a Address) jsonLen() int {
	return jsonLen(a.Name) + jsonLen(a.Address) + len(`{"name":,"address":},`)
}

// jsonLen is at least the length of s as json.Marshal writes it, with a comma.
func jsonLen(s string) int {
	n := len(`"",`)
	for _, r := range s {
		switch {
		case r < ' ', r == '"', r == '\\', r == '<', r == '>', r == '&', r == '\u2028', r == '\u2029', r == utf8.RuneError, r == 0x7f:
			n += len(`\u0000`)
		default:
			n += utf8.RuneLen(r)
		}
	}
	return n
}

// octets is the length of a summary as JSON, or a little more.
func (m *Summary) octets() int {
	const frame = 512 // identifiers, times, numbers and the names of fields
	n := frame + m.From.jsonLen() + addressesLen(m.To) + jsonLen(m.Subject) + jsonLen(m.Preview)
	if o := m.OTP; o != nil {
		n += frame + o.From.jsonLen() + jsonLen(o.Subject) + jsonLen(o.Code) + jsonLen(o.Display) + linksLen(o.Links)
	}
	return n
}
