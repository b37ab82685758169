package block

import (
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/gonebox/gonebox/internal/problem"
)

// index finds blocks in memory. It is not changed once it is in use. The values are the times in microseconds at which blocks
// expire; those without an end have the highest.
type index struct {
	// version is that of the rows that were read.
	version    int64
	networks   map[netip.Prefix]int64 // masked
	lengths    [2][]int               // the prefix lengths in networks, of IPv4 and of IPv6
	senders    map[string]int64       // by address, or by @ and domain
	recipients map[string]int64       // by address
	patterns   map[string]int64       // by pattern, those with *
}

// newIndex returns an index without blocks.
func newIndex(version int64) *index {
	return &index{
		version: version, networks: make(map[netip.Prefix]int64), senders: make(map[string]int64),
		recipients: make(map[string]int64), patterns: make(map[string]int64),
	}
}

// add adds a block. Blocks of the same value count until the last of them expires. A value that this version cannot
// parse is left out.
func (x *index) add(kind Kind, value string, until int64) {
	switch kind {
	case IP:
		network, err := netip.ParsePrefix(value)
		if err != nil {
			return // written by another version
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

// family returns the index in lengths of an address family.
func family(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}

// addLength adds the length of a network's prefix to those that Client looks up.
func (x *index) addLength(network netip.Prefix) {
	lengths := &x.lengths[family(network.Addr())]
	for _, bits := range *lengths {
		if bits == network.Bits() {
			return
		}
	}
	*lengths = append(*lengths, network.Bits())
}

// Client reports whether a client's address is blocked. It looks up one network of each prefix length that occurs: at
// most 33 of IPv4 and 129 of IPv6, however many networks are blocked. The zero address is never blocked.
func (s *Service) Client(addr netip.Addr) bool {
	x, addr := s.index.Load(), addr.Unmap().WithZone("")
	if !addr.IsValid() || len(x.networks) == 0 {
		return false
	}
	for _, bits := range x.lengths[family(addr)] {
		network, err := addr.Prefix(bits)
		if err == nil && s.holds(x.networks, network) {
			return true
		}
	}
	return false
}

// holds reports whether a block of a value has not expired.
func (s *Service) holds(all map[netip.Prefix]int64, network netip.Prefix) bool {
	until, ok := all[network]
	return ok && s.clock.Now().UnixMicro() < until
}

// Sender reports whether a reverse-path is blocked. The null reverse-path never is. A block of @ and a domain applies
// to that domain alone, not to its subdomains.
func (s *Service) Sender(address string) bool {
	x := s.index.Load()
	if address == "" || len(x.senders) == 0 {
		return false
	}
	address = normal(address)
	now := s.clock.Now().UnixMicro()
	at := strings.LastIndexByte(address, '@')
	return now < x.senders[address] || at >= 0 && now < x.senders[address[at:]]
}

// Recipient reports whether a recipient's address, without a tag, is blocked. Each pattern is compared, so patternsMax
// bounds the time.
func (s *Service) Recipient(address string) bool {
	x := s.index.Load()
	if len(x.recipients)+len(x.patterns) == 0 {
		return false
	}
	address = normal(address)
	now := s.clock.Now().UnixMicro()
	if now < x.recipients[address] {
		return true
	}
	for pattern, until := range x.patterns {
		if now < until && match(pattern, address) {
			return true
		}
	}
	return false
}

// normal returns an address in the form in which addresses are compared: in lower case, with its domain in A-labels.
// Lower case applies to the local part too, so that a block cannot be evaded by writing it differently. A domain that
// is not valid stays as it is: an address in a command of SMTP may be anything.
func normal(address string) string {
	address = strings.ToLower(address)
	at := strings.LastIndexByte(address, '@')
	host := strings.TrimSuffix(address[at+1:], ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil && !isASCII(host) {
		host = ascii
	}
	return address[:at+1] + host
}

// isASCII reports whether a text has only ASCII characters, which is what most domains are: they need no conversion.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// match reports whether a text matches a pattern, in which * stands for any characters. It goes back to the last * only, so that
// its time is at most the product of the lengths.
func match(pattern, text string) bool {
	star, resume := -1, 0
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			resume++
			p, t = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

const (
	addressMax = 320 // octets
	starsMax   = 8   // in a pattern
)

// parse returns the normal form of what is blocked. A pattern that would match every address is refused, since it would
// stop all mail. Error: request.invalid.
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
	return normal(text), nil
}

// parseNetwork returns a network in normal form; an address is the network of itself. Large networks are refused, since
// they are mistakes more often than not; 0.0.0.0/0 would stop all mail. Error: request.invalid.
func parseNetwork(text string) (string, error) {
	network, err := netip.ParsePrefix(text)
	if addr, e := netip.ParseAddr(text); e == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		network, err = addr.Prefix(addr.BitLen())
	}
	// The shortest prefixes that are accepted, of IPv4 and IPv6.
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

// forever is the expiry of blocks that have none.
const forever = int64(1) << 62

// until returns an expiry as the index holds it, in microseconds.
func until(t time.Time) int64 {
	if t.IsZero() {
		return forever
	}
	return t.UnixMicro()
}
