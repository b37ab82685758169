package system_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMailIsDeferredWhenDiskFails lets one kind of system call fail while a mail arrives: the sender is told to try
// again, the mail is not stored, not even after the service was killed, and once the fault has passed the next try is
// stored once.
func TestMailIsDeferredWhenDiskFails(t *testing.T) {
	t.Parallel()
	const unavailable, full = "451 4.3.0 ", "452 4.3.1 "
	for name, fault := range map[string]struct {
		inject string
		file   string // of the data folder; "segment" is the newest one, "" every file
		reply  string
	}{
		"sync of the database":                {"fsync:error=EIO", "gonebox.db-wal", unavailable},
		"write of the database, disk full":    {"pwrite64:error=ENOSPC", "gonebox.db-wal", full},
		"write of the database":               {"pwrite64:error=EIO", "gonebox.db-wal", unavailable},
		"sync of the raw message":             {"fdatasync:error=EIO", "", unavailable},
		"write of the raw message, disk full": {"write:error=ENOSPC", "segment", full},
	} {
		for _, end := range []string{"stopped", "killed"} {
			t.Run(name+", then "+end, func(t *testing.T) {
				t.Parallel()
				need(t, "strace")
				s := start(t, options{})
				m := sampleMail("during", "during the fault")
				var box mailbox
				var reply string
				for hit := false; !hit; {
					box = s.newMailbox() // a mail that missed the fault is in that of the try before
					wantReply(t, "before the fault", send(t, s.smtp, sampleMail("before", "before"), box.Address), "250 ")
					reply, hit = sendFaulty(t, s, fault.inject, fault.file, m, box.Address)
				}
				wantReply(t, "during the fault", reply, fault.reply)
				s.wantSubjects(box, "before")
				if end == "killed" {
					s.kill()
				} else {
					s.stop()
				}
				integrity(t, s.dir)
				s.restart()
				s.wantSubjects(box, "before")
				wantReply(t, "after the fault", send(t, s.smtp, m, box.Address), "250 ")
				s.wantSubjects(box, "before", "during")
			})
		}
	}
}

// TestMailIsAcceptedAfterDiskFault continues with the same process after the fault.
func TestMailIsAcceptedAfterDiskFault(t *testing.T) {
	t.Parallel()
	for _, inject := range []string{"fsync:error=EIO", "fdatasync:error=EIO"} {
		t.Run(inject, func(t *testing.T) {
			t.Parallel()
			s := start(t, options{})
			box := s.newMailbox()
			m := sampleMail("again", "sent until it is taken")
			for range 3 {
				reply, _ := sendFaulty(t, s, inject, "", m, box.Address)
				wantReply(t, "during the fault", reply, "451 4.3.0 ")
			}
			wantReply(t, "after the fault", send(t, s.smtp, m, box.Address), "250 ")
			s.wantSubjects(box, "again")
			await(t, "readiness after the fault", s.ready)
			s.kill()
			integrity(t, s.dir)
			s.restart()
			s.wantSubjects(box, "again")
			if _, raw := s.raw(box, s.only(box).ID); string(raw) != string(m) {
				t.Errorf("the raw message is %q, want %v", raw, string(m))
			}
		})
	}
}

// TestUnacknowledgedMailIsNotShown waits for mail while one fails to reach the disk: the wait must not return it, since
// its sender tries again.
func TestUnacknowledgedMailIsNotShown(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	box := s.newMailbox()
	answer := s.longPoll(box)
	const slowly = "fdatasync:error=EIO:delay_exit=1000000"
	reply, _ := sendFaulty(t, s, slowly, "", sampleMail("during", "during"), box.Address)
	wantReply(t, "during the fault", reply, "451 4.3.0 ")
	wantReply(t, "after the fault", send(t, s.smtp, sampleMail("after", "after"), box.Address), "250 ")
	if got := <-answer; strings.Contains(got, `"during"`) || !strings.Contains(got, `"after"`) {
		t.Errorf("the long-poll during the fault was answered %s, want the mail after it alone", got)
	}
}

// TestDeferredMailIsNotCounted checks that a mail which was rolled back does not count against the daily cap.
func TestDeferredMailIsNotCounted(t *testing.T) {
	t.Parallel()
	s := start(t, options{set: map[string]string{"plans.guest.mail.daily.max": "1"}})
	box := s.newMailbox()
	m := sampleMail("again", "sent until it is taken")
	reply, _ := sendFaulty(t, s, "fdatasync:error=EIO", "", m, box.Address)
	wantReply(t, "during the fault", reply, "451 4.3.0 ")
	wantReply(t, "after the fault", send(t, s.smtp, m, box.Address), "250 ")
}

// sendFaulty sends a mail while calls on a file fail. Segments rotate every 20 seconds: if a new one was begun meanwhile,
// whose calls do not fail, hit is false.
func sendFaulty(t *testing.T, s *service, inject, file string, m []byte, to string) (reply string, hit bool) {
	t.Helper()
	args := []string{"-e", "inject=" + inject, "-e", "trace=" + inject[:strings.IndexByte(inject, ':')]}
	before := segments(t, s.dir)
	switch file {
	case "":
	case "segment":
		args = append(args, "-P", before[len(before)-1])
	default:
		args = append(args, "-P", filepath.Join(s.dir, file))
	}
	detach := attach(t, s, args...)
	reply = send(t, s.smtp, m, to)
	detach()
	return reply, file != "segment" || reply[0] == '4' || len(segments(t, s.dir)) == len(before)
}

// segments lists the files of raw messages, the newest last.
func segments(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "raw", "*.segment"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b string) int {
		x, _ := os.Stat(a)
		y, _ := os.Stat(b)
		return x.ModTime().Compare(y.ModTime())
	})
	return files
}

// wantSubjects checks what a mailbox holds, in order of arrival, and that its message count agrees.
func (a api) wantSubjects(box mailbox, want ...string) {
	a.t.Helper()
	got := []string{}
	for _, m := range a.messages(box) {
		got = append(got, m.Subject)
	}
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		a.t.Errorf("%s holds %q, want %q", box.Address, got, want)
	}
	if now := a.refresh(box); now.MessageCount != len(want) {
		a.t.Errorf("%s counts %d messages, want %d", box.Address, now.MessageCount, len(want))
	}
}
