package ingress

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
)

// Whatever a body is, parsing it neither panics nor fails with anything but a problem, and no mail comes of it without a recipient.
func FuzzParse(f *testing.F) {
	form := "--b\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\nSubject: x\r\n\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"envelope\"\r\n\r\n{\"to\":[\"a@b.example\"]}\r\n--b--\r\n"
	for _, body := range []string{
		form, strings.Replace(form, "email", "envelope", 1), form[:60], "email=x&envelope=%7B%22to%22%3A%5B%22a%40b%22%5D%7D", "email=%zz", "a=b&a=c",
		`{"RawEmail":"x","OriginalRecipient":"a@b.example"}`, `{"ToFull":[{"Email":null}]}`, `{"notificationType":"Received","content":"x","receipt":{"recipients":["a@b"]}}`, "null", "",
	} {
		f.Add([]byte(body), "multipart/form-data; boundary=b", "a@b.example, \"x,y\"@c.example")
		f.Add([]byte(body), "application/x-www-form-urlencoded", "")
	}
	now := clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))
	c := Config{Name: "in", Secret: "secret"}
	kinds := []kind{signed{c, now}, mailgun{c, now}, postmark{c}, sendGrid{Config: c, clock: now}}
	f.Fuzz(func(t *testing.T, body []byte, media, to string) {
		r := &Request{Header: http.Header{"Content-Type": {media}, "X-Envelope-To": {to, to}, "Authorization": {"Basic aW46c2VjcmV0"}}}
		for _, k := range kinds {
			m, err := k.parse(t.Context(), r, body)
			if err != nil && !problem.Has(err, problem.RequestInvalid) && !problem.Has(err, problem.ServerUnavailable) && !problem.Has(err, problem.AuthInvalidToken) {
				t.Errorf("%T.parse(%q) failed with %v, want a problem of the request", k, body, err)
			}
			if err == nil && (m == nil || len(m.to) == 0 || len(m.data) == 0) {
				t.Errorf("%T.parse(%q) = %+v, want a recipient and a message", k, body, m)
			}
		}
	})
}

func FuzzCanonical(f *testing.F) {
	for _, text := range []string{"", "\n", "\r\n", "a\nb\r\nc", "a\r\r\n\n", "\r", "\n\n\r"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := canonical(data)
		if bytes.Count(got, []byte("\n")) != bytes.Count(got, []byte("\r\n")) {
			t.Errorf("canonical(%q) = %q, want no line feed alone", data, got)
		}
		if again := canonical(got); !bytes.Equal(again, got) {
			t.Errorf("canonical(%q) = %q, and of that %q, want the same", data, got, again)
		}
		if want := bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n")); !bytes.Equal(got, want) {
			t.Errorf("canonical(%q) = %q, want %q", data, got, want)
		}
	})
}

func TestAddressesOfARepeatedField(t *testing.T) {
	for _, test := range []struct {
		values []string
		want   string
	}{
		{nil, ""},
		{[]string{"a@b.example"}, "a@b.example"},
		{[]string{"a@b.example, c@d.example", "e@f.example"}, "a@b.example|c@d.example|e@f.example"},
		{[]string{`"a,b"@c.example,d@e.example`}, `"a,b"@c.example|d@e.example`},
		{[]string{`"a\",b"@c.example , d@e.example`}, `"a\",b"@c.example|d@e.example`},
		{[]string{" , ,"}, ""},
		{[]string{`"a\`}, `"a\`},
	} {
		if got := strings.Join(addressesOf(test.values), "|"); got != test.want {
			t.Errorf("addressesOf(%q) = %q, want %q", test.values, got, test.want)
		}
	}
}
