package mailauth_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emersion/go-msgauth/dkim"

	"github.com/gonebox/gonebox/internal/mailauth"
)

// silent is a resolver in which some names never answer.
type silent struct {
	known
	names []string
}

func (s silent) LookupTXT(ctx context.Context, name string) ([]string, error) {
	if slices.Contains(s.names, name) {
		<-ctx.Done()
		return nil, &net.DNSError{Err: "timeout", Name: name, IsTimeout: true, IsTemporary: true}
	}
	return s.known.LookupTXT(ctx, name)
}

// sendersZone has domains with different policies, all of which sign with the selector s, and a relay that may send for
// all that say so.
func sendersZone(record string) known {
	z := known{
		"_dmarc.bank.example": {"v=DMARC1; p=reject"}, "_dmarc.strict.example": {"v=DMARC1; p=reject; adkim=s; aspf=s"},
		"_dmarc.two.example": {"v=DMARC1; p=none", "v=DMARC1; p=reject"}, "_dmarc.broken.example": {"v=DMARC1; p=maybe"},
		"_dmarc.shop.co.uk": {"v=DMARC1; p=none"}, "relay.bank.example": {"v=spf1 ip4:192.0.2.1 -all"},
	}
	for _, d := range []string{
		"bank.example", "mail.bank.example", "strict.example", "plain.example", "news.plain.example", "two.example", "broken.example", "co.uk", "shop.co.uk",
		"other.co.uk", "github.io", "me.github.io", "evil.example", "xn--bcher-kva.example", "com",
	} {
		z["s._domainkey."+d] = []string{record}
	}
	for _, d := range []string{"plain.example", "news.plain.example", "strict.example", "mail.strict.example", "bank.example", "evil.example", "github.io", "me.github.io"} {
		z[d] = []string{"v=spf1 ip4:192.0.2.1 -all"}
	}
	return z
}

func TestVerified(t *testing.T) {
	s := newSigner(t)
	c := mailauth.New(sendersZone(s.record), "mx.gonebox.localhost", budget)
	for _, tt := range []struct {
		name, from, mailFrom, helo, signedBy string
		want                                 bool
	}{
		{"DMARC by DKIM", "a@bank.example", "", "", "bank.example", true},
		{"DMARC by SPF", "a@bank.example", "a@bank.example", "", "", true},
		{"DMARC by SPF of the name in HELO", "a@bank.example", "", "relay.bank.example", "", true},
		{"DMARC by DKIM of a subdomain", "a@bank.example", "", "", "mail.bank.example", true},
		{"DMARC for a subdomain", "a@deep.mail.bank.example", "", "", "bank.example", true},
		{"domain in capitals", "a@BANK.Example", "", "", "bank.example", true},
		{"U-labels", "a@bücher.example", "", "", "xn--bcher-kva.example", true},
		{"nothing", "a@bank.example", "", "", "", false},
		{"another domain signs", "a@bank.example", "x@evil.example", "", "evil.example", false},
		{"strict DKIM, the domain signs", "a@strict.example", "", "", "strict.example", true},
		{"strict DKIM, the parent signs", "a@sub.strict.example", "", "", "strict.example", false},
		{"strict SPF, a subdomain sends", "a@strict.example", "x@mail.strict.example", "", "", false},
		{"no record, DKIM", "a@plain.example", "", "", "plain.example", true},
		{"no record, DKIM of a subdomain", "a@plain.example", "", "", "news.plain.example", true},
		{"no record, DKIM of the parent", "a@news.plain.example", "", "", "plain.example", true},
		{"no record, SPF", "a@plain.example", "b@news.plain.example", "", "", true},
		{"no record, SPF of another", "a@plain.example", "b@evil.example", "", "", false},
		{"no record, DKIM of another", "a@plain.example", "", "", "evil.example", false},
		{"a public suffix signs", "a@shop.co.uk", "", "", "co.uk", false},
		{"a neighbour below a public suffix signs", "a@shop.co.uk", "", "", "other.co.uk", false},
		{"a private suffix signs, no record", "a@me.github.io", "", "", "github.io", false},
		{"a private suffix sends, no record", "a@me.github.io", "x@github.io", "", "", false},
		{"a customer of a private suffix signs", "a@me.github.io", "", "", "me.github.io", true},
		{"two records", "a@two.example", "", "", "two.example", false},
		{"a record that is none", "a@broken.example", "", "", "broken.example", false},
		{"no From", "", "a@bank.example", "", "bank.example", false},
		{"a name that ends alike", "a@notbank.example", "a@bank.example", "", "bank.example", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw := "From: <" + tt.from + ">\r\n\r\nx\r\n"
			if tt.signedBy != "" {
				raw = s.sign(t, raw, tt.signedBy, "s")
			}
			in := mailauth.Input{RemoteIP: client, Helo: tt.helo, MailFrom: tt.mailFrom, HeaderFrom: tt.from, Raw: []byte(raw)}
			if got := c.Check(t.Context(), in); got.Verified != tt.want {
				t.Errorf("Check of a mail from %q, MAIL FROM %q, HELO %q, signed by %q: Verified is %t, want %t; the result is %+v", tt.from, tt.mailFrom, tt.helo, tt.signedBy, got.Verified, tt.want, got)
			}
		})
	}
}

// A second From on top of a signed mail leaves the signature intact, unless its signer was careful.
func TestSecondFromIsNotVerified(t *testing.T) {
	s := newSigner(t)
	c := mailauth.New(sendersZone(s.record), "mx.gonebox.localhost", budget)
	signed := s.sign(t, "From: <a@bank.example>\r\nSubject: s\r\n\r\nx\r\n", "bank.example", "s", func(o *dkim.SignOptions) { o.HeaderKeys = []string{"From", "Subject"} })
	for _, first := range []string{"From: Bank <security@bank.example>\r\n", "from : x\r\n", "FROM:\r\n a@bank.example\r\n"} {
		in := mailauth.Input{RemoteIP: client, MailFrom: "a@bank.example", HeaderFrom: "security@bank.example", Raw: []byte(first + signed)}
		if got := c.Check(t.Context(), in); got.Verified || got.DKIM != mailauth.PermError || got.DMARC != mailauth.None || got.FromDomain != "" {
			t.Errorf("Check of a mail with %q on top of a signed one is %+v, want it not verified", first, got)
		}
	}
}

// A line that is no field ends the header for many readers, and they show it and what follows as the text of the mail,
// though no signature covers it.
func TestTextInTheHeaderIsNotVerified(t *testing.T) {
	s := newSigner(t)
	c := mailauth.New(sendersZone(s.record), "mx.gonebox.localhost", budget)
	header, body, _ := strings.Cut(s.sign(t, "From: <a@bank.example>\r\nSubject: s\r\n\r\nx\r\n", "bank.example", "s"), "\r\n\r\n")
	for lines, want := range map[string]bool{
		"Your code is 999999":                false,
		"Your code: 999999":                  false,
		"https://evil.example/":              false,
		"https ://evil.example/":             false,
		"\r\r\nX: y":                         false,
		"\x00: y":                            false,
		"\u00e9: y":                          false,
		": y":                                false,
		"Text\r\n : y":                       false,
		"From a Thu Jan  1 00:00:00 2026":    false,
		strings.Repeat("x", 257) + ": y":     false,
		"Your code is 999999\r\nX-Mailer: y": false,
		"X-Mailer: y":                        true,
		"x :y":                               true,
		"X:":                                 true,
		"X: y\r\n Your code is 999999":       true,
		strings.Repeat("x", 256) + ":\r\n\tfolded: y": true,
	} {
		for _, raw := range []string{header + "\r\n" + lines + "\r\n\r\n" + body, lines + "\r\n" + header + "\r\n\r\n" + body} {
			if strings.HasPrefix(raw, "From a ") {
				continue // the line of the mbox format, which no reader shows
			}
			before, _, _ := strings.Cut(raw, lines)
			got := c.Check(t.Context(), mailauth.Input{RemoteIP: client, HeaderFrom: "a@bank.example", Raw: []byte(raw)})
			if got.Verified != want {
				t.Errorf("Check of a signed mail with %q in its header, after %q: Verified is %t, want %t", lines, before, got.Verified, want)
			}
		}
	}
	for _, line := range []string{"From a Thu Jan  1 00:00:00 2026\r\n", ">From a Thu Jan  1 00:00:00 2026\r\n"} {
		in := mailauth.Input{RemoteIP: client, HeaderFrom: "a@bank.example", Raw: []byte(line + header + "\r\n\r\n" + body)}
		if got := c.Check(t.Context(), in); !got.Verified {
			t.Errorf("Check of a signed mail behind %q is %+v, want it verified", line, got)
		}
	}
}

// The signatures that count are those of the author's domain, wherever they are.
func TestAlignedSignaturesComeFirst(t *testing.T) {
	s := newSigner(t)
	z := sendersZone(s.record)
	c := mailauth.New(z, "mx.gonebox.localhost", budget)
	raw := s.sign(t, "From: <a@bank.example>\r\n\r\nx\r\n", "bank.example", "s")
	for range 7 {
		raw = s.sign(t, raw, "evil.example", "s")
	}
	raw = strings.Repeat("DKIM-Signature: v=1; d=evil.example; b=\r\n", 20) + raw
	in := mailauth.Input{RemoteIP: client, HeaderFrom: "a@bank.example", Raw: []byte(raw)}
	if got := c.Check(t.Context(), in); !got.Verified || got.DMARC != mailauth.Pass || len(got.Signatures) != 5 {
		t.Errorf("Check of a mail whose aligned signature is the last of 28 is %+v, want it verified with 5 signatures", got)
	}
	// A strict policy wants the domain itself, of which a subdomain's signatures must not take the place.
	raw = s.sign(t, "From: <a@strict.example>\r\n\r\nx\r\n", "strict.example", "s")
	raw = strings.Repeat("DKIM-Signature: v=1; d=mail.strict.example; b=\r\n", 9) + raw
	in = mailauth.Input{RemoteIP: client, HeaderFrom: "a@strict.example", Raw: []byte(raw)}
	if got := c.Check(t.Context(), in); !got.Verified {
		t.Errorf("Check of a mail with nine signatures of a subdomain is %+v, want it verified", got)
	}
}

// What cannot be verified in the first place takes no place of what can.
func TestUnusableSignaturesComeLast(t *testing.T) {
	s := newSigner(t)
	c := mailauth.New(sendersZone(s.record), "mx.gonebox.localhost", budget)
	raw := s.sign(t, "From: <a@bank.example>\r\n\r\nx\r\n", "bank.example", "s")
	for _, tags := range []string{
		"v=1; a=rsa-sha1; c=relaxed; d=bank.example; s=s; h=from; bh=eA==; b=eA==",
		"v=1; a=rsa-sha256; d=bank.example; s=s; h=from; bh=eA==; b=eA==; x=1000",
		"v=1; a=rsa-sha256; d=bank.example; s=s; h=to; bh=eA==; b=eA==",
		"v=2; a=rsa-sha256; d=bank.example; s=s; h=from; bh=eA==; b=eA==",
		"d=bank.example",
	} {
		in := mailauth.Input{RemoteIP: client, HeaderFrom: "a@bank.example", ReceivedAt: time.Now(), Raw: []byte(strings.Repeat("DKIM-Signature: "+tags+"\r\n", 50) + raw)}
		got := c.Check(t.Context(), in)
		if !got.Verified || len(got.Signatures) != 5 || got.Signatures[4].Verdict != mailauth.Pass {
			t.Errorf("Check of a mail with 50 signatures %q on top of a good one is %+v, want it verified by the last of 5", tags, got)
		}
	}
}

func TestSilentKeyServer(t *testing.T) {
	s := newSigner(t)
	inner := s.sign(t, "From: <a@bank.example>\r\n\r\nx\r\n", "bank.example", "s")
	for _, tt := range []struct {
		name, raw, mailFrom string
		silent              []string
		verified            bool
		dkim, dmarc         mailauth.Verdict
		atMost              time.Duration
	}{
		{"a list's", s.sign(t, inner, "list.example", "s"), "", []string{"s._domainkey.list.example"}, true, mailauth.Pass, mailauth.Pass, time.Second},
		{
			"four lists'", s.sign(t, s.sign(t, s.sign(t, s.sign(t, inner, "a.example", "s"), "b.example", "s"), "c.example", "s"), "d.example", "s"), "",
			[]string{"s._domainkey.a.example", "s._domainkey.b.example", "s._domainkey.c.example", "s._domainkey.d.example"},
			true, mailauth.Pass, mailauth.Pass, time.Second,
		},
		{"another of the author's", s.sign(t, inner, "mail.bank.example", "t"), "", []string{"t._domainkey.mail.bank.example"}, true, mailauth.Pass, mailauth.Pass, time.Second},
		{"the author's own", s.sign(t, inner, "evil.example", "s"), "", []string{"s._domainkey.bank.example"}, false, mailauth.Pass, mailauth.TempError, 3 * time.Second},
		{"the author's own, where SPF proves the domain", inner, "a@bank.example", []string{"s._domainkey.bank.example"}, true, mailauth.TempError, mailauth.Pass, time.Second},
		{"a stranger's alone", s.sign(t, "From: <a@bank.example>\r\n\r\nx\r\n", "list.example", "s"), "", []string{"s._domainkey.list.example"}, false, mailauth.TempError, mailauth.Fail, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := mailauth.New(silent{sendersZone(s.record), tt.silent}, "mx.gonebox.localhost", 3*time.Second)
				began := time.Now()
				got := c.Check(t.Context(), mailauth.Input{RemoteIP: client, MailFrom: tt.mailFrom, HeaderFrom: "a@bank.example", Raw: []byte(tt.raw)})
				if took := time.Since(began); took > tt.atMost {
					t.Errorf("Check took %v, want at most %v", took, tt.atMost)
				}
				if got.Verified != tt.verified || got.DKIM != tt.dkim || got.DMARC != tt.dmarc {
					t.Errorf("Check is %+v, want verified %t, DKIM %s, DMARC %s", got, tt.verified, tt.dkim, tt.dmarc)
				}
			})
		})
	}
}

// What a record says wrongly has its default (RFC 7489 §6.3).
func TestPolicyRecordsWithSlips(t *testing.T) {
	s := newSigner(t)
	for _, tt := range []struct {
		record       string
		exact, below mailauth.Verdict // for a signature of the domain itself and one of a subdomain
	}{
		{"v=DMARC1; p=reject", mailauth.Pass, mailauth.Pass},
		{"v=DMARC1; p=reject;", mailauth.Pass, mailauth.Pass},
		{"v=DMARC1;;p=reject;;", mailauth.Pass, mailauth.Pass},
		{"v=DMARC1; p=reject; adkim=s", mailauth.Pass, mailauth.Fail},
		{"v=DMARC1; p=reject; ADKIM = S ", mailauth.Pass, mailauth.Fail},
		{"v=DMARC1; adkim=s; p=reject", mailauth.Pass, mailauth.Fail},
		{"v=DMARC1; p=reject; adkim=s; pct=100%; ri=1d; rf=iodef; fo=x; sp=; np=; psd=maybe", mailauth.Pass, mailauth.Fail},
		{"v=DMARC1; p=reject; adkim=strict", mailauth.Pass, mailauth.Pass},
		{"v=DMARC1; p=reject; adkim=", mailauth.Pass, mailauth.Pass},
		{"v=DMARC1; p=reject; adkim", mailauth.Pass, mailauth.Pass},
		{"v=DMARC1; p=reject; rua=mailto:x@bank.example,, ; this is the policy of our bank", mailauth.Pass, mailauth.Pass},
		{"v=DMARC1; p=reject; =x; ;=; p", mailauth.Pass, mailauth.Pass},
		{"v=DMARC1; p=reject pct=100", mailauth.PermError, mailauth.PermError},
		{"v=DMARC1; rua=mailto:x@bank.example", mailauth.Pass, mailauth.Pass},
		{"v=DMARC1; p=; rua=mailto:x@bank.example!10m", mailauth.Pass, mailauth.Pass},
		{"v=DMARC1; p=block; adkim=s; rua=bad, https://reports.example/x", mailauth.Pass, mailauth.Fail},
		{"v=DMARC1; p=block; rua=bad", mailauth.PermError, mailauth.PermError},
		{"v=DMARC1; p=block; rua=", mailauth.PermError, mailauth.PermError},
		{"v=DMARC1", mailauth.PermError, mailauth.PermError},
		{"v = DMARC1 ; p=none", mailauth.Pass, mailauth.Pass},
		{"V=DMARC1; p=none", mailauth.None, mailauth.None},
		{"v=dmarc1; p=none", mailauth.None, mailauth.None},
		{"p=none; v=DMARC1", mailauth.None, mailauth.None},
		{"v=DMARC1 p=none", mailauth.None, mailauth.None},
	} {
		z := sendersZone(s.record)
		z["_dmarc.bank.example"] = []string{tt.record}
		c := mailauth.New(z, "mx.gonebox.localhost", budget)
		for domain, want := range map[string]mailauth.Verdict{"bank.example": tt.exact, "mail.bank.example": tt.below} {
			raw := s.sign(t, "From: <a@bank.example>\r\n\r\nx\r\n", domain, "s")
			got := c.Check(t.Context(), mailauth.Input{RemoteIP: client, HeaderFrom: "a@bank.example", Raw: []byte(raw)})
			if got.DMARC != want {
				t.Errorf("Check of a mail signed by %s under %q: DMARC is %s, want %s", domain, tt.record, got.DMARC, want)
			}
		}
	}
}

// Whatever a record says, text behind it changes nothing.
func FuzzPolicyRecord(f *testing.F) {
	f.Add("v=DMARC1; p=reject; adkim=s", "text")
	f.Add("v=DMARC1; p=; rua=mailto:x@bank.example!10m,", "=;%=")
	f.Add("v=DMARC1;\x00p\t=\u00a0none; rua=http://[", "")
	s := newSigner(f)
	raw := []byte(s.sign(f, "From: <a@bank.example>\r\n\r\nx\r\n", "mail.bank.example", "s"))
	check := func(record string) mailauth.Verdict {
		z := sendersZone(s.record)
		z["_dmarc.bank.example"] = []string{record}
		return mailauth.New(z, "mx.gonebox.localhost", budget).Check(context.Background(), mailauth.Input{RemoteIP: client, HeaderFrom: "a@bank.example", Raw: raw}).DMARC
	}
	f.Fuzz(func(t *testing.T, record, behind string) {
		got := check(record)
		if !slices.Contains([]mailauth.Verdict{mailauth.Pass, mailauth.Fail, mailauth.None, mailauth.PermError}, got) {
			t.Errorf("Check under %q: DMARC is %s, want pass, fail, none or permerror", record, got)
		}
		if behind = strings.NewReplacer("=", "", ";", "").Replace(behind); strings.Contains(record, ";") {
			if again := check(record + "; " + behind); again != got {
				t.Errorf("Check under %q with %q behind it: DMARC is %s, want %s", record, behind, again, got)
			}
		}
	})
}

func TestExpiredSignature(t *testing.T) {
	s := newSigner(t)
	c := mailauth.New(sendersZone(s.record), "mx.gonebox.localhost", budget)
	at := time.Now().Add(time.Hour)
	raw := s.sign(t, "From: <a@bank.example>\r\n\r\nx\r\n", "bank.example", "s", func(o *dkim.SignOptions) { o.Expiration = at })
	for received, want := range map[time.Time]mailauth.Verdict{at.Add(-time.Minute): mailauth.Pass, at.Add(time.Minute): mailauth.PermError, {}: mailauth.Pass} {
		got := c.Check(t.Context(), mailauth.Input{RemoteIP: client, HeaderFrom: "a@bank.example", ReceivedAt: received, Raw: []byte(raw)})
		if got.DKIM != want || got.Verified != (want == mailauth.Pass) {
			t.Errorf("Check of a signature that ends at %v, received at %v, is %+v, want %s", at, received, got, want)
		}
	}
}
