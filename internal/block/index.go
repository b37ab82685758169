package block

import (
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wildcard"
)

// index holds the blocks in memory. It is immutable once Service.index points to it. The values of its maps are the
// times at which blocks expire, in microseconds since 1970; forever if a block does not expire.
type index struct {
	version    int64                  // the stored version, read before the rows
	networks   map[netip.Prefix]int64 // masked
	lengths    [2][]int               // the distinct prefix lengths in networks, by family
	senders    map[string]int64       // by address, or by @ and domain
	recipients map[string]int64       // by address without *
	patterns   map[string]int64       // by address with *
}

// newIndex returns an index without blocks.
func newIndex(version int64) *index {
	return &index{
		version: version, networks: make(map[netip.Prefix]int64), senders: make(map[string]int64),
		recipients: make(map[string]int64), patterns: make(map[string]int64),
	}
}

// add adds a block that expires at until. If several blocks have the same value, the latest expiry applies. A network
// that cannot be parsed is ignored.
func (x *index) add(kind Kind, value string, until int64) {
	switch kind {
	case IP:
		network, err := netip.ParsePrefix(value)
		if err != nil {
			return // stored by another version of the program
		}
		if _, known := x.networks[network]; !known {
			x.addLength(network)
		}
		x.networks[network] = max(x.networks[network], until)
	case Sender:
		x.senders[value] = max(x.senders[value], until)
	case Recipient:
		all := x.recipients
		if strings.Contains(value, "*") {
			all = x.patterns
		}
		all[value] = max(all[value], until)
	}
}

// family returns the position in index.lengths of an address's family: 0 for IPv4, 1 for IPv6.
func family(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}

// addLength adds the length of a network's prefix to the lengths that Client looks up, unless it is already there.
func (x *index) addLength(network netip.Prefix) {
	lengths := &x.lengths[family(network.Addr())]
	for _, bits := range *lengths {
		if bits == network.Bits() {
			return
		}
	}
	*lengths = append(*lengths, network.Bits())
}

// Client reports whether a client's address is blocked. It does one lookup for each prefix length that occurs among the
// blocked networks, at most 33 for IPv4 and 129 for IPv6, however many networks are blocked. The zero Addr is never
// blocked.
func (s *Service) Client(addr netip.Addr) bool {
	x, addr := s.index.Load(), addr.Unmap().WithZone("")
	if !addr.IsValid() || len(x.networks) == 0 {
		return false
	}
	for _, bits := range x.lengths[family(addr)] {
		network, err := addr.Prefix(bits)
		if err == nil && s.isBlocked(x.networks, network) {
			return true
		}
	}
	return false
}

// isBlocked reports whether networks contains a network whose block has not expired.
func (s *Service) isBlocked(networks map[netip.Prefix]int64, network netip.Prefix) bool {
	until, ok := networks[network]
	return ok && s.clock.Now().UnixMicro() < until
}

// Sender reports whether a reverse-path is blocked. The null reverse-path ("") is never blocked. A block of @ and a
// domain applies to that domain only, not to its subdomains.
func (s *Service) Sender(address string) bool {
	x := s.index.Load()
	if address == "" || len(x.senders) == 0 {
		return false
	}
	address = normalize(address)
	now := s.clock.Now().UnixMicro()
	at := strings.LastIndexByte(address, '@')
	return now < x.senders[address] || at >= 0 && now < x.senders[address[at:]]
}

// Recipient reports whether a recipient's address is blocked. The caller removes the address's tag (user+tag) first.
// The address is compared with every pattern, so that patternsMax bounds the time.
func (s *Service) Recipient(address string) bool {
	x := s.index.Load()
	if len(x.recipients)+len(x.patterns) == 0 {
		return false
	}
	address = normalize(address)
	now := s.clock.Now().UnixMicro()
	if now < x.recipients[address] {
		return true
	}
	for pattern, until := range x.patterns {
		if now < until && wildcard.Match(pattern, address) {
			return true
		}
	}
	return false
}

// normalize returns an address in the form in which addresses are compared: in lower case, with its domain in A-labels
// (RFC 5890). The local part is in lower case too, so that a different spelling does not evade a block. An invalid
// domain is only converted to lower case, because an SMTP client may send any text as an address.
func normalize(address string) string {
	address = strings.ToLower(address)
	at := strings.LastIndexByte(address, '@')
	host := strings.TrimSuffix(address[at+1:], ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil && !isASCII(host) {
		host = ascii
	}
	return address[:at+1] + host
}

// isASCII reports whether a text contains only ASCII characters. Most domains do and need no conversion to A-labels.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

const (
	addressMax = 320 // octets
	starsMax   = 8   // number of * in a pattern
)

// parse validates the value of a block and returns it normalized. It rejects a pattern that matches every address,
// because that would stop all mail. Error: request.invalid.
func parse(kind Kind, text string) (string, error) {
	pointer := "/" + string(kind)
	if kind == IP {
		return parseNetwork(text)
	}
	at := strings.LastIndexByte(text, '@')
	control := strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f })
	switch {
	case len(text) > addressMax || control:
		return "", problem.Invalid(pointer, "must be an address of at most %d octets without white space", addressMax)
	case kind == Sender && (at < 0 || at == len(text)-1 || strings.Contains(text, "*")):
		return "", problem.Invalid(pointer, "must be an address, or @ and a domain, such as @example.org")
	case kind == Recipient && (strings.Count(text, "*") > starsMax || strings.Trim(text, "*@.") == ""):
		return "", problem.Invalid(pointer, "must be an address, in which up to %d * stand for any characters, and not match every address", starsMax)
	case kind == Recipient && at < 0 && !strings.Contains(text, "*"):
		return "", problem.Invalid(pointer, "must be an address, or a pattern with *, such as admin*@example.org")
	}
	return normalize(text), nil
}

// parseNetwork parses a network, or an address as the network of that address alone, and returns it with the host bits
// cleared. It rejects large networks, because they are most likely mistakes: 0.0.0.0/0 would stop all mail. Error:
// request.invalid.
func parseNetwork(text string) (string, error) {
	network, err := netip.ParsePrefix(text)
	if addr, e := netip.ParseAddr(text); e == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		network, err = addr.Prefix(addr.BitLen())
	}
	// The shortest accepted prefix lengths for IPv4 and IPv6.
	const shortest4, shortest6 = 8, 16
	bits := shortest6
	if network.Addr().Is4() {
		bits = shortest4
	}
	switch {
	case err != nil || network.Addr().Is4In6():
		return "", problem.Invalid("/ip", "must be an address or a network, such as 192.0.2.0/24")
	case network.Bits() < bits:
		return "", problem.Invalid("/ip", "must not be larger than a /%d", bits)
	}
	return network.Masked().String(), nil
}

// forever is the expiry in an index of blocks that do not expire.
const forever = int64(1) << 62

// until returns an expiry as an index holds it: in microseconds since 1970, or forever if t is zero.
func until(t time.Time) int64 {
	if t.IsZero() {
		return forever
	}
	return t.UnixMicro()
}
