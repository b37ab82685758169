package netguard_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/netguard"
)

// notPublic is the test's own list of what is not public, written by hand from the registries of special-purpose
// addresses (RFC 6890), so that a gap in the guard's list shows.
const notPublic = `
	0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24
	192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
	::/3 2001::/23 2001:db8::/32 2002::/16 3ffe::/16 3fff::/20 4000::/2 8000::/1`

func isPublic(a netip.Addr) bool {
	for text := range strings.FieldsSeq(notPublic) {
		if netip.MustParsePrefix(text).Contains(a.WithZone("")) {
			return false
		}
	}
	return true
}

// Whatever URL is allowed, and whatever DNS says first and then, nothing is ever dialled but a public address on one of
// the ports; and what is public then is dialled.
func FuzzWhatIsAllowedReachesPublicAddressesAlone(f *testing.F) {
	addresses := strings.Fields(forbiddenAddresses)
	for i, form := range forbiddenForms(f) {
		f.Add(form.url, public.AsSlice(), netip.MustParseAddr(addresses[i%len(addresses)]).AsSlice())
	}
	for _, text := range addresses {
		f.Add("https://example.com:8443/hooks", public.AsSlice(), netip.MustParseAddr(text).AsSlice())
	}
	f.Add("https://bücher.example.com/", public.AsSlice(), public.AsSlice())
	f.Add("https://[2606:4700:4700::1111]:8443/", public.AsSlice(), public.AsSlice())
	f.Add("https://8.8.8.8/", public.AsSlice(), public.AsSlice())
	f.Fuzz(func(t *testing.T, url string, first, then []byte) {
		a, ok := netip.AddrFromSlice(first)
		b, ok2 := netip.AddrFromSlice(then)
		if !ok || !ok2 {
			return
		}
		g := netguard.New(netguard.Options{Resolver: &turns{answers: [][]netip.Addr{{a}, {b}}}})
		if err := g.CheckURL(t.Context(), url); err != nil {
			refused(t, err)
			return
		}
		dialled, err := post(t, g, url)
		for _, address := range dialled {
			to, parseErr := netip.ParseAddrPort(address)
			if parseErr != nil || !isPublic(to.Addr()) || to.Port() != 443 && to.Port() != 8443 {
				t.Errorf("POST %q reached %s, want a public address at port 443 or 8443", url, address)
			}
		}
		if len(dialled) == 0 && errors.Is(err, netguard.ErrNotDialled) || len(dialled) > 1 {
			t.Errorf("POST %q dialled %v, %v, want one address at most, and one where dialling was allowed", url, dialled, err)
		}
	})
}
