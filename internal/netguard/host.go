package netguard

import (
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// host is the host of a URL: an address, or a name in lower-case A-labels.
type host struct {
	addr    netip.Addr // the zero Addr where it is a name
	name    string
	private bool // a name that only a private network can have
	plain   bool // reached by http or on another port, which is for the networks of Options.Allow alone
}

// readHost parses a host, whose brackets, if it had any, have been removed. Error: *ForbiddenError.
func readHost(text string, bracketed bool) (host, error) {
	if bracketed {
		addr, err := netip.ParseAddr(text)
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return host{}, forbidden(RuleHost, "what stands in brackets must be an IPv6 address without a zone")
		}
		return host{addr: addr}, nil
	}
	if endsInNumber(text) {
		addr, err := netip.ParseAddr(text)
		if err != nil || !addr.Is4() {
			return host{}, forbidden(RuleHost, "an IPv4 address must be written as four decimal numbers")
		}
		return host{addr: addr}, nil
	}
	return readName(text)
}

// endsInNumber reports whether some parsers would take a host for an IPv4 address: its last label is a number (URL
// Standard, ends-in-a-number checker). Such a host must be an address in canonical form, so that 127.1, 0x7f000001 and
// 2130706433 never become names.
func endsInNumber(text string) bool {
	text = strings.TrimRight(text, ".")
	last := strings.ToLower(text[strings.LastIndexByte(text, '.')+1:])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.TrimFunc(last, unicode.IsDigit) == "" // those of other scripts, too
}

// asWritten converts international names to A-labels without mapping them, so that a circled, a wide and a plain
// letter are never the same host. Two hyphens in the third and fourth place are allowed, since some hosting providers
// use such names.
var asWritten = idna.New(idna.ValidateForRegistration(), idna.CheckHyphens(false), idna.BidiRule())

// nameMax is the longest name, in octets (RFC 1035 §2.3.4).
const nameMax = 253

// readName parses a host name.
func readName(text string) (host, error) {
	name, err := asWritten.ToASCII(lowerASCII(text))
	if err != nil || len(name) > nameMax || !hostName(name) {
		return host{}, forbidden(RuleHost, "the host is not a name in its plain form: labels of letters, digits and hyphens, international ones in lower case, and no dot at the end")
	}
	if metadata(name) {
		return host{}, forbidden(RuleHost, "the host belongs to the service's own machines")
	}
	return host{name: name, private: privateName(name)}, nil
}

// lowerASCII converts only the letters of ASCII: Unicode has others whose lower case is an ASCII letter.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, text)
}

// hostName reports whether a name consists of labels that hosts may have (RFC 1123 §2.1).
func hostName(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}

// privateSuffixes are the suffixes of names that do not exist on the public internet: RFC 6761, 6762, 7686, 8375 and 9476, what ICANN keeps for
// private networks, and what routers and companies have made up.
const privateSuffixes = `alt arpa corp domain home internal intra intranet invalid lan local localdomain localhost onion private`

// privateName reports whether only a private network can have a name. It may be used if the operator has allowed all
// its addresses.
func privateName(name string) bool {
	return !strings.Contains(name, ".") ||
		slices.Contains(strings.Fields(privateSuffixes), name[strings.LastIndexByte(name, '.')+1:])
}

// metadataNames are names in public domains at which cloud providers serve a machine its own credentials. Those in
// private domains are covered by privateSuffixes.
const metadataNames = `metadata.goog metadata.tencentyun.com metadata.packet.net metadata.platformequinix.com`

// metadata reports whether a name is one of metadataNames.
func metadata(name string) bool { return slices.Contains(strings.Fields(metadataNames), name) }
