package netguard_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/netguard"
)

// names is a resolver that knows some names and answers everything else with one address.
type names struct {
	known map[string][]netip.Addr
	other netip.Addr // the zero Addr: any other name does not exist
}

var public = netip.MustParseAddr("93.184.216.34")

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if all, ok := n.known[strings.TrimSuffix(host, ".")]; ok {
		return all, nil
	}
	if !n.other.IsValid() {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return []netip.Addr{n.other}, nil
}

func addrs(texts ...string) []netip.Addr {
	all := make([]netip.Addr, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParseAddr(text)
	}
	return all
}

// form is a row of testdata/forbidden.txt.
type form struct {
	rule netguard.Rule
	url  string
}

func forbiddenForms(t testing.TB) []form {
	t.Helper()
	file, err := os.Open("testdata/forbidden.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []form
	for lines := bufio.NewScanner(file); lines.Scan(); {
		rule, quoted, ok := strings.Cut(lines.Text(), " ")
		if !ok || rule == "#" {
			continue
		}
		url, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("unquote the line %s: %v", lines.Text(), err)
		}
		all = append(all, form{netguard.Rule(rule), url})
	}
	if len(all) < 140 {
		t.Fatalf("only %d forms were read, want at least 140", len(all))
	}
	return all
}

// refused is the rule that stands against a URL, "" for none.
func refused(t *testing.T, err error) netguard.Rule {
	t.Helper()
	if err == nil {
		return ""
	}
	f, ok := errors.AsType[*netguard.ForbiddenError](err)
	if !ok {
		t.Fatalf("the error is %v, want a ForbiddenError", err)
	}
	if f.Error() == "" || strings.ContainsAny(f.Error(), "/[]@%") {
		t.Errorf("the error reads %q, want a sentence for the caller without an address", f.Error())
	}
	return f.Rule
}

func TestForbiddenFormsAreRefusedAtRegistration(t *testing.T) {
	g := netguard.New(netguard.Options{Resolver: names{other: public}})
	for _, f := range forbiddenForms(t) {
		if got := refused(t, g.CheckURL(t.Context(), f.url)); got != f.rule {
			t.Errorf("CheckURL(%q) refuses by the rule %q, want %q", f.url, got, f.rule)
		}
	}
}
