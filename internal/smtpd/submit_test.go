package smtpd_test

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/once"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/smtpd"
)

// blocked blocks one client, one sender and one recipient.
type blocked struct{}

func (blocked) Client(addr netip.Addr) bool   { return addr == netip.MustParseAddr("192.0.2.66") }
func (blocked) Sender(address string) bool    { return address == "spam@sender.example" }
func (blocked) Recipient(address string) bool { return address == "closed@box.example" }

const submitted = "Subject: hi\r\n\r\nhi\r\n"

func TestSubmitRepliesForEachRecipient(t *testing.T) {
	ip := netip.MustParseAddr("192.0.2.7")
	for name, test := range map[string]struct {
		change func(*smtpd.Submission)
		want   string // the codes of the recipients' replies
		stored string // to whom a mail was delivered
	}{
		"stored":                {func(m *smtpd.Submission) { m.To = []string{"ada@box.example", "<bob@box.example>"} }, "250 250", "ada@box.example bob@box.example"},
		"null sender":           {func(m *smtpd.Submission) { m.From = "" }, "250", "ada@box.example"},
		"one is unknown":        {func(m *smtpd.Submission) { m.To = []string{"ada@box.example", "no@box.example"} }, "250 550", "ada@box.example"},
		"one is full":           {func(m *smtpd.Submission) { m.To = []string{"full@box.example", "ada@box.example"} }, "452 250", "ada@box.example"},
		"named twice":           {func(m *smtpd.Submission) { m.To = []string{"ada@box.example", "ada@box.example"} }, "250 250", "ada@box.example"},
		"blocked client":        {func(m *smtpd.Submission) { m.Client = netip.MustParseAddr("192.0.2.66") }, "554", ""},
		"blocked sender":        {func(m *smtpd.Submission) { m.From = "spam@sender.example" }, "550", ""},
		"blocked recipient":     {func(m *smtpd.Submission) { m.To = []string{"closed@box.example", "ada@box.example"} }, "550 250", "ada@box.example"},
		"sender with a newline": {func(m *smtpd.Submission) { m.From = "a@b.example>\r\nRCPT TO:<x@box.example" }, "501", ""},
		"sender without domain": {func(m *smtpd.Submission) { m.From = "root" }, "501", ""},
		"recipient is no path":  {func(m *smtpd.Submission) { m.To = []string{"", "a b@box.example", "ada@box.example\n"} }, "501 501 501", ""},
		"bare line feed":        {func(m *smtpd.Submission) { m.Data = []byte("Subject: hi\n\nhi\n") }, "550", ""},
		"too large":             {func(m *smtpd.Submission) { m.Data = []byte(strings.Repeat("x", 2000)) }, "552", ""},
		"too many recipients":   {func(m *smtpd.Submission) { m.To = []string{"a@box.example", "b@box.example", "c@box.example"} }, "250 250 452", "a@box.example b@box.example"},
	} {
		in := &fakeInbound{refuse: map[string]error{"no@box.example": problem.New(problem.MailMailboxUnknown), "full@box.example": problem.New(problem.MailMailboxFull)}}
		s := smtpd.New(smtpd.Config{Blocks: blocked{}, MaxSize: 1000, MaxRecipients: 2, Logger: slog.New(slog.DiscardHandler)}, in)
		m := smtpd.Submission{From: "a@sender.example", To: []string{"ada@box.example"}, Client: ip, Helo: "sender.example", Protocol: "HTTP", Data: []byte(submitted)}
		test.change(&m)
		all, err := s.Submit(t.Context(), m)
		var got, stored []string
		for i, d := range all {
			if got = append(got, d.String()[:3]); d.To != m.To[i] {
				t.Errorf("%s: Submit returned the outcome for %q in place %d, want that for %q", name, d.To, i, m.To[i])
			}
		}
		for _, delivered := range in.deliveries() {
			for _, r := range delivered.env.To {
				stored = append(stored, r.Address)
			}
		}
		if err != nil || strings.Join(got, " ") != test.want || strings.Join(stored, " ") != test.stored {
			t.Errorf("%s: Submit to %q = %q, %v, and delivered to %q; want %q and %q", name, m.To, got, err, stored, test.want, test.stored)
		}
	}
}

// picky refuses mail that has one of several recipients, as a mailbox does that has become full since RCPT.
type picky struct {
	fakeInbound
	full string
}

func TestSubmitDeliversToEachWhereOneIsRefused(t *testing.T) {
	in := &picky{full: "full@box.example"}
	s := smtpd.New(smtpd.Config{Logger: slog.New(slog.DiscardHandler)}, deliverTo{in})
	all, err := s.Submit(t.Context(), smtpd.Submission{
		From: "a@sender.example", To: []string{"ada@box.example", "full@box.example", "bob@box.example"},
		Client: netip.MustParseAddr("192.0.2.7"), Protocol: "HTTP", Source: "ingress", NoClient: "it is not passed", Data: []byte(submitted),
	})
	if err != nil || len(all) != 3 || all[0].Number != 250 || all[1].Number != 452 || all[2].Number != 250 {
		t.Errorf("Submit to three recipients of whom the second is full = %v, %v, want 250, 452 and 250", all, err)
	}
	got := in.deliveries()
	if len(got) != 2 || got[0].env.Source != "ingress" || got[0].env.NoClient != "it is not passed" || got[0].env.Protocol != "HTTP" {
		t.Errorf("%d mails were delivered, the first with the envelope %+v; want 2 from the ingress over HTTP", len(got), got[0].env)
	}
}

// deliverTo delivers to picky.
type deliverTo struct{ *picky }

func (d deliverTo) Deliver(ctx context.Context, env *inbound.Envelope, data []byte) (inbound.Receipt, error) {
	for _, r := range env.To {
		if r.Address == d.full {
			return inbound.Receipt{}, problem.New(problem.MailMailboxFull)
		}
	}
	return d.picky.Deliver(ctx, env, data)
}

func TestSubmitSaysWhenToSendAgain(t *testing.T) {
	s := smtpd.New(smtpd.Config{
		AllowMessage: func(netip.Addr) (time.Duration, bool) { return 30 * time.Second, false }, Logger: slog.New(slog.DiscardHandler),
	}, &fakeInbound{})
	all, err := s.Submit(t.Context(), smtpd.Submission{To: []string{"ada@box.example"}, Client: netip.MustParseAddr("192.0.2.7"), Data: []byte(submitted)})
	if err != nil || len(all) != 1 || all[0].Number != 421 || all[0].RetryAfter != 30*time.Second {
		t.Errorf("Submit over the limit of messages = %v, %v, want 421 and again in 30 s", all, err)
	}
}

func TestSubmitReportsRepeatedMail(t *testing.T) {
	s := smtpd.New(smtpd.Config{Logger: slog.New(slog.DiscardHandler)}, &fakeInbound{fail: once.ErrRepeated})
	if all, err := s.Submit(t.Context(), smtpd.Submission{To: []string{"ada@box.example"}, Client: netip.MustParseAddr("192.0.2.7"), Data: []byte(submitted)}); !errors.Is(err, once.ErrRepeated) {
		t.Errorf("Submit of a mail that was stored before = %v, %v, want ErrRepeated", all, err)
	}
}

// With LMTP a mailbox that refuses a message after RCPT does not keep it from the others (RFC 2033 §4.2).
func TestLMTPRepliesForEachMailbox(t *testing.T) {
	in := &picky{full: "full@box.example"}
	_, addr := serve(t, smtpd.Config{LMTP: true}, deliverTo{in})
	conn, err := textproto.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, _, err := conn.ReadResponse(220); err != nil {
		t.Fatalf("the greeting: %v", err)
	}
	for _, step := range []struct {
		line    string
		replies []int
	}{
		{"LHLO relay.test", []int{250}},
		{"MAIL FROM:<a@sender.test>", []int{250}},
		{"RCPT TO:<ada@box.example>", []int{250}},
		{"RCPT TO:<full@box.example>", []int{250}},
		{"RCPT TO:<bob@box.example>", []int{250}},
		{"DATA", []int{354}},
		{"Subject: hi\r\n\r\nhi\r\n.", []int{250, 452, 250}},
		{"NOOP", []int{250}},
	} {
		if err := conn.PrintfLine("%s", step.line); err != nil {
			t.Fatal(err)
		}
		for i, want := range step.replies {
			if got, text, err := conn.ReadResponse(want); err != nil {
				t.Fatalf("reply %d to %q: %d %s, want %d", i, step.line, got, text, want)
			}
		}
	}
	got := in.deliveries()
	if len(got) != 2 || got[0].env.To[0].Address != "ada@box.example" || got[1].env.To[0].Address != "bob@box.example" || got[0].env.NoClient == "" {
		t.Errorf("%d messages were delivered, want one for ada and one for bob, of a client that is not known", len(got))
	}
}
