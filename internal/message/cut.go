package message

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/truncate"
)

// Bounds of a summary: a sender may write a subject of 1 MiB, and a page holds 100 summaries. The message in full keeps everything
// (docs/spec/messages.md, Summary and full message). Lengths as JSON count what json.Marshal escapes, so that an event is at most 64 KiB.
const (
	textMax      = 998      // code points of the subject, of a name and of an address: the longest line of RFC 5322 §2.1.1
	toMax        = 12 << 10 // octets of the recipients as JSON; those beyond are left out
	codeLinksMax = 11 << 10 // octets of a code's links as JSON, likewise
	actionMax    = 3 << 10  // octets of an action's address and host as JSON; a message with more has no action
)

// cut returns what a summary shows. It does not change m, and shares none of its long texts.
func cut(m Summary) Summary {
	m.From, m.Subject = cutAddress(m.From), cutText(m.Subject)
	if addressesLen(m.To) > toMax || slices.ContainsFunc(m.To, isLong) {
		m.To = cutAddresses(m.To)
	}
	m.OTP = cutLinks(m.OTP)
	return m
}

// cutLinks leaves out the links of a code beyond codeLinksMax. It does not change o, which may be nil.
func cutLinks(o *OTP) *OTP {
	if o == nil || linksLen(o.Links) <= codeLinksMax {
		return o
	}
	shown := *o
	shown.Links = fitting(o.Links, codeLinksMax, jsonLen)
	return &shown
}

// recipients returns forward-paths as the recipients of a header without any.
func recipients(paths []string) []Address {
	all := make([]Address, len(paths))
	for i, to := range paths {
		all[i].Address = to
	}
	return all
}

// cutText returns the first textMax code points of s.
func cutText(s string) string {
	if short := truncate.Runes(s, textMax); len(short) < len(s) {
		return strings.Clone(short) // so that the whole is not kept
	}
	return s
}

func cutAddress(a Address) Address {
	return Address{Name: cutText(a.Name), Address: cutText(a.Address)}
}

// isLong reports whether cutAddress shortens a.
func isLong(a Address) bool { return a != cutAddress(a) }

// cutAddresses cuts each address, and leaves out those beyond toMax.
func cutAddresses(all []Address) []Address {
	shown := make([]Address, len(all))
	for i, a := range all {
		shown[i] = cutAddress(a)
	}
	return fitting(shown, toMax, addressLen)
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
		sum += addressLen(a)
	}
	return sum
}

func linksLen(all []string) (sum int) {
	for _, l := range all {
		sum += jsonLen(l)
	}
	return sum
}

// addressLen is the length of {"name":…,"address":…} and a comma.
func addressLen(a Address) int {
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
