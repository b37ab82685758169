package smtpd_test

import (
	"bufio"
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/fault"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/smtpd"
	"github.com/gonebox/gonebox/internal/transcript"
)

// noFaults fails the test if it is asked for a mail.
type noFaults struct{ tb testing.TB }

func (noFaults) OwnerOf(context.Context, netip.Addr) (id.Account, error) { return "", nil }

func (f noFaults) Decide(_ context.Context, m *fault.Mail) (fault.Action, error) {
	f.tb.Errorf("Decide(%+v) was called, want that only for a mail of the sink or of a project", m)
	return fault.Action{}, nil
}

func (f noFaults) Greylist(_ context.Context, m *fault.Mail, _ time.Duration) (bool, error) {
	f.tb.Errorf("Greylist(%+v) was called, want that only for a mail of the sink or of a project", m)
	return true, nil
}

func (f noFaults) Bounce(_ context.Context, b *smtpd.Bounce) error {
	f.tb.Errorf("Bounce(%+v) was called, want that only for a mail of the sink or of a project", b)
	return nil
}

// Mail for other mailboxes allocates nothing for faults and transcripts, and is never asked about, whatever the tags of its addresses.
func TestFaultsCostOtherMailNothing(t *testing.T) {
	ordinary := smtpd.Config{}
	faulty := smtpd.Config{
		Faults:      noFaults{t},
		Transcribe:  func(tr *transcript.Transcript) { t.Errorf("Transcribe(%+v) is called, want no transcript", tr) },
		Transcribes: func(netip.Addr) bool { return false },
	}
	allocs := func(cfg smtpd.Config) float64 {
		_, addr := serve(t, cfg, sink{})
		s := &sender{b: new(testing.B), addr: addr, r: bufio.NewReader(nil)}
		defer s.hangUp()
		return testing.AllocsPerRun(200, func() { s.send([]byte("Subject: one\r\n\r\none\r\n.\r\n")) })
	}
	var before, after float64
	for range 10 { // other goroutines allocate as well, and the race detector empties pools
		if before, after = allocs(ordinary), allocs(faulty); after <= before {
			break
		}
	}
	if after > before {
		t.Errorf("a mail allocates %v times with faults and transcripts, want %v as without", after, before)
	}
	in := &fakeInbound{}
	_, addr := serve(t, faulty, in)
	s := &sender{b: new(testing.B), addr: addr, r: bufio.NewReader(nil)}
	defer s.hangUp()
	s.send([]byte("Subject: one\r\n\r\none\r\n.\r\n"))
	s.say("MAIL FROM:<alice@sender.test>\r\nRCPT TO:<box+fault-550@example.test>\r\nRCPT TO:<box+fault-bounce@example.test>\r\nDATA\r\n", 4)
	s.say("Subject: two\r\n\r\ntwo\r\n.\r\n", 1)
	if n := len(in.deliveries()); n != 2 {
		t.Errorf("%d mails are delivered, want 2", n)
	}
}
