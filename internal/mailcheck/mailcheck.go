// Package mailcheck says how a mail will fare in mail clients: which of them lack the features of HTML and CSS that it uses, by the data of
// caniemail, and what of its parts and its header spoils its delivery. It reads a mail that package message has stored, fetches nothing, and
// does not decide who may read it.
package mailcheck

import (
	"fmt"
	"net/mail"
	"net/netip"
	"strings"

	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/resource"
)

// Mail is what is checked.
type Mail struct {
	*resource.Message      // with its HTML as the sender wrote it
	TextMissing       bool // its text is that of the HTML
}

// Report is the result of a check.
type Report struct {
	Score       float64   `json:"score" minimum:"0" maximum:"100" doc:"How well mail clients support what the HTML uses, from 0 to 100; 100 for a message without HTML. With one decimal." example:"87.5"`
	ClientsAsOf string    `json:"clientsAsOf" doc:"The day of the data about mail clients, of caniemail.com." example:"2026-01-31"`
	Warnings    []Warning `json:"warnings" doc:"What may go wrong: first what concerns the whole message, then features, those that weigh most first."`
}

// Warning is one thing that may go wrong.
type Warning struct {
	Code    string   `json:"code" enum:"html_feature,too_large,image_without_alt,image_without_size,text_part_missing,text_differs,unsubscribe_missing,one_click_missing,date_missing,message_id_missing,from_invalid,spf_failed,dkim_failed,dmarc_failed" doc:"What it is."`
	Title   string   `json:"title" doc:"A few words; of a feature its name." example:"display:flex"`
	Detail  string   `json:"detail" doc:"One or two sentences in English." example:"12 of 40 clients do not support it."`
	Line    int      `json:"line,omitempty" doc:"The line of the HTML, as the sender wrote it, that shows it first." example:"12"`
	Clients []string `json:"clients,omitempty" doc:"The clients whose newest tested version does not support the feature." example:"[\"Outlook Windows\"]"`
	Feature string   `json:"feature,omitempty" doc:"The feature's name at https://www.caniemail.com/features/." example:"css-display-flex"`
}

// The codes of warnings.
const (
	HTMLFeature        = "html_feature"
	TooLarge           = "too_large"
	ImageWithoutAlt    = "image_without_alt"
	ImageWithoutSize   = "image_without_size"
	TextPartMissing    = "text_part_missing"
	TextDiffers        = "text_differs"
	UnsubscribeMissing = "unsubscribe_missing"
	OneClickMissing    = "one_click_missing"
	DateMissing        = "date_missing"
	MessageIDMissing   = "message_id_missing"
	FromInvalid        = "from_invalid"
	SPFFailed          = "spf_failed"
	DKIMFailed         = "dkim_failed"
	DMARCFailed        = "dmarc_failed"
)

// gmailMax is the size of HTML from which on Gmail shows the beginning alone, in octets.
const gmailMax = 102 << 10

// Check checks a mail.
func (c *Checker) Check(m Mail) (*Report, error) {
	date, err := c.Date()
	if err != nil {
		return nil, err
	}
	r := &Report{Score: 100, ClientsAsOf: date, Warnings: []Warning{}}
	html := ""
	if m.HTML != nil {
		html = *m.HTML
	}
	size := len(html)
	if html == "" {
		size = len(m.Text)
	}
	if size > gmailMax {
		r.warn(TooLarge, "Larger than 102 KB", fmt.Sprintf("The text has %d KB. Gmail shows the first 102 KB of it, and a link to the rest.", (size+1023)>>10))
	}
	r.header(m.Message)
	r.authentication(m.Message)
	if html == "" {
		return r, nil
	}
	if m.TextMissing {
		r.warn(TextPartMissing, "No text part", "The message has HTML alone. Readers that show text, watches and spam filters expect a text/plain part beside it.")
	} else if differs(m.Text, html) {
		r.warn(TextDiffers, "The text differs from the HTML", "The text/plain part does not say what the HTML says. Readers that show text miss it, and spam filters take it for a trick.")
	}
	f, err := c.Features(html)
	if err != nil {
		return nil, err
	}
	r.images(f)
	r.features(f)
	return r, nil
}

// warn adds a warning about the whole message.
func (r *Report) warn(code, title, detail string) {
	r.Warnings = append(r.Warnings, Warning{Code: code, Title: title, Detail: detail})
}

// header checks the header fields.
func (r *Report) header(m *resource.Message) {
	if _, err := mail.ParseAddress("<" + m.From.Address + ">"); err != nil {
		r.warn(FromInvalid, "From has no address", "The From field is missing or has no valid address. Servers refuse such mail.")
	}
	if m.SentAt == nil {
		r.warn(DateMissing, "No Date", "The Date field is missing or is no date (RFC 5322 §3.6.1). Clients sort the message wrongly, and spam filters object.")
	}
	if m.MessageID == "" {
		r.warn(MessageIDMissing, "No Message-ID", "The Message-ID field is missing (RFC 5322 §3.6.4). Replies cannot refer to the message, and spam filters object.")
	}
	links, post := field(m, "List-Unsubscribe"), field(m, "List-Unsubscribe-Post")
	switch {
	case !strings.Contains(links, "<"):
		r.warn(UnsubscribeMissing, "No List-Unsubscribe", "The List-Unsubscribe field is missing (RFC 2369). Gmail and Yahoo ask for it in mail to many recipients; a message to one person does not need it.")
	case !strings.EqualFold(strings.TrimSpace(post), "List-Unsubscribe=One-Click"), !strings.Contains(strings.ToLower(links), "<https:"):
		r.warn(OneClickMissing, "No one-click unsubscribing", "RFC 8058 needs a List-Unsubscribe field with an https address, and List-Unsubscribe-Post: List-Unsubscribe=One-Click.")
	}
}

// field returns the value of the first header field with a name.
func field(m *resource.Message, name string) string {
	for _, h := range m.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// authentication warns of what failed, unless the mail came from a client of this machine or its network, such as an application that is
// developed here.
func (r *Report) authentication(m *resource.Message) {
	client, err := netip.ParseAddr(m.Envelope.RemoteIP)
	if err != nil || local.IsAddr(client) {
		return
	}
	for _, check := range []struct{ code, name, verdict, advice string }{
		{SPFFailed, "SPF", m.Authentication.SPF, "the server that sent the message is not one of those that the domain of its envelope lists"},
		{DKIMFailed, "DKIM", m.Authentication.DKIM, "no signature of the message could be verified"},
		{DMARCFailed, "DMARC", m.Authentication.DMARC, "neither SPF nor DKIM speaks for the domain of the From field"},
	} {
		switch check.verdict {
		case "fail", "softfail", "permerror":
			r.warn(check.code, check.name+" failed", fmt.Sprintf("The result is %s: %s. Servers put such mail into spam or refuse it.", check.verdict, check.advice))
		}
	}
}

// images warns of images without a text or a size.
func (r *Report) images(f *Features) {
	for _, w := range []struct {
		images
		code, title, detail string
	}{
		{f.noAlt, ImageWithoutAlt, "Images without alt", "Readers who do not see images, and clients that block them, have nothing in their place. An image that says nothing has alt=\"\"."},
		{f.noSize, ImageWithoutSize, "Images without a size", "Without a width and a height the message jumps while images load, and Outlook shows them at their own size."},
	} {
		if w.count > 0 {
			r.Warnings = append(r.Warnings, Warning{Code: w.code, Title: w.title, Line: w.line, Detail: fmt.Sprintf("Of %d. %s", w.count, w.detail)})
		}
	}
}

// features warns of features that clients lack. What all of them support at least in part is left out unless it counts in the score.
func (r *Report) features(f *Features) {
	r.Score = float64(int(f.Score*10+0.5)) / 10
	for _, found := range f.Found {
		w := Warning{Code: HTMLFeature, Title: found.Title, Line: found.Line, Feature: found.Slug}
		if found.Slug == script {
			w.Detail, w.Feature = found.Description, ""
			r.Warnings = append(r.Warnings, w)
			continue
		}
		without, partly, tested := found.lacking()
		if len(without) == 0 && (len(partly) == 0 || found.Times == 0) {
			continue
		}
		w.Clients, w.Detail = without, describe(len(without), partly, tested)
		r.Warnings = append(r.Warnings, w)
	}
}

// describe says how many of the clients do not support a feature, and which do so in part.
func describe(without int, partly []string, tested int) string {
	names := strings.Join(partly, ", ")
	switch {
	case len(partly) == 0:
		return fmt.Sprintf("%d of %d clients do not support it.", without, tested)
	case without == 0:
		return fmt.Sprintf("All %d clients support it, %d of them only in part: %s.", tested, len(partly), names)
	}
	return fmt.Sprintf("%d of %d clients do not support it, and %d only in part: %s.", without, tested, len(partly), names)
}
