package spf_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/mailauth/spf"
)

// zone is a DNS zone in memory: records by type and name, "TXT shop.example". A name with the record "!" fails
// temporarily.
type zone map[string][]string

// look returns the records of a name.
func (z zone) look(kind, name string) ([]string, error) {
	records := z[kind+" "+strings.ToLower(strings.TrimSuffix(name, "."))]
	switch {
	case len(records) == 0:
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	case records[0] == "!":
		return nil, &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	}
	return records, nil
}

func (z zone) LookupTXT(_ context.Context, name string) ([]string, error) { return z.look("TXT", name) }

func (z zone) LookupMX(_ context.Context, name string) (mxs []*net.MX, err error) {
	hosts, err := z.look("MX", name)
	for i, host := range hosts {
		mxs = append(mxs, &net.MX{Host: host, Pref: uint16(i)})
	}
	return mxs, err
}

func (z zone) LookupNetIP(_ context.Context, network, name string) (addrs []netip.Addr, err error) {
	kind := map[string]string{"ip4": "A", "ip6": "AAAA"}[network]
	texts, err := z.look(kind, name)
	for _, text := range texts {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, err
}

func (z zone) LookupAddr(_ context.Context, addr string) ([]string, error) {
	return z.look("PTR", addr)
}

// ask evaluates a record for a client.
func ask(z zone, record, ip string) spf.Result {
	z["TXT shop.example"] = []string{record}
	return spf.Check(context.Background(), z, spf.Query{IP: netip.MustParseAddr(ip), Helo: "mx.shop.example", Local: "ann+x", Domain: "shop.example"})
}

// Whatever stands before an error, and would have matched, the record is invalid (RFC 7208 §4.6).
func TestSyntaxErrorsAnywhereArePermError(t *testing.T) {
	for _, term := range []string{
		"foo", "foo:bar", "foo:bar.example", "include", "include:", "exists:", "all:", "all/24", "all.", "-all:x.example",
		"redirect:x.example", "redirect=", "redirect=x", "redirect=x.example/24", "redirect=a.example redirect=b.example", "Redirect=a.example REDIRECT=b.example",
		"exp=", "exp=x", "exp=x.example exp=y.example", "+redirect=x.example", "-exp=x.example",
		"a:", "a/", "a//", "a/24/", "a/24/64", "a/33", "a//129", "a/-1", "a/+24", "a/024", "a//064", "a/0x1", "a:/24", "a:x", "a:x.example/33", "a:x.example/",
		"a:192.0.2.1", "a:host.123", "a:host.-x", "a:host.x-", "a:host..", "a:host.x_y", "mx:", "mx/99", "mx:1", "ptr:", "ptr/24", "ptr:x",
		"ip4", "ip4:", "ip4:1.2.3", "ip4:1.2.3.4.5", "ip4:01.2.3.4", "ip4:1.2.3.4/33", "ip4:1.2.3.4/032", "ip4:1.2.3.4/", "ip4:1.2.3.4/a", "ip4:1.2.3.4//32",
		"ip4:2001:db8::1", "ip4:1.2.3.400", "ip6:192.0.2.1", "ip6:2001:db8::/129", "ip6:2001:db8::/-1", "ip6:2001:db8:::1", "ip6:fe80::1%eth0", "ip6::",
		"a:%{d", "a:%{}.example", "a:%{x}.example", "a:%{d0}.example", "a:%{d}.", "a:%{dr1}.example", "a:%{d1x}.example", "a:%(d).example", "a:%", "a:%a.example", "a:%{c}.example",
		"exists:%{t}.example", "exists:%{d}.example/24", "unknown=%{", "unknown=%x", "un:known=x", "1unknown=x", "=x", "++all", "+", "?", "\tall", "a:é.example", "é", "unknown=é",
		"a:x\x00.example", "a:\x7f.example",
	} {
		for _, record := range []string{"v=spf1 ip4:192.0.2.1 " + term, "v=spf1 " + term + " +all", "v=spf1 +all " + term + " -all"} {
			if got := ask(zone{}, record, "192.0.2.1"); got != spf.PermError {
				t.Errorf("Check of %q is %s, want permerror", record, got)
			}
		}
	}
}

func TestRecords(t *testing.T) {
	z := zone{
		"A shop.example": {"192.0.2.1"}, "AAAA shop.example": {"2001:db8::1"}, "A six.example": {"198.51.100.7"},
		"MX shop.example": {"mx1.shop.example.", "mx2.shop.example."}, "A mx2.shop.example": {"192.0.2.2"},
		"MX null.example": {"."}, "MX eleven.example": strings.Split(strings.Repeat("mx2.shop.example. ", 11), " ")[:11],
		"PTR 192.0.2.1": {"host.shop.example.", "forged.bank.example."}, "A host.shop.example": {"192.0.2.1"}, "A forged.bank.example": {"198.51.100.1"},
		"TXT pass.example": {"v=spf1 +all"}, "TXT fail.example": {"v=spf1 -all"}, "TXT none.example": {"hello"}, "TXT two.example": {"v=spf1 +all", "V=SPF1"},
		"TXT bad.example": {"v=spf1 ip4:192.0.2.1 oops -all"}, "TXT temp.example": {"!"}, "A temp.example": {"!"}, "MX temp.example": {"!"},
		"TXT loop.example": {"v=spf1 include:loop.example -all"}, "TXT neutral.example": {"v=spf1"},
	}
	for _, tt := range []struct {
		record, ip string
		want       spf.Result
	}{
		{"v=spf1", "192.0.2.1", spf.Neutral},
		{"V=SPF1 -ALL", "192.0.2.1", spf.Fail},
		{"v=spf1  ~all  ", "192.0.2.1", spf.SoftFail},
		{"v=spf10 -all", "192.0.2.1", spf.None},
		{"v=spf1\t-all", "192.0.2.1", spf.None},
		{" v=spf1 -all", "192.0.2.1", spf.None},
		{"v=spf1 ip4:192.0.2.0/24 -all", "192.0.2.1", spf.Pass},
		{"v=spf1 ip4:192.0.2.0/24 -all", "192.0.3.1", spf.Fail},
		{"v=spf1 ip4:192.0.2.0/0 -all", "198.51.100.1", spf.Pass},
		{"v=spf1 ip4:192.0.2.1 -all", "::ffff:192.0.2.1", spf.Pass},
		{"v=spf1 ip6:2001:db8::/32 -all", "2001:db8::9", spf.Pass},
		{"v=spf1 ip6:::ffff:192.0.2.1 -all", "192.0.2.1", spf.Fail},
		{"v=spf1 ip4:0.0.0.0/0 -all", "2001:db8::9", spf.Fail},
		{"v=spf1 a -all", "192.0.2.1", spf.Pass},
		{"v=spf1 a//64 -all", "2001:db8::9", spf.Pass},
		{"v=spf1 a/24 -all", "2001:db8::9", spf.Fail},
		{"v=spf1 A:SIX.example/24//64 -all", "198.51.100.200", spf.Pass},
		{"v=spf1 mx -all", "192.0.2.2", spf.Pass},
		{"v=spf1 mx:null.example -all", "192.0.2.2", spf.Fail},
		{"v=spf1 mx:eleven.example ?all", "192.0.2.2", spf.PermError},
		{"v=spf1 ptr -all", "192.0.2.1", spf.Pass},
		{"v=spf1 ptr:bank.example -all", "192.0.2.1", spf.Fail},
		{"v=spf1 ptr:hop.example -all", "192.0.2.1", spf.Fail},
		{"v=spf1 include:pass.example -all", "192.0.2.1", spf.Pass},
		{"v=spf1 ?include:pass.example -all", "192.0.2.1", spf.Neutral},
		{"v=spf1 include:fail.example ~all", "192.0.2.1", spf.SoftFail},
		{"v=spf1 include:neutral.example ~all", "192.0.2.1", spf.SoftFail},
		{"v=spf1 include:none.example +all", "192.0.2.1", spf.PermError},
		{"v=spf1 include:two.example +all", "192.0.2.1", spf.PermError},
		{"v=spf1 include:bad.example +all", "192.0.2.1", spf.PermError},
		{"v=spf1 include:temp.example +all", "192.0.2.1", spf.TempError},
		{"v=spf1 include:loop.example -all", "192.0.2.1", spf.PermError},
		{"v=spf1 a:temp.example +all", "192.0.2.1", spf.TempError},
		{"v=spf1 mx:temp.example +all", "192.0.2.1", spf.TempError},
		{"v=spf1 redirect=pass.example", "192.0.2.1", spf.Pass},
		{"v=spf1 redirect=pass.example -all", "192.0.2.1", spf.Fail},
		{"v=spf1 redirect=none.example", "192.0.2.1", spf.PermError},
		{"v=spf1 redirect=missing.example", "192.0.2.1", spf.PermError},
		{"v=spf1 exp=explain.%{d} future=%{d}/%{ir} unknown-1.x=anything:at/all -all", "192.0.2.1", spf.Fail},
		{"v=spf1 unknown= -all", "192.0.2.1", spf.Fail},
		{"v=spf1 a:1.none.example a:2.none.example ip4:192.0.2.1 -all", "192.0.2.1", spf.Pass},
		{"v=spf1 a:1.none.example exists:2.none.example mx:3.none.example +all", "192.0.2.1", spf.PermError},
		{"v=spf1 " + strings.Repeat("a:six.example ", 10) + "+all", "192.0.2.1", spf.Pass},
		{"v=spf1 " + strings.Repeat("a:six.example ", 11) + "+all", "192.0.2.1", spf.PermError},
	} {
		if got := ask(z, tt.record, tt.ip); got != tt.want {
			t.Errorf("Check of %q for %s is %s, want %s", tt.record, tt.ip, got, tt.want)
		}
	}
}

// recording is a zone in which every name has an address, and which remembers the last name that was looked up.
type recording struct {
	zone
	host *string
}

func (r recording) LookupNetIP(ctx context.Context, network, name string) ([]netip.Addr, error) {
	if addrs, err := r.zone.LookupNetIP(ctx, network, name); err == nil {
		return addrs, nil // of a name in the reverse zone
	}
	*r.host = name
	return []netip.Addr{netip.MustParseAddr("127.0.0.2")}, nil
}

func TestMacros(t *testing.T) {
	for _, tt := range []struct{ spec, local, ip, want string }{
		{"%{s}", "ann", "192.0.2.1", "ann@shop.example"},
		{"%{l}._l.example", "n+1", "192.0.2.1", "n+1._l.example"},
		{"%{l}._l.example", "b-a=c", "192.0.2.1", "b-a=c._l.example"},
		{"%{L}._l.example", "a b/c~d", "192.0.2.1", "a%20b%2Fc~d._l.example"},
		{"%{l-}.example", "strong-bad", "192.0.2.1", "strong.bad.example"},
		{"%{lr-}.example", "strong-bad", "192.0.2.1", "bad.strong.example"},
		{"%{l1r-}.example", "strong-bad", "192.0.2.1", "strong.example"},
		{"%{l+/=}.example", "a+b/c=d", "192.0.2.1", "a.b.c.d.example"},
		{"%{o}", "ann", "192.0.2.1", "shop.example"},
		{"%{d}", "ann", "192.0.2.1", "shop.example"},
		{"%{d1}.example", "ann", "192.0.2.1", "example.example"},
		{"%{d2}", "ann", "192.0.2.1", "shop.example"},
		{"%{d99}", "ann", "192.0.2.1", "shop.example"},
		{"%{dr}", "ann", "192.0.2.1", "example.shop"},
		{"%{DR}", "ann", "192.0.2.1", "example.shop"},
		{"%{ir}.%{v}.example", "ann", "192.0.2.1", "1.2.0.192.in-addr.example"},
		{"%{ir}.%{v}.example", "ann", "2001:db8::1", "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.example"},
		{"%{h}", "ann", "192.0.2.1", "mx.shop.example"},
		{"%{p}", "ann", "192.0.2.1", "host.shop.example"},
		{"%{p}.example", "ann", "192.0.2.9", "unknown.example"},
		{"a%%b%_c%-d.example", "ann", "192.0.2.1", "a%b c%20d.example"},
		{"%{d}.example.", "ann", "192.0.2.1", "shop.example.example"},
		{"%{l}.shop.example", strings.Repeat("0123456789.", 30) + "x", "192.0.2.1", strings.Repeat("0123456789.", 21) + "x.shop.example"},
	} {
		z, host := zone{"PTR 192.0.2.1": {"other.example.", "host.shop.example."}, "A host.shop.example": {"192.0.2.1"}, "A other.example": {"192.0.2.1"}}, ""
		z["TXT shop.example"] = []string{"v=spf1 exists:" + tt.spec + " -all"}
		q := spf.Query{IP: netip.MustParseAddr(tt.ip), Helo: "mx.shop.example", Local: tt.local, Domain: "shop.example"}
		got := spf.Check(t.Context(), recording{z, &host}, q)
		if tt.spec == "%{p}" && host == "" {
			host = "host.shop.example" // it is in the zone
		}
		if got != spf.Pass || host != tt.want {
			t.Errorf("Check of %q looks up %q with the result %s, want %q with pass", z["TXT shop.example"][0], host, got, tt.want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("v=spf1 a:%{l1r-}.%{d}/24//64 include:%{h} redirect=%{ir}.%{v}.example", "n+1")
	f.Add("v=spf1 exists:%{p}.%%%_%-.example exp=%{S}.example ip6:::/0 -all", "@")
	f.Fuzz(func(t *testing.T, record, local string) {
		z := zone{"TXT shop.example": {record}, "PTR 192.0.2.1": {"host.shop.example."}}
		got := spf.Check(t.Context(), z, spf.Query{IP: netip.MustParseAddr("192.0.2.1"), Helo: local, Local: local, Domain: "shop.example"})
		switch got {
		case spf.None, spf.Neutral, spf.Pass, spf.Fail, spf.SoftFail, spf.PermError, spf.TempError:
		default:
			t.Errorf("Check with the record %q for %q = %q, want a result of RFC 7208", record, local, got)
		}
	})
}
