package dkim_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/mailauth/dkim"
)

func TestValidSignatures(t *testing.T) {
	ed, rsa1024 := newSigner(t), newRSASigner(t, 1024)
	for _, tt := range []struct {
		name   string
		s      signer
		change []string
	}{
		{"Ed25519", ed, nil},
		{"RSA", rsa1024, nil},
		{"simple", ed, []string{"c=simple/simple"}},
		{"simple by default", ed, []string{"c="}},
		{"relaxed header alone", ed, []string{"c=relaxed"}},
		{"relaxed body alone", ed, []string{"c=simple/relaxed"}},
		{"a field signed that is missing", ed, []string{"h=from:from:to:cc:subject:subject:x-mark:x-mark:x-mark"}},
		{"names in other case and with blanks", ed, []string{"h=From : TO :\r\n\t X-Mark"}},
		{"i= in upper case", ed, []string{"i=@SHOP.Example"}},
		{"i= of a subdomain", ed, []string{"i=news@mail.shop.example"}},
		{"i= with an encoded local part", ed, []string{"i=bob=3D1=40x@shop.example"}},
		{"i= with an encoded at sign", ed, []string{"i=bob=40shop.example"}},
		{"d= in upper case", ed, []string{"d=SHOP.Example", "i=@shop.example"}},
		{"d= as U-label", ed, []string{"d=bücher.example"}},
		{"d= as U-label, i= as A-label", ed, []string{"d=bücher.example", "i=x@mail.xn--bcher-kva.example"}},
		{"a word that ends in b before an equals sign", ed, []string{"z=Subject:web=20shop|X:b=1"}},
		{"unknown tags", ed, []string{"xb=1", "b_b=b=2", "B=upper"}},
		{"b= in the middle", ed, []string{"b=x", "z=behind"}},
		{"l= that covers the body", ed, []string{"l=28"}},
		{"q=", ed, []string{"q=other:dns/txt"}},
		{"not expired", ed, []string{"t=1700000000", "x=99999999999999999999"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			field := tt.s.sign(t, header, body, tt.change...)
			if err := verify(field, tt.s.record, header, body); err != nil {
				t.Errorf("Verify of %q: %v", field, err)
			}
		})
	}
}

func TestBodies(t *testing.T) {
	s := newSigner(t)
	for _, c := range []string{"simple/simple", "relaxed/relaxed"} {
		for _, signed := range []string{"", "\r\n", "\r\n\r\n", "x", "x\r\n", "x\r\n\r\n", " \r\n", "\t \r\nx \t y\r\n \r\n", "\r\nx", "x\r", "a\rb\r\n"} {
			field := s.sign(t, header, signed, "c="+c)
			if err := verify(field, s.record, header, signed); err != nil {
				t.Errorf("%s: Verify of a message with the body %q: %v", c, signed, err)
			}
			if err := verify(field, s.record, header, signed+"more\r\n"); !errors.Is(err, dkim.ErrMismatch) {
				t.Errorf("%s: Verify of a message with a line behind the body %q: %v, want ErrMismatch", c, signed, err)
			}
			unix := strings.ReplaceAll(signed, "\r\n", "\n")
			if err := verify(field, s.record, header, unix); err != nil {
				t.Errorf("%s: Verify of a message with the body %q: %v", c, unix, err)
			}
		}
	}
}

func TestChangedMessages(t *testing.T) {
	s := newSigner(t)
	field := s.sign(t, header, body, "h=from:from:to:subject")
	other := newSigner(t)
	for name, err := range map[string]error{
		"body":              verify(field, s.record, header, strings.Replace(body, "482913", "482914", 1)),
		"subject":           verify(field, s.record, append(header[:2:2], "Subject: another\r\n", header[3], header[4]), body),
		"a second From":     verify(field, s.record, append([]string{"From: x@evil.example\r\n"}, header...), body),
		"signature field":   verify(strings.Replace(field, "s=sel", "s=oth", 1), s.record, header, body),
		"key":               verify(field, other.record, header, body),
		"more than l=":      verify(s.sign(t, header, body, "l=9"), s.record, header, body),
		"less than l=":      verify(s.sign(t, header, body, "l=99"), s.record, header, body),
		"b= of another tag": verify(strings.Replace(s.sign(t, header, body, "xb=1"), "xb=1", "xb=2", 1), s.record, header, body),
	} {
		if !errors.Is(err, dkim.ErrMismatch) {
			t.Errorf("%s: %v, want ErrMismatch", name, err)
		}
	}
}

// A field on top of a signed mail is what readers show.
func TestUnsignedFieldAboveASignedOne(t *testing.T) {
	s := newSigner(t)
	fields := append(header[:len(header):len(header)], "Content-Type: text/plain\r\n", "Date: Sat, 14 Mar 2026 12:00:00 +0000\r\n")
	field := s.sign(t, fields, body, "h=from:to:subject:date:content-type:x-mark:date")
	for name, on := range map[string]bool{
		"From": false, "SUBJECT": false, "To": false, "content-type ": false, "X-Mark": true, "Reply-To": true, "X-Other": true,
	} {
		top := append([]string{name + ": other\r\n"}, fields...)
		if err := verify(field, s.record, top, body); (err == nil) != on || errors.Is(err, dkim.ErrMismatch) {
			t.Errorf("Verify with another %s on top: %v, want valid %t", name, err, on)
		}
	}
	if err := verify(field, s.record, append([]string{"Date: other\r\n"}, fields...), body); !errors.Is(err, dkim.ErrMismatch) {
		t.Errorf("Verify with a second Date, which was signed as missing: %v, want ErrMismatch", err)
	}
	// Two fields that are both signed are what the signer sent.
	fields = append([]string{"Subject: first\r\n"}, fields...)
	if err := verify(s.sign(t, fields, body, "h=from:subject:subject"), s.record, fields, body); err != nil {
		t.Errorf("Verify of two signed Subject fields: %v", err)
	}
}

func TestInvalidSignatures(t *testing.T) {
	s := newSigner(t)
	names := strings.Repeat("x:", 256)
	for _, change := range []string{
		"v=", "v=2", "v=1 1", "a=", "a=rsa-sha1", "a=ed25519", "a=RSA-SHA256", "a=ed25519-sha512", "c=other", "c=relaxed/other", "c=relaxed/", "d=", "d=example", "d=a..example",
		"d=shop.example/x", "d=" + strings.Repeat("a", 64) + ".example", "s=", "s=a/b", "h=", "h=to:subject", "h=" + names + "from", "i=@example", "i=@op.example", "i=@evil.example", "i=shop.example",
		"i=x@notshop.example", "q=dns/other", "l=-1", "l=x", "l=1.5", "t=x", "x=", "bh=%", "bh= =", "b c=1", "=1", "é=1",
	} {
		field := s.sign(t, header, body, change)
		if change == "x=" {
			field = strings.Replace(field, "DKIM-Signature: ", "DKIM-Signature: x=; ", 1)
		}
		if err := verify(field, s.record, header, body); err == nil || errors.Is(err, dkim.ErrMismatch) {
			t.Errorf("Verify of %q: %v, want an error about the signature alone", field, err)
		}
	}
	for _, field := range []string{
		"", "DKIM-Signature", "DKIM-Signature:", "DKIM-Signature: gibberish", "DKIM-Signature: ;", strings.Replace(s.sign(t, header, body), "d=", "d=x.example; d=", 1),
		s.sign(t, header, body, "t=1700000000", "x=1600000000"), s.sign(t, header, body, "z="+strings.Repeat("x", 9000)), "DKIM-Signature: v=1; a=b=c;",
	} {
		if _, err := dkim.Parse([]byte(field)); err == nil {
			t.Errorf("Parse(%.80q) returned no error, want one", field)
		}
	}
}

func TestExpiry(t *testing.T) {
	s, err := dkim.Parse([]byte(newSigner(t).sign(t, header, body, "x=1700000000")))
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int64]bool{1699999999: false, 1700000000: false, 1700000001: true} {
		if got := s.ExpiredAt(time.Unix(at, 0)); got != want {
			t.Errorf("ExpiredAt(%d) of x=1700000000 is %t, want %t", at, got, want)
		}
	}
}

func TestKeys(t *testing.T) {
	ed, rsa1024 := newSigner(t), newRSASigner(t, 1024)
	_, p, _ := strings.Cut(ed.record, "p=")
	for record, valid := range map[string]bool{
		ed.record:                                  true,
		"k=ed25519;p=" + p:                         true,
		"p=" + p + "; k=ed25519;":                  true,
		"k=ed25519; p=" + p[:9] + " " + p[9:]:      true,
		"k=ed25519; p=" + p[:9] + "\t\r\n" + p[9:]: true,
		"k=ed25519; h=sha1:sha256; p=" + p:         true,
		"k=ed25519; s=email:web; p=" + p:           true,
		"k=ed25519; s=*; p=" + p:                   true,
		"k=ed25519; t=y; n=b=c; future=1; p=" + p:  true,
		"k=ed25519; t=y : s; p=" + p:               true,
		"v=DKIM2; k=ed25519; p=" + p:               false,
		"k=ed25519; h=sha1; p=" + p:                false,
		"k=ed25519; s=web; p=" + p:                 false,
		"k=ed25519; p=" + p + "; p=" + p:           false,
		"k=ed25519; p=":                            false,
		"k=ed25519":                                false,
		"k=ed25519; p=%%%":                         false,
		"k=ed25519; p=AAAA":                        false,
		"k=other; p=" + p:                          false,
		"p=" + p:                                   false,
		rsa1024.record:                             false,
		mislabelled(rsa1024):                       false,
		"":                                         false,
		"hello":                                    false,
	} {
		if err := verify(ed.sign(t, header, body), record, header, body); (err == nil) != valid || errors.Is(err, dkim.ErrMismatch) {
			t.Errorf("Verify with the key %q: %v, want valid %t", record, err, valid)
		}
	}
	strict := "k=ed25519; t=s; p=" + p
	if err := verify(ed.sign(t, header, body, "i=@mail.shop.example"), strict, header, body); err == nil {
		t.Error("Verify with i= of a subdomain and the key flag s returned no error, want one")
	}
	if err := verify(ed.sign(t, header, body, "i=x@SHOP.example"), strict, header, body); err != nil {
		t.Errorf("Verify of i= of the domain itself with the key flag s: %v", err)
	}
}

// mislabelled returns a record that calls an RSA key an Ed25519 one.
func mislabelled(s signer) string {
	return strings.Replace(s.record, "v=DKIM1;", "v=DKIM1; k=ed25519;", 1)
}

func TestDomain(t *testing.T) {
	for field, want := range map[string]string{
		"DKIM-Signature: v=1; d=Shop.Example": "shop.example", "DKIM-Signature: d=bücher.example;": "xn--bcher-kva.example",
		"DKIM-Signature: v=1": "", "DKIM-Signature: d=a; d=b": "", "DKIM-Signature: d=dmarc=pass.example": "", "DKIM-Signature: d=a;b": "",
	} {
		if got, _ := dkim.Parse([]byte(field)); got.Domain != want {
			t.Errorf("Parse(%q): the domain is %q, want %q", field, got.Domain, want)
		}
	}
}

func FuzzVerify(f *testing.F) {
	s := newSigner(f)
	f.Add(s.sign(f, header, body), s.record, "From: a@b.example\r\n", body)
	f.Add("DKIM-Signature: v=1; a=rsa-sha256; b=; bh=; c=simple; d=x.example; h=from; s=s; l=0", "p=", "From\n", "\n\n \t\r\r\n")
	f.Fuzz(func(t *testing.T, field, record, head, body string) {
		if err := verify(field, record, []string{head}, body); err == nil && field == "" {
			t.Errorf("Verify of an empty field with the key %q returned no error, want one", record)
		}
	})
}
