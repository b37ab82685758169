package inbound

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailparse"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/sanitize"
)

// content returns what is stored of a parsed mail, and the verification and sign-in links in it. size is the length of the raw message in
// octets.
func (s *Service) content(env *Envelope, m *mailparse.Message, verdicts mailauth.Result, size int) (c message.Content, links []string) {
	c = message.Content{
		From: message.Address{Name: m.From.Name, Address: m.From.Addr}, To: addresses(m.To), CC: addresses(m.Cc), ReplyTo: addresses(m.ReplyTo),
		Subject: m.Subject, SentAt: m.Date, MessageID: m.MessageID, Text: m.Text, HTML: m.HTML,
		Authentication: authentication(verdicts),
		EnvelopeFrom:   env.From, Helo: env.Helo, RemoteIP: env.RemoteIP.String(), TLS: env.TLS != "", Size: int64(size),
		Source: env.Source,
	}
	if c.Text == "" && c.HTML != "" {
		c.Text, c.Derived, c.Preview = sanitize.Text(c.HTML), true, sanitize.Beginning(c.HTML, previewFrom)
	}
	c.Headers = make([]message.Header, len(m.Header))
	for i, f := range m.Header {
		c.Headers[i] = message.Header{Name: f.Name, Value: f.Value}
	}
	for _, a := range m.Attachments {
		c.Files = append(c.Files, s.file(env, a))
	}
	extracted := s.extract(otp.Mail{From: m.From.Addr, Subject: m.Subject, Text: m.Text, HTML: m.HTML})
	c.OTP, c.Action, c.Refused = builtinCode(extracted), message.NewAction(extracted.Action), extracted.Refused
	return c, extracted.Links
}

// authentication returns the stored form of the verdicts on a mail.
func authentication(r mailauth.Result) message.Authentication {
	a := message.Authentication{SPF: string(r.SPF), DKIM: string(r.DKIM), DMARC: string(r.DMARC), Verified: r.Verified}
	if r.Verified {
		a.Domain = &r.FromDomain
	}
	return a
}

// previewFrom is how much of the text of HTML a preview is taken from, in octets. Most of it may be invisible.
const previewFrom = 4 << 10

// extract searches a mail for its code. A search can use 10 MiB of memory even for a small mail, so only GOMAXPROCS searches run at a
// time. More would not be faster, since a search needs nothing but the processor.
func (s *Service) extract(m otp.Mail) otp.Result {
	s.extractions <- struct{}{}
	defer func() { <-s.extractions }()
	return otp.Extract(m)
}

// file returns an attachment with its hash. One above AttachmentMax is listed, but its content is not available.
func (s *Service) file(env *Envelope, a mailparse.Attachment) message.File {
	sum := sha256.Sum256(a.Data)
	f := message.File{Part: a.Part, Data: a.Data, Attachment: message.Attachment{
		ID: id.New[id.Attachment](env.ReceivedAt), Filename: a.Filename, ContentType: a.ContentType, Size: int64(len(a.Data)),
		SHA256: hex.EncodeToString(sum[:]), Inline: a.Inline, Available: int64(len(a.Data)) <= s.AttachmentMax,
	}}
	if a.ContentID != "" {
		f.ContentID = &a.ContentID
	}
	return f
}

// builtinCode returns the stored form of a code that the built-in extractor found, or nil if it found none.
func builtinCode(r otp.Result) *message.OTP {
	if r.Code == "" {
		return nil
	}
	return &message.OTP{
		Code: r.Code, Display: r.Display, Confidence: r.Confidence, Source: "builtin", Kind: string(r.Kind), Links: r.Links,
	}
}

func addresses(all []mailparse.Address) []message.Address {
	out := make([]message.Address, len(all))
	for i, a := range all {
		out[i] = message.Address{Name: a.Name, Address: a.Addr}
	}
	return out
}
