// Package domainname checks the domain names that the service is given: by its configuration, by operators and by accounts. It implements one
// rule for what can be a domain for mail, so that a name that one of them accepts is not refused, or useless, elsewhere. It does not use DNS.
package domainname

import (
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// Error says why a text is not accepted.
type Error struct {
	// Reason continues a sentence that begins with the text: "is a URL; write its host alone".
	Reason string
	// Unsuitable is set where the text is a domain name or an address, but not one at which mail can be received.
	Unsuitable bool
}

// NotAName is the reason of an Error for a text that is not recognised as something else.
const NotAName = "is not a domain name"

// Error returns the reason.
func (e *Error) Error() string { return e.Reason }

// profile converts a domain as people type it to lower-case A-labels, and rejects names that are not valid in DNS.
var profile = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.VerifyDNSLength(true), idna.StrictDomainName(true), idna.Transitional(false))

// Normalize returns a domain in lower-case A-labels, without a trailing dot. It does not check what kind of domain it is. Error: *Error.
func Normalize(text string) (string, error) {
	ascii, err := profile.ToASCII(text)
	ascii = strings.TrimSuffix(ascii, ".") // after ToASCII, which maps other characters to a full stop
	// The profile accepts a second final dot, and replaces invalid UTF-8.
	if err != nil || ascii == "" || strings.HasSuffix(ascii, ".") || !utf8.ValidString(text) {
		return "", &Error{Reason: malformed(text)}
	}
	return ascii, nil
}

// malformed returns what a text is that is not a domain name, as far as it can be recognised.
func malformed(text string) string {
	colon := strings.LastIndexByte(text, ':')
	switch {
	case strings.Contains(text, "://"):
		return "is a URL; write its host alone, like box.example.org"
	case strings.ContainsAny(text, `[]{}"'`):
		return "has brackets or quotes; write the name alone, like box.example.org"
	case strings.Contains(text, "@"):
		return "is a mail address; write what is behind its @"
	case strings.Contains(text, "*"):
		return "has a wildcard; write each domain by its name"
	case strings.Contains(text, "/"):
		return "has a slash; write the domain alone, like box.example.org"
	case colon >= 0 && colon+1 < len(text) && isDigits(text[colon+1:]):
		return "has a port; leave it out"
	case strings.Contains(text, "_"):
		return "has an underscore, which the name of a mail domain cannot have"
	case strings.ContainsFunc(text, unicode.IsSpace):
		return "has white space; write one domain name"
	case strings.HasPrefix(text, "."), strings.Contains(text, ".."):
		return "has an empty label"
	}
	return NotAName
}

// ForMail returns the normalized name of a domain that can have mailboxes on the internet or, as the names that are reserved for it
// (IsSpecialUse), in a private network or a test. It refuses IP addresses, names of one label and public suffixes, below which others can
// register names. The public suffix list is compiled in, so a suffix that was added after the build is unknown. Error: *Error.
func ForMail(text string) (string, error) {
	name, err := normalizeHost(text)
	if err != nil {
		return "", err
	}
	suffix, _ := publicsuffix.PublicSuffix(name) // of a registry, or of a hosting service that gives subdomains to its users
	switch {
	case !strings.Contains(name, "."):
		return "", unsuitable("has a single label; a mail domain has a dot, like box.example.org")
	case suffix == name:
		return "", unsuitable("is a public suffix, below which others can register names")
	}
	return name, nil
}

// ForSink returns the normalized name of a domain of the sink. In addition to what ForMail accepts it may be a single label, since systems
// under test send to names like app; but not a generic top-level domain from before there were any that are also words. Error: *Error.
func ForSink(text string) (string, error) {
	name, err := normalizeHost(text)
	if err != nil {
		return "", err
	}
	if strings.Contains(name, ".") {
		return ForMail(text)
	}
	if slices.Contains(strings.Fields("com net org edu gov mil int arpa"), name) {
		return "", unsuitable("is a top-level domain")
	}
	return name, nil
}

// normalizeHost is Normalize for a name that cannot be taken for an IP address.
func normalizeHost(text string) (string, error) {
	if isAddress(text) {
		return "", unsuitable("is an IP address; mail domains are names")
	}
	name, err := Normalize(text)
	if err != nil {
		return "", err
	}
	if isAddressPart(name[strings.LastIndexByte(name, '.')+1:]) {
		return "", unsuitable("ends like an IP address")
	}
	return name, nil
}

func unsuitable(reason string) error { return &Error{Reason: reason, Unsuitable: true} }

// specialUse lists domains that, with all their subdomains, cannot be registered in the public DNS: the registry of RFC 6761
// with later additions (RFC 6762, 7686, 8375, 9476), and the one that ICANN reserves for private networks.
const specialUse = `alt arpa example example.com example.net example.org internal invalid local localhost onion test`

// IsSpecialUse reports whether a normalized name is reserved for special use: for private networks, tests or documentation.
func IsSpecialUse(name string) bool {
	return slices.ContainsFunc(strings.Fields(specialUse), func(special string) bool { return IsOrBelow(name, special) })
}

// IsOrBelow reports whether a normalized name is parent or a subdomain of it. It is false for an empty parent.
func IsOrBelow(name, parent string) bool {
	prefix, ok := strings.CutSuffix(name, parent)
	return ok && parent != "" && (prefix == "" || strings.HasSuffix(prefix, "."))
}

// isAddress reports whether text is an IP address, bare or as an address literal (RFC 5321 §4.1.3), maybe with a trailing dot.
func isAddress(text string) bool {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	if len(text) > len("IPv6:") && strings.EqualFold(text[:len("IPv6:")], "IPv6:") {
		text = text[len("IPv6:"):]
	}
	_, err := netip.ParseAddr(text)
	return err == nil
}

// isAddressPart reports whether a label can be a part of an IPv4 address. Many programs parse a name whose last label is one as
// an IPv4 address (URL Standard, ends-in-a-number checker).
func isAddressPart(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return isDigits(label)
}

// isDigits reports whether a text consists of digits.
func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
