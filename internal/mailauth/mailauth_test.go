package mailauth_test

import (
	"bytes"
	"context"
	"crypto"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emersion/go-msgauth/authres"
	"github.com/emersion/go-msgauth/dkim"

	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailauth/dkim/dkimtest"
)

const mail = "From: Shop <shop@shop.example>\r\nTo: quiet-otter@gonebox.localhost\r\nSubject: Your code\r\n\r\n482913\r\n"

var client = netip.MustParseAddr("192.0.2.1")

func TestSPF(t *testing.T) {
	dns := serve(t,
		txt("pass.example", "v=spf1 ip4:192.0.2.0/24 -all"),
		txt("fail.example", "v=spf1 -all"),
		txt("soft.example", "v=spf1 ~all"),
		txt("neutral.example", "v=spf1 ?all"),
		txt("other.example", "not about mail"),
		txt("two.example", "v=spf1 -all"), txt("two.example", "v=spf1 +all"),
		txt("bad.example", "v=spf1 nonsense -all"),
		txt("include.example", "v=spf1 include:pass.example -all"),
		txt("a.example", "v=spf1 a -all"), "a.example. 300 IN A 192.0.2.1",
		txt("mx.example", "v=spf1 mx -all"), "mx.example. 300 IN MX 10 a.example.",
		txt("macro.example", "v=spf1 exists:%{l}.%{d} -all"), "x.macro.example. 300 IN A 127.0.0.1",
		txt("long.example", "v=spf1"+strings.Repeat(" include:fail.example", 11)+" +all"),
		txt("void.example", "v=spf1 a:1.none.example a:2.none.example a:3.none.example +all"),
		txt("temp.example", "v=spf1 include:servfail.example +all"),
		txt("helo.example", "v=spf1 ip4:192.0.2.1 -all"),
		txt("error.example", "v=spf1 ip4:192.0.2.1 oops -all"),
		txt("xn--bcher-kva.example", "v=spf1 ip4:192.0.2.1 -all"),
	)
	c := mailauth.New(dns, "mx.gonebox.localhost", budget)
	tests := []struct {
		mailFrom, helo string
		want           mailauth.Verdict
	}{
		{"x@pass.example", "", mailauth.Pass},
		{"x@PASS.Example.", "", mailauth.Pass},
		{"x@fail.example", "", mailauth.Fail},
		{"x@soft.example", "", mailauth.SoftFail},
		{"x@neutral.example", "", mailauth.Neutral},
		{"x@other.example", "", mailauth.None},
		{"x@missing.example", "", mailauth.None},
		{"x@two.example", "", mailauth.PermError},
		{"x@bad.example", "", mailauth.PermError},
		{"x@error.example", "", mailauth.PermError},
		{"x@include.example", "", mailauth.Pass},
		{"x@a.example", "", mailauth.Pass},
		{"x@mx.example", "", mailauth.Pass},
		{"x@macro.example", "", mailauth.Pass},
		{"y@macro.example", "", mailauth.Fail},
		{`"x"@macro.example`, "", mailauth.Pass},
		{`"\x"@macro.example`, "", mailauth.Pass},
		{"x@long.example", "", mailauth.PermError},
		{"x@void.example", "", mailauth.PermError},
		{"x@temp.example", "", mailauth.TempError},
		{"x@servfail.example", "", mailauth.TempError},
		{"x@bücher.example", "", mailauth.Pass},
		{`"a@fail.example"@pass.example`, "", mailauth.Pass},
		{`"a@pass.example"@fail.example`, "", mailauth.Fail},
		{"", "helo.example", mailauth.Pass},
		{"", "fail.example", mailauth.Fail},
		{"", "[192.0.2.1]", mailauth.None},
		{"", "localhost", mailauth.None},
		{"", "", mailauth.None},
		{"x@fail.example", "helo.example", mailauth.Fail},
		{"x@[192.0.2.1]", "", mailauth.None},
		{"x@single", "", mailauth.None},
		{"x@a..b", "", mailauth.None},
		{"x", "", mailauth.None},
		{"x@gonebox.localhost", "", mailauth.None},
	}
	for _, tt := range tests {
		t.Run(tt.mailFrom+" "+tt.helo, func(t *testing.T) {
			for _, when := range [...]string{"asked", "remembered"} {
				got := c.Check(t.Context(), mailauth.Input{RemoteIP: client, Helo: tt.helo, MailFrom: tt.mailFrom, Raw: []byte(mail)})
				if got.SPF != tt.want {
					t.Errorf("%s: SPF is %s, want %s", when, got.SPF, tt.want)
				}
			}
		})
	}
	mapped := mailauth.Input{RemoteIP: netip.MustParseAddr("::ffff:192.0.2.1"), MailFrom: "x@pass.example"}
	if got := c.Check(t.Context(), mapped); got.SPF != mailauth.Pass {
		t.Errorf("an IPv4 address in IPv6 clothes: %s, want SPF %v", got.SPF, mailauth.Pass)
	}
	if got := c.Check(t.Context(), mailauth.Input{MailFrom: "x@pass.example"}); got.SPF != mailauth.None {
		t.Errorf("no address: %s, want SPF %v", got.SPF, mailauth.None)
	}
}

// signer makes signatures and the records that verify them.
type signer struct {
	key    crypto.Signer
	record string
}

func newSigner(t testing.TB) signer {
	t.Helper()
	key := dkimtest.NewEd25519(t)
	return signer{key.Signer, "v=DKIM1; k=ed25519; p=" + key.Public}
}

func newRSASigner(t testing.TB, bits int) signer {
	t.Helper()
	key := dkimtest.NewRSA(t, bits)
	return signer{key.Signer, "v=DKIM1; k=rsa; p=" + key.Public}
}

func (s signer) sign(t testing.TB, raw, domain, selector string, change ...func(*dkim.SignOptions)) string {
	t.Helper()
	o := &dkim.SignOptions{
		Domain: domain, Selector: selector, Signer: s.key,
		HeaderCanonicalization: dkim.CanonicalizationRelaxed, BodyCanonicalization: dkim.CanonicalizationRelaxed,
	}
	for _, f := range change {
		f(o)
	}
	var out bytes.Buffer
	if err := dkim.Sign(&out, strings.NewReader(raw), o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestDKIM(t *testing.T) {
	ed, rsa2048 := newSigner(t), newRSASigner(t, 2048)
	dns := serve(t,
		txt("ed._domainkey.shop.example", ed.record),
		txt("rsa._domainkey.shop.example", rsa2048.record),
		txt("ed._domainkey.list.example", ed.record),
		txt("other._domainkey.shop.example", newSigner(t).record),
		txt("revoked._domainkey.shop.example", "v=DKIM1; p="),
		txt("huge._domainkey.shop.example", ed.record+"; n="+strings.Repeat("x", 3000)),
	)
	c := mailauth.New(dns, "mx.gonebox.localhost", budget)
	good := ed.sign(t, mail, "shop.example", "ed")
	expired := func(o *dkim.SignOptions) { o.Expiration = time.Unix(1_000_000_000, 0) }
	tests := []struct {
		name, raw string
		want      mailauth.Verdict
	}{
		{"none", mail, mailauth.None},
		{"no header", "\r\nDKIM-Signature: v=1\r\n", mailauth.None},
		{"ed25519", good, mailauth.Pass},
		{"rsa", rsa2048.sign(t, mail, "shop.example", "rsa"), mailauth.Pass},
		{"body changed", strings.Replace(good, "482913", "482914", 1), mailauth.Fail},
		{"subject changed", strings.Replace(good, "Your code", "Our code", 1), mailauth.Fail},
		{"another key", ed.sign(t, mail, "shop.example", "other"), mailauth.Fail},
		{"no key", ed.sign(t, mail, "shop.example", "missing"), mailauth.PermError},
		{"key revoked", ed.sign(t, mail, "shop.example", "revoked"), mailauth.PermError},
		{"key too long", ed.sign(t, mail, "shop.example", "huge"), mailauth.PermError},
		{"key not to be had now", ed.sign(t, mail, "servfail.example", "ed"), mailauth.TempError},
		{"key nowhere", ed.sign(t, mail, "gonebox.localhost", "ed"), mailauth.PermError},
		{"expired", ed.sign(t, mail, "shop.example", "ed", expired), mailauth.PermError},
		{"not a signature", "DKIM-Signature: gibberish\r\n" + mail, mailauth.PermError},
		{"odd case and space", strings.Replace(good, "DKIM-Signature:", "dkim-signature :", 1), mailauth.Pass},
		{"one of two good", ed.sign(t, good, "list.example", "missing"), mailauth.Pass},
		{"five bad before the good", strings.Repeat("DKIM-Signature: v=1; a=rsa-sha256; d=shop.example; s=missing; h=from; bh=eA==; b=eA==\r\n", 5) + good, mailauth.PermError},
		{"five malformed before the good", strings.Repeat("DKIM-Signature: v=1\r\n", 5) + good, mailauth.Pass},
		{"too many fields", strings.Repeat("X-Filler: x\r\n", 2000) + good, mailauth.PermError},
		{"too long a signature", "DKIM-Signature: v=1; h=" + strings.Repeat("from:", 4000) + "\r\n" + mail, mailauth.PermError},
		{"header without end", "DKIM-Signature: v=1", mailauth.PermError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := c.Check(t.Context(), mailauth.Input{RemoteIP: client, Raw: []byte(tt.raw)})
			if got.DKIM != tt.want {
				t.Errorf("DKIM is %s by the signatures %v, want %s", got.DKIM, got.Signatures, tt.want)
			}
			if len(got.Signatures) > 5 {
				t.Errorf("%d signatures were looked at, want at most 5", len(got.Signatures))
			}
		})
	}
}

func TestDMARC(t *testing.T) {
	s := newSigner(t)
	lines := []string{
		txt("_dmarc.strict.example", "v=DMARC1; p=reject; adkim=s; aspf=s"),
		txt("_dmarc.relaxed.example", "v=DMARC1;p=none"),
		txt("_dmarc.upper.example", "v=DMARC1 ; P=REJECT; RUA=mailto:X@upper.example"),
		txt("_dmarc.bad.example", "v=DMARC1; p=perhaps"),
		txt("_dmarc.nopolicy.example", "v=DMARC1"),
		txt("_dmarc.two.example", "v=DMARC1; p=none"), txt("_dmarc.two.example", "v=DMARC1; p=reject"),
		txt("_dmarc.noise.example", "hello"), txt("_dmarc.noise.example", "v=DMARC1; p=none"),
		txt("_dmarc.other.example", "v=DMARC2; p=none"),
		txt("_dmarc.own.relaxed.example", "v=DMARC1; p=none; aspf=s"),
		txt("_dmarc.co.uk", "v=DMARC1; p=none"),
		txt("servfail.relaxed.example", "unused"),
	}
	for _, d := range []string{
		"strict.example", "mail.strict.example", "relaxed.example", "mail.relaxed.example", "upper.example", "noise.example",
		"own.relaxed.example", "else.example",
	} {
		lines = append(lines, txt(d, "v=spf1 ip4:192.0.2.1 -all"), txt("s._domainkey."+d, s.record))
	}
	c := mailauth.New(serve(t, lines...), "mx.gonebox.localhost", budget)
	tests := []struct {
		name, from, mailFrom, signedBy string
		want                           mailauth.Verdict
	}{
		{"no record", "a@else.example", "a@else.example", "", mailauth.None},
		{"no From", "", "a@strict.example", "", mailauth.None},
		{"From of nowhere", "a@gonebox.localhost", "a@strict.example", "", mailauth.None},
		{"strict, SPF exact", "a@strict.example", "b@strict.example", "", mailauth.Pass},
		{"strict, SPF below", "a@strict.example", "b@mail.strict.example", "", mailauth.Fail},
		{"strict, DKIM exact", "a@strict.example", "b@else.example", "strict.example", mailauth.Pass},
		{"strict, DKIM below", "a@strict.example", "b@else.example", "mail.strict.example", mailauth.Fail},
		{"relaxed, SPF exact", "a@Relaxed.Example", "b@relaxed.example", "", mailauth.Pass},
		{"relaxed, SPF below", "a@relaxed.example", "b@mail.relaxed.example", "", mailauth.Pass},
		{"relaxed, SPF above", "a@mail.relaxed.example", "b@relaxed.example", "", mailauth.Pass},
		{"relaxed, SPF beside", "a@x.relaxed.example", "b@mail.relaxed.example", "", mailauth.Pass},
		{"relaxed, SPF of another", "a@relaxed.example", "b@else.example", "", mailauth.Fail},
		{"relaxed, DKIM below", "a@relaxed.example", "b@else.example", "mail.relaxed.example", mailauth.Pass},
		{"relaxed, DKIM of another", "a@relaxed.example", "b@else.example", "else.example", mailauth.Fail},
		{"neither", "a@relaxed.example", "", "", mailauth.Fail},
		{"own record before the organisation's", "a@own.relaxed.example", "b@mail.relaxed.example", "", mailauth.Fail},
		{"two labels below", "a@b.c.relaxed.example", "b@relaxed.example", "", mailauth.Pass},
		{"capitals", "a@upper.example", "a@upper.example", "", mailauth.Pass},
		{"bad policy", "a@bad.example", "a@bad.example", "", mailauth.PermError},
		{"no policy", "a@nopolicy.example", "a@nopolicy.example", "", mailauth.PermError},
		{"two records", "a@two.example", "a@two.example", "", mailauth.None},
		{"other records beside", "a@noise.example", "a@noise.example", "", mailauth.Pass},
		{"another version", "a@other.example", "a@other.example", "", mailauth.None},
		{"record not to be had now", "a@servfail.example", "a@else.example", "", mailauth.TempError},
		{"aligned SPF not to be had now", "a@relaxed.example", "a@servfail.relaxed.example", "", mailauth.TempError},
		{"unaligned SPF not to be had now", "a@relaxed.example", "a@servfail.example", "", mailauth.Fail},
		{"DKIM passes where SPF is not to be had", "a@relaxed.example", "a@servfail.relaxed.example", "relaxed.example", mailauth.Pass},
		{"a public suffix is no organisation", "a@shop.co.uk", "a@other.co.uk", "", mailauth.None},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := "From: <" + tt.from + ">\r\n\r\nx\r\n"
			if tt.signedBy != "" {
				raw = s.sign(t, raw, tt.signedBy, "s")
			}
			for _, when := range [...]string{"asked", "remembered"} {
				got := c.Check(t.Context(), mailauth.Input{RemoteIP: client, MailFrom: tt.mailFrom, HeaderFrom: tt.from, Raw: []byte(raw)})
				if got.DMARC != tt.want {
					t.Errorf("%s: DMARC is %s, want %s (%+v)", when, got.DMARC, tt.want, got)
				}
			}
		})
	}
}

func TestBudget(t *testing.T) {
	signed := newSigner(t).sign(t, mail, "shop.example", "s")
	in := mailauth.Input{RemoteIP: client, MailFrom: "x@shop.example", HeaderFrom: "x@shop.example", Raw: []byte(signed)}
	for _, deaf := range []bool{false, true} {
		t.Run(fmt.Sprintf("deaf %t", deaf), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m mute
				if deaf {
					m.deaf = make(chan struct{})
					defer close(m.deaf)
				}
				began := time.Now()
				got := mailauth.New(m, "mx.gonebox.localhost", 3*time.Second).Check(t.Context(), in)
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("took %v, want at most %v", took, 3*time.Second)
				}
				if got.SPF != mailauth.TempError || got.DKIM != mailauth.TempError || got.DMARC != mailauth.TempError {
					t.Errorf("got %+v, want temperror for all", got)
				}
			})
		})
	}
	t.Run("caller gone", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		got := mailauth.New(mute{}, "mx.gonebox.localhost", budget).Check(ctx, in)
		if got.SPF != mailauth.TempError || got.DKIM != mailauth.TempError || got.DMARC != mailauth.TempError {
			t.Errorf("got %+v, want temperror for all", got)
		}
	})
}

func TestNothingToLookUp(t *testing.T) {
	// A resolver that is nil would end the test if it were asked.
	c := mailauth.New(nil, "mx.gonebox.localhost", budget)
	got := c.Check(t.Context(), mailauth.Input{
		RemoteIP: client, MailFrom: "x@gonebox.localhost", HeaderFrom: "x@gonebox.localhost", Raw: []byte(mail),
	})
	if got.SPF != mailauth.None || got.DKIM != mailauth.None || got.DMARC != mailauth.None {
		t.Errorf("got %+v, want SPF %v, DKIM %v and DMARC %v", got, mailauth.None, mailauth.None, mailauth.None)
	}
}

// What the resolver knows is had without asking: in a context that has ended, and each thing once.
func TestWhatIsKnownIsNotAskedFor(t *testing.T) {
	var asked counting
	dns := known{"shop.example": {"v=spf1 ip4:192.0.2.1 -all"}, "_dmarc.shop.example": {"v=DMARC1; p=reject"}}
	c := mailauth.New(counted{dns, &asked}, "mx.gonebox.localhost", budget)
	got := c.Check(t.Context(), mailauth.Input{RemoteIP: client, MailFrom: "x@shop.example", HeaderFrom: "x@shop.example", Raw: []byte(mail)})
	if got.SPF != mailauth.Pass || got.DMARC != mailauth.Pass || asked != (counting{known: 2}) {
		t.Errorf("got %+v, asked %+v, want SPF %v, DMARC %v and %v", got, asked, mailauth.Pass, mailauth.Pass, counting{known: 2})
	}
}

// What one mail was judged by is not to judge another that DNS would have judged differently.
func TestAVerdictIsRememberedOnlyAsLongAsItsRecordsAre(t *testing.T) {
	others := netip.MustParseAddr("198.51.100.1")
	dns := known{
		"shop.example": {"v=spf1 include:post.example -all"}, "post.example": {"v=spf1 ip4:192.0.2.0/24 ~all"},
		"macro.example": {"v=spf1 include:%{l}.macro.example -all"}, "x.macro.example": {"v=spf1 +all"}, "y.macro.example": {"v=spf1 -all"},
		"helo.example": {"v=spf1 redirect=%{h}"},
	}
	c := mailauth.New(dns, "mx.gonebox.localhost", budget)
	check := func(ip netip.Addr, helo, from string, want mailauth.Verdict) {
		t.Helper()
		for _, when := range [...]string{"first", "again"} {
			if got := c.Check(t.Context(), mailauth.Input{RemoteIP: ip, Helo: helo, MailFrom: from, Raw: []byte(mail)}); got.SPF != want {
				t.Errorf("%s, %s from %s: %s, want %s", when, from, ip, got.SPF, want)
			}
		}
	}
	check(client, "", "x@shop.example", mailauth.Pass)
	check(others, "", "x@shop.example", mailauth.Fail)
	check(client, "", "x@macro.example", mailauth.Pass)
	check(client, "", "y@macro.example", mailauth.Fail)
	check(client, "x.macro.example", "x@helo.example", mailauth.Pass)
	check(client, "y.macro.example", "x@helo.example", mailauth.Fail)

	dns["post.example"] = []string{"v=spf1 ip4:198.51.100.0/24 ~all"} // the one that is included
	check(client, "", "x@shop.example", mailauth.Fail)
	check(others, "", "x@shop.example", mailauth.Pass)
	dns["shop.example"] = append(dns["shop.example"], "v=spf1 -all")
	check(others, "", "x@shop.example", mailauth.PermError)
	delete(dns, "shop.example")
	check(others, "", "x@shop.example", mailauth.None)
}

// Names that are not used again do not stay cached for long.
func TestVerdictsOfManyClientsAreRight(t *testing.T) {
	dns := known{"shop.example": {"v=spf1 ip4:192.0.2.0/24 -all"}}
	c := mailauth.New(dns, "mx.gonebox.localhost", budget)
	for i := range 3000 {
		want, ip := mailauth.Fail, netip.AddrFrom4([4]byte{198, 51, byte(i >> 8), byte(i)})
		if i%100 == 0 {
			want, ip = mailauth.Pass, client
		}
		if got := c.Check(t.Context(), mailauth.Input{RemoteIP: ip, MailFrom: "x@shop.example", Raw: []byte(mail)}); got.SPF != want {
			t.Fatalf("client %d: %s, want %s", i, got.SPF, want)
		}
	}
}

func TestHeader(t *testing.T) {
	c := mailauth.New(nil, "mx.gonebox.localhost", budget)
	tests := []struct {
		name string
		r    mailauth.Result
		want string
	}{
		{"all", mailauth.Result{
			SPF: mailauth.Pass, DKIM: mailauth.Pass, DMARC: mailauth.Pass, MailFrom: "shop+x@shop.example", FromDomain: "shop.example",
			Signatures: []mailauth.Signature{{Domain: "shop.example", Verdict: mailauth.Pass}, {Domain: "list.example", Verdict: mailauth.Fail}},
		}, "mx.gonebox.localhost; spf=pass smtp.mailfrom=shop+x@shop.example; dkim=pass header.d=shop.example;" +
			" dkim=fail header.d=list.example; dmarc=pass header.from=shop.example"},
		{
			"null reverse-path",
			mailauth.Result{SPF: mailauth.None, DKIM: mailauth.None, DMARC: mailauth.None, Helo: "[192.0.2.1]"},
			`mx.gonebox.localhost; spf=none smtp.helo="[192.0.2.1]"; dkim=none; dmarc=none`,
		},
		{"hostile", mailauth.Result{
			SPF: mailauth.Fail, DKIM: mailauth.None, DMARC: mailauth.Fail, MailFrom: "\"a\r\nX: \\y; spf=pass\"@evil.example",
		}, "mx.gonebox.localhost; spf=fail smtp.mailfrom=evil.example; dkim=none; dmarc=fail"},
		{"a signature with all properties", mailauth.Result{
			SPF: mailauth.None, DKIM: mailauth.Pass, DMARC: mailauth.None, Helo: "mx.shop.example",
			Signatures: []mailauth.Signature{{Domain: "shop.example", Selector: "s1", Algorithm: "rsa-sha256", Verdict: mailauth.Pass}, {Verdict: mailauth.PermError}},
		}, "mx.gonebox.localhost; spf=none smtp.helo=mx.shop.example; dkim=pass header.a=rsa-sha256 header.d=shop.example header.s=s1; dkim=permerror; dmarc=none"},
		{"a name in EHLO that reads like a result", mailauth.Result{Helo: "dmarc=pass"}, "mx.gonebox.localhost; spf=; dkim=; dmarc="},
		{"a domain with U-labels", mailauth.Result{MailFrom: "ü@bücher.example"}, "mx.gonebox.localhost; spf= smtp.mailfrom=xn--bcher-kva.example; dkim=; dmarc="},
		{"an address literal", mailauth.Result{MailFrom: "a=b@[IPv6:2001:db8::1]"}, `mx.gonebox.localhost; spf= smtp.mailfrom="[IPv6:2001:db8::1]"; dkim=; dmarc=`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := c.Header(tt.r)
			if unfolded := strings.ReplaceAll(got, "\r\n\t", " "); unfolded != tt.want {
				t.Errorf("the field is\n%q\nwant\n%q", unfolded, tt.want)
			}
		})
	}
	id, results, err := authres.Parse(strings.ReplaceAll(c.Header(tests[0].r), "\r\n\t", " "))
	if err != nil || id != "mx.gonebox.localhost" || len(results) != 4 {
		t.Errorf("another reader of the field finds %q, %v, %v, want mx.gonebox.localhost and 4 results", id, results, err)
	}
}

// results finds what a reader that does not parse the field could take for a result.
var results = regexp.MustCompile(`(?i)(spf|dkim|dmarc)\s*=\s*[a-z]+`)

// Whatever a sender says, the field has the results of this server and no other, even for a reader that only searches it.
func FuzzHeader(f *testing.F) {
	f.Add("a@b.example", "h", "d.example")
	f.Add("\"\r\n\r\n", "", "\\")
	f.Add(strings.Repeat("é", 400), "\x00", "\x80")
	f.Add("dmarc=pass@evil.example", "dmarc=pass", "x dkim=pass")
	f.Add("\"dkim=pass header.d=bank.example \"@evil.example", "[dkim=pass]", "a;dmarc=pass")
	f.Add("\"\u2028Authentication-Results: mx; dmarc=pass\"@evil.example", "dmarc =pass", "dmarc=(x)pass")
	c := mailauth.New(nil, "mx.gonebox.localhost", budget)
	f.Fuzz(func(t *testing.T, mailFrom, helo, d string) {
		none := mailauth.None
		r := mailauth.Result{SPF: none, DKIM: none, DMARC: none, MailFrom: mailFrom, Helo: helo, FromDomain: d}
		r.Signatures = []mailauth.Signature{{Domain: d, Selector: helo, Algorithm: d, Verdict: none}}
		got := c.Header(r)
		for i, line := range strings.Split(got, "\r\n\t") {
			if strings.ContainsAny(line, "\r\n\x00\u0085\u2028\u2029") || len(line) > 998 {
				t.Errorf("Header(%+v): line %d is %q, want at most 998 octets and no line end in it", r, i, line)
			}
		}
		if found := results.FindAllString(got, -1); !slices.Equal(found, []string{"spf=none", "dkim=none", "dmarc=none"}) {
			t.Errorf("Header(%+v) is %q, in which a search finds %q, want %v", r, got, found, []string{"spf=none", "dkim=none", "dmarc=none"})
		}
	})
}

func FuzzCheck(f *testing.F) {
	s := newSigner(f)
	f.Add([]byte(s.sign(f, mail, "shop.example", "s")), "x@shop.example", "x@shop.example", "helo")
	f.Add([]byte("DKIM-Signature: v=1; a=; b=; bh=; d=x.example; h=from; s=s\r\n\r\n"), "@", `"@"@x`, "[::]")
	c := mailauth.New(known{
		"s._domainkey.shop.example": {s.record}, "shop.example": {"v=spf1 a:%{i}.%{l}.%{h} ?all"}, "_dmarc.shop.example": {"v=DMARC1; p=none"},
	}, "mx.gonebox.localhost", budget)
	f.Fuzz(func(t *testing.T, raw []byte, mailFrom, from, helo string) {
		got := c.Check(t.Context(), mailauth.Input{RemoteIP: client, Helo: helo, MailFrom: mailFrom, HeaderFrom: from, Raw: raw})
		for _, v := range []mailauth.Verdict{got.SPF, got.DKIM, got.DMARC} {
			if v == "" || v == mailauth.TempError {
				t.Errorf("Check = %+v, want a verdict of each kind, and none for lack of time", got)
			}
		}
	})
}

func BenchmarkNothingToLookUp(b *testing.B) {
	c := mailauth.New(nil, "mx.gonebox.localhost", 3*time.Second)
	in := mailauth.Input{RemoteIP: client, MailFrom: "x@gonebox.localhost", HeaderFrom: "x@gonebox.localhost", Raw: []byte(mail)}
	for b.Loop() {
		c.Check(b.Context(), in)
	}
}

func BenchmarkRemembered(b *testing.B) {
	c := mailauth.New(known{
		"shop.example":        {"v=spf1 include:_spf.post.example ip4:198.51.100.0/24 -all"},
		"_spf.post.example":   {"v=spf1 ip4:203.0.113.0/24 ip4:198.51.100.7 ip4:192.0.2.0/24 ~all"},
		"_dmarc.shop.example": {"v=DMARC1; p=quarantine; rua=mailto:d@shop.example"},
	}, "mx.gonebox.localhost", 3*time.Second)
	in := mailauth.Input{RemoteIP: client, MailFrom: "x@shop.example", HeaderFrom: "x@shop.example", Raw: []byte(mail)}
	for b.Loop() {
		c.Check(b.Context(), in)
	}
}
