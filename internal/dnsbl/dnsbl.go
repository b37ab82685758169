// Package dnsbl asks DNS blocklists (RFC 5782) whether they list the address of a client.
//
// A list is a domain: the address, reversed, is looked up below it, and an answer in 127.0.0.0/8 means that it is
// listed. A Checker asks all configured lists at once while the session continues, so that a slow list delays nothing
// until the result is needed. A list that does not respond counts as not listing: mail is not lost because DNS fails.
package dnsbl

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Resolver is the part of package resolver that is needed. It must be safe for concurrent use.
type Resolver interface {
	// LookupNetIP returns the addresses of host; network is "ip4".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// List is a blocklist.
type List struct {
	Zone     string   // the domain name that it is asked under
	Resolver Resolver // caches answers; each list may have its own, so that a list that is silent does not stop the others
}

// Checker asks lists. Its methods may be called by many goroutines.
type Checker struct {
	lists []List
	wait  time.Duration // for all lists together
}

// New returns a Checker that waits at most that long for all lists together. It has no state besides its parameters.
func New(lists []List, wait time.Duration) *Checker {
	return &Checker{lists: lists, wait: wait}
}

// Start asks all lists about a client at once, in the background. The function that it returns waits for the first list
// that has the client and returns its zone. It returns "" when no list has it, and for what a list does not respond in
// time. Clients that are not at public addresses are not looked up. The look-up ends with ctx.
//
// One goroutine for each list and one that waits for them end when all lists have answered, or after the Checker's
// time. zone may be called several times and from several goroutines, or not at all.
func (c *Checker) Start(ctx context.Context, client netip.Addr) (zone func() string) {
	client = client.Unmap().WithZone("")
	if len(c.lists) == 0 || !isPublic(client) {
		return func() string { return "" }
	}
	ctx, cancel := context.WithTimeout(ctx, c.wait)
	name := reversed(client)
	found := make(chan string, 1) // the first zone; closed when all lists have answered
	var asking sync.WaitGroup
	for _, l := range c.lists {
		asking.Go(func() {
			answers, err := l.Resolver.LookupNetIP(ctx, "ip4", name+"."+l.Zone+".")
			if err == nil && isListed(answers) {
				select {
				case found <- l.Zone:
				default: // another list was faster
				}
			}
		})
	}
	go func() {
		asking.Wait()
		close(found)
		cancel()
	}()
	return sync.OnceValue(func() string { return <-found })
}

// isPublic reports whether lists can know an address: others mean a different host in each network.
func isPublic(a netip.Addr) bool {
	return a.IsGlobalUnicast() && !a.IsPrivate() // IsGlobalUnicast excludes loopback, link-local and unspecified addresses
}

// reversed returns the octets of an IPv4 address or the nibbles of an IPv6 address, the last one first (RFC 5782 §2.1, §2.4).
func reversed(a netip.Addr) string {
	octets := a.AsSlice()
	var labels []string
	for _, octet := range slices.Backward(octets) {
		if a.Is4() {
			labels = append(labels, strconv.Itoa(int(octet)))
			continue
		}
		labels = append(labels, strconv.FormatInt(int64(octet&0xf), 16), strconv.FormatInt(int64(octet>>4), 16))
	}
	return strings.Join(labels, ".")
}

// isListed reports whether the answers of a list say that an address is listed: one is in 127.0.0.0/8 (RFC 5782 §2.1). Answers in
// 127.255.255.0/24 are errors by convention, for example of a list that refuses queries by public resolvers. Others come from domains
// that no longer are lists, whose new owners answer to every name.
func isListed(answers []netip.Addr) bool {
	for _, a := range answers {
		if b := a.Unmap(); b.Is4() && b.IsLoopback() && (b.As4()[1] != 255 || b.As4()[2] != 255) {
			return true
		}
	}
	return false
}
