package system_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestDiskFull limits the size of the service's files, so that writes fail: mail is deferred, no acknowledged mail is
// lost, and mail is accepted again once the limit is lifted.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	prlimit := need(t, "prlimit")
	s := start(t, options{wrap: []string{prlimit, "--fsize=1000000"}})
	box := s.newMailbox()
	var taken []string
	rng := rand.New(rand.NewPCG(1, 2))
	deferred := 0
	for i := 0; deferred < 3; i++ {
		if i == 200 {
			t.Fatal("200 mails were taken into files of a megabyte, want them refused before")
		}
		subject := fmt.Sprintf("mail %d", i)
		reply := send(t, s.smtp, sampleMail(subject, randomText(rng, 30_000)), box.Address)
		if strings.HasPrefix(reply, "250 ") {
			taken = append(taken, subject)
			continue
		}
		wantReply(t, subject, reply, "451 4.3.0 ")
		deferred++
	}
	s.wantSubjects(box, taken...)
	s.stop()
	integrity(t, s.dir)

	s.o.wrap = nil
	s.restart()
	s.wantSubjects(box, taken...)
	last := sampleMail("last", randomText(rng, 30_000))
	wantReply(t, "with room again", send(t, s.smtp, last, box.Address), "250 ")
	s.wantSubjects(box, append(taken, "last")...)
	if _, raw := s.raw(box, s.messages(box)[0].ID); string(raw) != string(last) {
		t.Errorf("the raw message begins with %.200q, want %v", raw, string(last))
	}
}

// randomText is text in lines that does not compress well.
func randomText(rng *rand.Rand, octets int) string {
	var b strings.Builder
	for b.Len() < octets {
		fmt.Fprintf(&b, "%016x%016x%016x%016x\r\n", rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64())
	}
	return b.String()
}
