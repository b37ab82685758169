package blackbox_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

func TestLatestOTP(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	latest := func(query string) code { return get[code](s, "/mailboxes/me/otp/latest"+query, m.Token) }
	none := func(query string) {
		t.Helper()
		s.call(http.MethodGet, "/mailboxes/me/otp/latest"+query, m.Token, 404, "otp.not_found")
	}
	none("")
	s.mail(m.box(), apptest.Mail{Subject: "News", Text: "Nothing to see here."})
	none("")
	first := s.mail(m.box(), apptest.Mail{
		From: "login@Shop.example",
		Raw: crlf("From: login@Shop.example", "Subject: Sign in", "MIME-Version: 1.0", "Content-Type: text/html", "",
			`<p>Your verification code is <b>482-913</b>.</p><p>Or <a href="https://shop.example/verify?token=abc">confirm</a>.</p>`),
	})
	s.Clock.Advance(time.Second)
	second := s.mail(m.box(), apptest.Mail{From: "no-reply@bank.example", Subject: "Security", Text: "Your security code is G7K-22P. It expires in 10 minutes."})
	s.mail(m.box(), apptest.Mail{Subject: "News again", Text: "Still nothing to see here."})

	got := latest("?from=SHOP")
	if got.Code != "482913" || got.Display != "482-913" || got.MessageID != first.ID || got.Subject != "Sign in" ||
		got.From.Address != "login@Shop.example" || !got.ReceivedAt.Equal(first.ReceivedAt) || got.Kind != "numeric" ||
		got.Source != "builtin" || got.FilterID != nil || got.Confidence <= 0 || got.Confidence > 1 {
		t.Errorf("GET latest code from SHOP = %+v, want 482913, displayed as 482-913, of the message %s at %v, found by the extractor with a confidence up to 1", got, first.ID, first.ReceivedAt)
	}
	if len(got.Links) != 1 || got.Links[0] != "https://shop.example/verify?token=abc" {
		t.Errorf("the links are %v, want https://shop.example/verify?token=abc alone", got.Links)
	}
	if first.OTP == nil || first.OTP.Code != got.Code || first.OTP.MessageID != first.ID {
		t.Errorf("the summary has the code %+v, want %s of %s", first.OTP, got.Code, first.ID)
	}
	since := func(m summary) string { return "?since=" + url.QueryEscape(m.ReceivedAt.Format(time.RFC3339Nano)) }
	for _, query := range []string{"", "?from=bank.example", "?after=" + first.ID, since(first)} {
		if got := latest(query); got.MessageID != second.ID || got.Kind != "alphanumeric" {
			t.Errorf(`%s: latest(query) = %+v, want MessageID %v and Kind "alphanumeric"`, query, got, second.ID)
		}
	}
	none("?from=unknown")
	none("?after=" + second.ID)
	none(since(first) + "&from=shop")
	none(since(second))
	s.call(http.MethodDelete, "/messages/"+second.ID, m.Token, 204, "")
	if got := latest(""); got.MessageID != first.ID {
		t.Errorf("after deletion: %+v, want MessageID %v", got, first.ID)
	}
}
