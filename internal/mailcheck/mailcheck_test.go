package mailcheck_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/mailcheck"
	"github.com/gonebox/gonebox/internal/resource"
)

// sample returns a mail without faults, of a client outside, with a text and HTML.
func sample(text, html string) mailcheck.Mail {
	sent := clock.Stamp{Time: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	m := &resource.Message{}
	m.From, m.SentAt, m.MessageID, m.Text = resource.Address{Address: "shop@shop.example"}, &sent, "1@shop.example", text
	m.Headers = []resource.Header{
		{Name: "List-Unsubscribe", Value: "<mailto:u@shop.example>, <https://shop.example/u/1>"},
		{Name: "List-Unsubscribe-Post", Value: "List-Unsubscribe=One-Click"},
	}
	m.Authentication = resource.Authentication{SPF: "pass", DKIM: "pass", DMARC: "pass"}
	m.Envelope.RemoteIP = "192.0.2.25"
	if html != "" {
		m.HTML = &html
	}
	return mailcheck.Mail{Message: m}
}

// codes returns the codes of the warnings about a mail, without those of features.
func codes(t *testing.T, m mailcheck.Mail) string {
	t.Helper()
	report, err := checker.Check(m)
	if err != nil {
		t.Fatalf("Check: %v", err)
	}
	var all []string
	for _, w := range report.Warnings {
		if w.Title == "" || w.Detail == "" {
			t.Errorf("Check gives %+v, want a title and a detail", w)
		}
		if w.Code != mailcheck.HTMLFeature {
			all = append(all, w.Code)
		}
	}
	return strings.Join(all, " ")
}

func TestWarnings(t *testing.T) {
	const text, html = "Your code is 246810.", "<p>Your code is <b>246810</b>.</p>"
	header := func(name, value string) func(*mailcheck.Mail) {
		return func(m *mailcheck.Mail) {
			m.Headers = slices.DeleteFunc(m.Headers, func(h resource.Header) bool { return h.Name == name })
			if value != "" {
				m.Headers = append(m.Headers, resource.Header{Name: strings.ToUpper(name), Value: value})
			}
		}
	}
	failed := resource.Authentication{SPF: "fail", DKIM: "fail", DMARC: "fail"}
	for name, tt := range map[string]struct {
		html   string
		change func(*mailcheck.Mail)
		want   string
	}{
		"none":                         {html: html},
		"text alone":                   {},
		"no text part":                 {html: html, change: func(m *mailcheck.Mail) { m.TextMissing = true }, want: "text_part_missing"},
		"another text":                 {html: "<p>Our new shoes are here. Have a look at what we have for you.</p>", want: "text_differs"},
		"another code":                 {html: "<p>Your code is <b>135791</b>.</p>", want: "text_differs"},
		"images":                       {html: html + "<img src=a><img src=b alt='' width=1 height=1>", want: "image_without_alt image_without_size"},
		"an image sized by style":      {html: html + "<img src=a alt='' width=1 style='height:auto'>"},
		"an image sized by a rule":     {html: "<style>img{width:1px;height:1px}</style>" + html + "<img src=a alt=x>"},
		"large HTML":                   {html: html + strings.Repeat("<!-- -->", 102<<10/8), want: "too_large"},
		"large text":                   {change: func(m *mailcheck.Mail) { m.Text = strings.Repeat("word ", 21_000) }, want: "too_large"},
		"no List-Unsubscribe":          {change: header("List-Unsubscribe", ""), want: "unsubscribe_missing"},
		"an empty List-Unsubscribe":    {change: header("List-Unsubscribe", " "), want: "unsubscribe_missing"},
		"no List-Unsubscribe-Post":     {change: header("List-Unsubscribe-Post", ""), want: "one_click_missing"},
		"another Post":                 {change: header("List-Unsubscribe-Post", "yes"), want: "one_click_missing"},
		"no https address":             {change: header("List-Unsubscribe", "<mailto:u@shop.example>"), want: "one_click_missing"},
		"List-Unsubscribe in any case": {change: header("List-Unsubscribe", "<HTTPS://shop.example/u>")},
		"no Date":                      {change: func(m *mailcheck.Mail) { m.SentAt = nil }, want: "date_missing"},
		"no Message-ID":                {change: func(m *mailcheck.Mail) { m.MessageID = "" }, want: "message_id_missing"},
		"no From":                      {change: func(m *mailcheck.Mail) { m.From.Address = "" }, want: "from_invalid"},
		"From is a name":               {change: func(m *mailcheck.Mail) { m.From.Address = "The shop" }, want: "from_invalid"},
		"From without a domain":        {change: func(m *mailcheck.Mail) { m.From.Address = "shop@" }, want: "from_invalid"},
		"From in Unicode":              {change: func(m *mailcheck.Mail) { m.From.Address = "jürgen@bücher.example" }},
		"sender not verified":          {change: func(m *mailcheck.Mail) { m.Authentication = failed }, want: "spf_failed dkim_failed dmarc_failed"},
		"no verdicts": {change: func(m *mailcheck.Mail) {
			m.Authentication = resource.Authentication{SPF: "none", DKIM: "none", DMARC: "none"}
		}},
		"a client of this machine": {change: func(m *mailcheck.Mail) { m.Authentication, m.Envelope.RemoteIP = failed, "127.0.0.1" }},
		"a client of the network":  {change: func(m *mailcheck.Mail) { m.Authentication, m.Envelope.RemoteIP = failed, "::ffff:10.1.2.3" }},
		"no client":                {change: func(m *mailcheck.Mail) { m.Authentication, m.Envelope.RemoteIP = failed, "" }},
	} {
		t.Run(name, func(t *testing.T) {
			m := sample(text, tt.html)
			if tt.change != nil {
				tt.change(&m)
			}
			if got := codes(t, m); got != tt.want {
				t.Errorf("Check of a mail with text %.100q and HTML %.100q warns of %q, want %q", m.Text, tt.html, got, tt.want)
			}
		})
	}
}

func TestTextDiffers(t *testing.T) {
	for _, tt := range []struct {
		text, html string
		want       bool
	}{
		{"Hello Ada,\n\nconfirm your address:\nhttps://shop.example/verify?t=abcdef0123456789", "<h1>Hello Ada,</h1><p><a href='https://shop.example/verify?t=abcdef0123456789'>confirm your address</a>", false},
		{"HELLO ADA", "<p>Hello Ada", false},
		{"Your mail program shows no HTML.", "<p>Dear reader, this week we wrote about bridges, birds, old trains and the sea.", true},
		{"", "<img src=x>", false},
		{"验证码 246810，请勿告诉他人", "<p>验证码 <b>246810</b>，请勿告诉他人", false},
		{"验证码 246810，请勿告诉他人", "<p>欢迎来到我们的商店，今天有很多新的商品", true},
		{"Pay 1200 until 2026", "<p>Pay 9900 until 2026", true},
		{"Pay 1200 until 2026", "<p>Pay 1200 until 2026. Call 0123456", false},
		{"a b c d e f g h", "<p>a b c d e f g h i j k l m n o p", false},
	} {
		got := strings.Contains(codes(t, sample(tt.text, tt.html)), mailcheck.TextDiffers)
		if got != tt.want {
			t.Errorf("Check of a mail with text %q and HTML %q: the text differs = %t, want %t", tt.text, tt.html, got, tt.want)
		}
	}
}

func TestFeatureWarning(t *testing.T) {
	html := "<p>\n<b style='display:grid'>a</b>"
	report, err := checker.Check(sample("a", html))
	if err != nil {
		t.Fatal(err)
	}
	if report.Score >= 100 || report.Score <= 0 || len(report.ClientsAsOf) != len("2026-01-31") {
		t.Errorf("Check of %q = score %v as of %q, want less than 100 and a day", html, report.Score, report.ClientsAsOf)
	}
	i := slices.IndexFunc(report.Warnings, func(w mailcheck.Warning) bool { return w.Feature == "css-display-grid" })
	if i < 0 {
		t.Fatalf("Check of %q warns of %+v, want css-display-grid", html, report.Warnings)
	}
	if w := report.Warnings[i]; w.Code != mailcheck.HTMLFeature || w.Title != "display:grid" || w.Line != 2 || !slices.Contains(w.Clients, "Outlook Windows") || slices.Contains(w.Clients, "Apple Mail macOS") {
		t.Errorf("Check of %q warns of %+v, want display:grid in line 2 with Outlook Windows and without Apple Mail macOS", html, w)
	}
}

// TestTextAloneScoresFull checks that a mail without HTML has the full score.
func TestTextAloneScoresFull(t *testing.T) {
	report, err := checker.Check(sample("Hello", ""))
	if err != nil || report.Score != 100 || len(report.Warnings) != 0 {
		t.Errorf("Check of a mail without HTML = %+v, %v; want score 100 and no warnings", report, err)
	}
}

func TestPlatforms(t *testing.T) {
	platforms, err := checker.Platforms()
	if err != nil || len(platforms) < 5 || !slices.Contains(platforms["ios"], "Gmail") {
		t.Errorf("Platforms() = %v, %v; want several, and Gmail among those of ios", platforms, err)
	}
}
