package resolver

import (
	"testing"

	"github.com/miekg/dns"
)

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"", ".", "a.", "A.b", "a..b", `\.`, "xn--bcher-kva.example", "a b", "\xff.test"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := canonical(name)
		if got == "" {
			return
		}
		if again := canonical(got); again != got {
			t.Errorf("canonical(%q) = %q", got, again)
		}
		if _, err := dns.PackDomainName(got, make([]byte, 512), 0, nil, false); err != nil {
			t.Errorf("%q cannot be asked for: %v", got, err)
		}
	})
}

func FuzzRead(f *testing.F) {
	for _, l := range []string{
		`test. 60 IN TXT "a" "b\"\200"`, "test. 60 IN CNAME test.", "test. 60 IN MX 1 .", "test. 60 IN A 192.0.2.1",
	} {
		rr, err := dns.NewRR(l)
		if err != nil {
			f.Fatal(err)
		}
		m := new(dns.Msg).SetQuestion("test.", rr.Header().Rrtype)
		m.Answer = append(m.Answer, rr)
		b, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, rr.Header().Rrtype)
	}
	f.Fuzz(func(t *testing.T, packet []byte, qtype uint16) {
		m := new(dns.Msg)
		if m.Unpack(packet) != nil {
			return
		}
		a := read(ask("test", qtype), m)
		outcomes := 0
		for _, is := range []bool{a.err != nil, a.alias != "", len(a.records) > 0} {
			if is {
				outcomes++
			}
		}
		if outcomes != 1 {
			t.Errorf("%d outcomes: %+v", outcomes, a)
		}
		if a.ttl < minTTL || a.ttl > maxTTL {
			t.Errorf("TTL %v", a.ttl)
		}
	})
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", `\"q\"`: `"q"`, `\\`: `\`, `\065`: "A", `\200`: "\xc8", `\`: `\`, `\06`: "06", `a\;b`: "a;b",
	} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
}
