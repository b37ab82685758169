package apikey_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/problem"
)

func TestParseScopes(t *testing.T) {
	for _, c := range []struct {
		names   string
		want    []apikey.Scope
		pointer string
	}{
		{"mailboxes:read", []apikey.Scope{apikey.MailboxesRead}, ""},
		{"otp:read mailboxes:write otp:read", []apikey.Scope{apikey.MailboxesWrite, apikey.OTPRead}, ""},
		{"messages:read otp:read mailboxes:read mailboxes:write", apikey.Scopes(), ""},
		{"", nil, "/scopes"},
		{"messages:read messages:write", nil, "/scopes/1"},
		{"Messages:read", nil, "/scopes/0"},
		{"*", nil, "/scopes/0"},
	} {
		got, err := apikey.ParseScopes(strings.Fields(c.names))
		if diff := cmp.Diff(c.want, got); diff != "" || at(err) != c.pointer {
			t.Errorf("ParseScopes(%q): %v, want an error at %q if that is not empty (-want +got):\n%s", c.names, err, c.pointer, diff)
		}
	}
}

func TestParseNetworks(t *testing.T) {
	for _, c := range []struct{ text, want, pointer string }{
		{"192.0.2.0/24", "192.0.2.0/24", ""},
		{"192.0.2.77/24", "192.0.2.0/24", ""},
		{"192.0.2.77", "192.0.2.77/32", ""},
		{"2001:DB8::1/32", "2001:db8::/32", ""},
		{"2001:db8::1", "2001:db8::1/128", ""},
		{"::ffff:192.0.2.0/120", "192.0.2.0/24", ""},
		{"::ffff:192.0.2.1", "192.0.2.1/32", ""},
		{"::/0", "::/0", ""},
		{"0.0.0.0/0", "0.0.0.0/0", ""},
		{"10.0.0.0/8 10.1.2.3/8 192.0.2.1", "10.0.0.0/8 192.0.2.1/32", ""},
		{"", "", ""},
		{"10.0.0.0/8 10.0.0.0/33", "", "/allowedCidrs/1"},
		{"10.0.0.0/", "", "/allowedCidrs/0"},
		{"10.0.0/8", "", "/allowedCidrs/0"},
		{"010.0.0.1", "", "/allowedCidrs/0"},
		{"fe80::1%eth0", "", "/allowedCidrs/0"},
		{"fe80::%eth0/64", "", "/allowedCidrs/0"},
		{"example.org", "", "/allowedCidrs/0"},
		{strings.Repeat("10.0.0.1 ", 100), "10.0.0.1/32", ""},
		{strings.Repeat("10.0.0.1 ", 101), "", "/allowedCidrs"},
	} {
		got, err := apikey.ParseNetworks(strings.Fields(c.text))
		if text := written(got); text != c.want || at(err) != c.pointer {
			t.Errorf("the networks of %.40q are %q, %v, want %q, and an error at %q if that is not empty", c.text, text, err, c.want, c.pointer)
		}
	}
}

func written(networks []netip.Prefix) string {
	var all []string
	for _, n := range networks {
		all = append(all, n.String())
	}
	return strings.Join(all, " ")
}

// at returns the pointer of a problem, "" without one.
func at(err error) string {
	p, known := problem.From(err)
	if err == nil || !known || p.Code != problem.RequestInvalid {
		return ""
	}
	return p.Fields[0].Pointer
}

// The text of parsed networks parses to the same networks.
func FuzzParseNetworks(f *testing.F) {
	for _, seed := range []string{"192.0.2.0/24", "::ffff:10.1.2.3/100", "::ffff:10.1.2.3/90", "2001:db8::1", "10.0.0.1/0", "fe80::1%x/10", "1.2.3.4/-1", "::/128 ::"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		networks, err := apikey.ParseNetworks(strings.Fields(text))
		if err != nil {
			return
		}
		for _, n := range networks {
			if n != n.Masked() || n.Addr().Zone() != "" || n.Addr().Is4In6() && n.Bits() >= 96 {
				t.Errorf("ParseNetworks(%q) has %s, want each network in canonical form", text, n)
			}
		}
		again, err := apikey.ParseNetworks(strings.Fields(written(networks)))
		if err != nil || !slices.Equal(again, networks) {
			t.Errorf("%q gives %v, then %v, %v, want %v", text, networks, again, err, networks)
		}
	})
}

// A key gets exactly the scopes that were asked for.
func FuzzParseScopes(f *testing.F) {
	for _, seed := range []string{"otp:read", "mailboxes:read mailboxes:write", "otp:read otp:read", "all", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names := strings.Fields(text)
		scopes, err := apikey.ParseScopes(names)
		if err != nil {
			return
		}
		for _, s := range apikey.Scopes() {
			if slices.Contains(names, string(s)) != slices.Contains(scopes, s) {
				t.Errorf("ParseScopes(%q) = %v, want %s in it: %t", text, scopes, s, slices.Contains(names, string(s)))
			}
		}
	})
}
