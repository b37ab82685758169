package blackbox_test

import (
	"strings"
	"testing"
)

// found is what a full message says of its links, with its texts.
type found struct {
	Text, Preview string
	Links         []string
	BestLink      *string
	Action        *struct{ URL, Host, Kind string }
}

// TestLinks injects mails and compares their links, and the one that a wait for a link returns, with what is expected.
func TestLinks(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	const verify, other, unsubscribe = "https://acme.example/verify?t=Zx8kQ2_", "https://acme.example/shop", "https://acme.example/u/7"
	for name, tt := range map[string]struct {
		text, html  string
		links, best string // separated by spaces
		kind        string // of the action; "": there is none
	}{
		"none":                                 {text: "Hello"},
		"text":                                 {text: "Go to " + verify + ".", links: verify, best: verify, kind: "verify"},
		"the text of a mail with HTML":         {text: "Go to " + verify, html: "<p>See the text part.</p>", links: verify, best: verify, kind: "verify"},
		"HTML that shows an address":           {html: "<p>Go to<br>https://acme.example/<wbr>verify?t=<b>Zx8kQ2_</b></p>", links: verify, best: verify, kind: "verify"},
		"links first, then text, then parts":   {text: other + "\n" + verify + "\nhttps://acme.example/3", html: `<p>https://acme.example/2</p><a href="` + other + `">Shop</a>`, links: other + " https://acme.example/2 " + verify + " https://acme.example/3", best: verify, kind: "verify"},
		"each once":                            {text: verify + "\nHTTPS://ACME.example/verify?t=Zx8kQ2_\nhttps://acme.example/", html: `<a href="` + verify + `">` + verify + `</a> https://acme.example`, links: verify + " https://acme.example", best: verify, kind: "verify"},
		"a label that is cut off":              {html: `<a href="` + verify + `">https://acme.example/veri…</a>`, links: verify, best: verify, kind: "verify"},
		"unsubscribing last":                   {html: `<a href="` + unsubscribe + `">Unsubscribe</a><p>` + other, links: other + " " + unsubscribe, best: other},
		"nothing but unsubscribing":            {html: `<a href="` + unsubscribe + `">Unsubscribe</a>`, links: unsubscribe},
		"unsubscribing in a sentence":          {html: `<p>To unsubscribe, <a href="` + unsubscribe + `">click here</a>. Or <a href="` + other + `">visit us</a>.`, links: other + " " + unsubscribe, best: other},
		"unsubscribing behind the link":        {html: `<p><a href="` + unsubscribe + `">Click here</a> to unsubscribe.</p>`, links: unsubscribe},
		"unsubscribing beside a button":        {html: `<p>You can unsubscribe at any time.</p><p><a href="` + other + `">Confirm your address</a></p>`, links: other, best: other, kind: "verify"},
		"unsubscribing as text":                {text: "Read on: " + other + "\n\nTo unsubscribe, visit:\n" + unsubscribe + "\n", links: other + " " + unsubscribe, best: other},
		"unsubscribing in front of a text":     {text: "You can unsubscribe at any time.\n" + other + "\n", links: other, best: other},
		"unsubscribing by the address":         {text: "https://acme.example/unsubscribe?token=1\n" + other, links: other + " https://acme.example/unsubscribe?token=1", best: other},
		"unsubscribing by a picture":           {html: `<a href="` + unsubscribe + `"><img alt="Abmelden"></a>`, links: unsubscribe},
		"preferences":                          {html: `<a href="` + unsubscribe + `">Gérer mes préférences</a>`, links: unsubscribe},
		"view in browser":                      {html: `<a href="` + unsubscribe + `">ブラウザで見る</a><a href="` + other + `">確認する</a>`, links: other + " " + unsubscribe, best: other, kind: "verify"},
		"to be opened in a browser":            {text: "Öffnen Sie diesen Link im Browser:\n" + other, links: other, best: other},
		"one that verifies among others":       {html: `<a href="` + other + `">Shop</a><p><a href="https://acme.example/l?i=2">Verify your email address</a>`, links: other + " https://acme.example/l?i=2", best: "https://acme.example/l?i=2", kind: "verify"},
		"a logo and a button that say nothing": {html: `<a href="https://ct.example/ls/click?upn=1"><img alt="Acme Inc" src="https://i.example/l.png"></a><p><a href="https://ct.example/ls/click?upn=2">Continue</a>`, links: "https://ct.example/ls/click?upn=1 https://ct.example/ls/click?upn=2", best: "https://ct.example/ls/click?upn=2"},
		"nothing but a logo":                   {html: `<a href="` + other + `"><img alt="Acme" src="https://i.example/l.png"></a><p>Your address was changed.`, links: other},
		"nothing but the front page":           {text: "Your address was changed.\n\nhttps://acme.example/\n", links: "https://acme.example/"},
		"nothing but cancelling":               {html: `<p>Your address was changed.<p><a href="` + other + `">This was not me</a>`, links: other},
		"an invitation":                        {html: `<a href="https://acme.example">Acme</a><a href="https://acme.example/team-invitations/52?s=9f">Accept</a>`, links: "https://acme.example https://acme.example/team-invitations/52?s=9f", best: "https://acme.example/team-invitations/52?s=9f", kind: "invite"},
	} {
		t.Run(name, func(t *testing.T) {
			m := s.create("", nil)
			a := s.inject(m.Token, fields{"subject": "Welcome", "text": tt.text, "html": tt.html})
			want(t, a, 201, "")
			var got found
			a.Into(t, &got)
			if strings.Join(got.Links, " ") != tt.links {
				t.Errorf("links of text %q and HTML %q\ngot  %q\nwant %q", tt.text, tt.html, got.Links, strings.Fields(tt.links))
			}
			best := ""
			if got.BestLink != nil {
				best = *got.BestLink
			}
			if best != tt.best {
				t.Errorf("bestLink of text %q and HTML %q is %q, want %q", tt.text, tt.html, best, tt.best)
			}
			if a := got.Action; a == nil && tt.kind != "" || a != nil && (a.Kind != tt.kind || a.URL != tt.best || a.Host != "acme.example") {
				t.Errorf("action of text %q and HTML %q is %+v, want %q of the kind %q", tt.text, tt.html, a, tt.best, tt.kind)
			}
			list := get[[]summary](s, "/mailboxes/me/messages?has=action", m.Token)
			if len(list) > 0 != (tt.kind != "") || len(list) > 0 && list[0].Action.URL != tt.best {
				t.Errorf("has=action finds %+v of text %q and HTML %q, want an action of the kind %q with %q, or none", list, tt.text, tt.html, tt.kind, tt.best)
			}
			if list := get[[]summary](s, "/mailboxes/me/messages?has=link", m.Token); len(list) > 0 != (tt.links != "") {
				t.Errorf("has=link finds %d messages with text %q and HTML %q, want one if it has links: %q", len(list), tt.text, tt.html, tt.links)
			}
			if list := get[[]summary](s, "/mailboxes/me/messages?has=bestLink", m.Token); len(list) > 0 != (tt.best != "") {
				t.Errorf("has=bestLink finds %d messages with text %q and HTML %q, want one if it has a best link: %q", len(list), tt.text, tt.html, tt.best)
			}
		})
	}
}

func TestListUnsubscribeIsNoLinkToWaitFor(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	raw := crlf("From: a@example.org", "Subject: News", "List-Unsubscribe: <mailto:x@example.org>,", " <https://acme.example/x/1>", "Content-Type: text/plain", "", "https://acme.example/x/1", "https://acme.example/2")
	var got found
	s.injectRaw(m.Token, raw).Into(t, &got)
	if links := strings.Join(got.Links, " "); links != "https://acme.example/2 https://acme.example/x/1" || got.BestLink == nil || *got.BestLink != "https://acme.example/2" {
		t.Errorf("links %q and bestLink %v of %q; want the address of List-Unsubscribe last, and never as bestLink", links, got.BestLink, raw)
	}
}

func TestPreviewHasNoAddressesOfLinks(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	var got found
	s.inject(m.Token, fields{"html": `<p>Read <a href="https://acme.example/guide">the guide</a>.</p><p>Bye</p>`}).Into(t, &got)
	if want := "Read the guide. Bye"; got.Preview != want {
		t.Errorf("preview %q, want %q", got.Preview, want)
	}
	if want := "Read the guide (https://acme.example/guide).\n\nBye"; got.Text != want {
		t.Errorf("text %q, want %q", got.Text, want)
	}
}

// related is a mail with HTML and a picture in base64, whose header fields are given.
func related(html string, fields ...string) []byte {
	const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	lines := []string{"From: a@example.org", "Subject: picture", "MIME-Version: 1.0", `Content-Type: multipart/related; boundary="b"`, "", "--b", "Content-Type: text/html; charset=utf-8", "", html, "--b"}
	lines = append(lines, fields...)
	return crlf(append(lines, "Content-Transfer-Encoding: base64", "", picture, "--b--")...)
}

func TestPicturesOfTheMailAreShown(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	const png = "Content-Type: image/png"
	for _, tt := range []struct {
		name, src string
		fields    []string
		shown     bool
	}{
		{"plain", "cid:logo@acme.example", []string{png, "Content-ID: <logo@acme.example>"}, true},
		{"with a space", "cid:my logo.png", []string{png, "Content-ID: <my logo.png>"}, true},
		{"with an encoded space", "cid:my%20logo.png", []string{png, "Content-ID: <my logo.png>"}, true},
		{"folded", "cid:my logo.png", []string{png, "Content-ID: <my", " logo.png>"}, true},
		{"encoded on both sides", "cid:a%40b", []string{png, "Content-ID: <a%40b>"}, true},
		{"encoded in the header alone", "cid:a@b", []string{png, "Content-ID: <a%40b>"}, true},
		{"a percent sign", "cid:100%.png", []string{png, "Content-ID: <100%.png>"}, true},
		{"an encoded word", "cid:grüße.png", []string{png, "Content-ID: <=?utf-8?Q?gr=C3=BC=C3=9Fe=2Epng?=>"}, true},
		{"an encoded word on both sides", "cid:=?utf-8?Q?gr=C3=BC=C3=9Fe=2Epng?=", []string{png, "Content-ID: <=?utf-8?Q?gr=C3=BC=C3=9Fe=2Epng?=>"}, true},
		{"without brackets", "cid:logo", []string{png, "Content-ID: logo"}, true},
		{"octets", "cid:logo", []string{"Content-Type: application/octet-stream", "Content-ID: <logo>"}, true},
		{"a type of image that is not the one", "cid:logo", []string{"Content-Type: image/vnd.acme", "Content-ID: <logo>"}, true},
		{"an attachment", "cid:logo", []string{png, "Content-ID: <logo>", `Content-Disposition: attachment; filename="logo.png"`}, true},
		{"another part", "cid:logo", []string{png, "Content-ID: <photo>"}, false},
		{"text", "cid:logo", []string{"Content-Type: text/html", "Content-ID: <logo>", `Content-Disposition: attachment; filename="x.html"`}, false},
		{"SVG", "cid:logo", []string{"Content-Type: image/svg+xml", "Content-ID: <logo>"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := s.create("", nil)
			raw := related(`<p>Hello</p><img src="`+tt.src+`" alt="logo">`, tt.fields...)
			a := s.injectRaw(m.Token, raw)
			want(t, a, 201, "")
			var full message
			a.Into(t, &full)
			if full.HTML == nil || strings.Contains(*full.HTML, `src="data:image/png;base64,`) != tt.shown {
				t.Errorf("the HTML of %q is %v; want the picture: %v", raw, full.HTML, tt.shown)
			}
			// What the HTML shows is no attachment to look for; anything else is.
			if full.HasAttachments == tt.shown {
				t.Errorf("hasAttachments of %q is %t, want %t, as its picture is shown: %t", raw, full.HasAttachments, !tt.shown, tt.shown)
			}
			if list := get[[]summary](s, "/mailboxes/me/messages?has=attachment", m.Token); len(list) > 0 == tt.shown {
				t.Errorf("has=attachment finds %d messages like %q, want one unless its picture is shown: %t", len(list), raw, tt.shown)
			}
		})
	}
}
