package system_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk mounts a small file system until the test ends. That needs root and, for ext4, a loop device.
func smallDisk(t *testing.T, kind string, size int64) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a file system takes root")
	}
	dir := t.TempDir()
	if kind == "tmpfs" {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
			t.Skipf("mount a tmpfs: %v", err)
		}
	} else {
		image := filepath.Join(t.TempDir(), "image")
		if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, size)); err != nil {
			t.Fatal(err)
		}
		for _, command := range [][]string{{need(t, "mkfs.ext4"), "-q", "-F", image}, {need(t, "mount"), "-o", "loop", image, dir}} {
			if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
				t.Skipf("this machine cannot run %v: %v: %s", command, err, out)
			}
		}
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// fillUp writes a file until no space is left.
func fillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("fill the disk: %v, want %v in the end", err, syscall.ENOSPC)
			}
			size /= 2
		}
	}
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// TestFullDisk lets another program fill the disk to the last octet.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"tmpfs", "ext4"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			disk := smallDisk(t, kind, 96<<20)
			s := start(t, options{dir: filepath.Join(disk, "data"), set: map[string]string{
				"mailbox.erase_every": "1s", "plans.guest.mailbox.ttl.default": "1h", "plans.guest.raw.retention": "1s",
			}})
			rng := rand.New(rand.NewPCG(1, 2))
			kept, ended := s.newMailbox(), s.newMailbox()
			mark, deleted := randomText(rng, 60)[:60], randomText(rng, 60)[:60]
			for _, to := range []string{kept.Address, ended.Address} {
				for i, text := range []string{mark, deleted, deleted} {
					wantReply(t, "before", send(t, s.smtp, sampleMail(fmt.Sprintf("mail %d", i), text+"\r\n"+randomText(rng, 2_000_000)), to), "250 ")
				}
			}
			await(t, "the end of the raw messages, which would make space later", func() bool { return len(s.rawFiles()) == 0 })
			s.fillForGood(disk)
			all := s.messages(kept) // the newest first
			if got := s.read(kept, all[2].ID); !strings.Contains(got.Text, mark) || got.Seen {
				t.Errorf("the message read on a full disk is %.60q, seen: %t; want %q in it, and unseen", got.Text, got.Seen, mark)
			}
			if status, body := s.call(http.MethodPatch, "/messages/"+all[2].ID, kept.Token, map[string]bool{"seen": true}); status != http.StatusServiceUnavailable {
				t.Errorf("PATCH on a full disk: %d %s, want %v", status, body, http.StatusServiceUnavailable)
			}
			if status, body := s.call(http.MethodPost, "/mailboxes/me/messages", kept.Token, map[string]string{"text": randomText(rng, 100_000)}); status != http.StatusServiceUnavailable {
				t.Errorf("an injection on a full disk: %d %s, want %v", status, body, http.StatusServiceUnavailable)
			}
			for path, token := range map[string]string{"/messages/" + all[0].ID: kept.Token, "/messages/" + all[1].ID: kept.Token, "/mailboxes/me": ended.Token} {
				if status, body := s.call(http.MethodDelete, path, token, nil); status != http.StatusNoContent {
					t.Errorf("DELETE %s on a full disk: %d %s, want %v", path, status, body, http.StatusNoContent)
				}
			}
			await(t, "what was deleted is in no file", func() bool { return occurrences(t, s.dir, deleted) == 0 })
			s.kill()
			fillUp(t, filepath.Join(disk, "filler-killed")) // with what was deleted
			s.restartAny()
			s.fillUntil(disk, s.full) // a start may free space: it truncates the log
			s.wantSubjects(kept, "mail 0")

			removeFillers(t, disk)
			before := time.Now()
			await(t, "readiness with space again", s.ready)
			t.Logf("ready %s after there was space again", time.Since(before))
			wantReply(t, "with space again", send(t, s.smtp, sampleMail("after", "after"), kept.Address), "250 ")
			s.wantSubjects(kept, "mail 0", "after")
			if got := s.read(kept, all[2].ID); !got.Seen {
				t.Error("a message that is read with space again is unseen, want it marked as seen")
			}
			s.stop()
			integrity(t, s.dir)
		})
	}
}

// TestDiskFilledByMail sends mail until the disk is full, and again after some was deleted. Raw messages within their
// retention are not what frees the space.
func TestDiskFilledByMail(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"tmpfs", "ext4"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := start(t, options{dir: filepath.Join(smallDisk(t, kind, 96<<20), "data"), set: map[string]string{"mailbox.erase_every": "1s"}})
			rng := rand.New(rand.NewPCG(1, 2))
			full, other := s.newMailbox(), s.newMailbox()
			wantReply(t, "first", send(t, s.smtp, sampleMail("first", "first"), other.Address), "250 ")
			var taken []string
			for i := 0; ; i++ {
				subject := fmt.Sprintf("mail %d", i)
				reply := send(t, s.smtp, sampleMail(subject, randomText(rng, 1_000_000)), full.Address)
				if !strings.HasPrefix(reply, "250 ") {
					wantReply(t, subject, reply, "452 4.3.1 ")
					if s.full() {
						break // and not only until the log of the database is truncated
					}
					continue
				}
				taken = append(taken, subject)
			}
			t.Logf("%d mails of 1 MB were taken", len(taken))
			s.wantSubjects(full, taken...)
			if got := s.only(other); got.Text == "" {
				t.Error("the message in the other mailbox has no text, want it readable")
			}
			if status, body := s.call(http.MethodDelete, "/mailboxes/me", full.Token, nil); status != http.StatusNoContent {
				t.Fatalf("DELETE of a mailbox: %d %s, want %v", status, body, http.StatusNoContent)
			}
			after := sampleMail("after", randomText(rng, 1_000_000))
			awaitWithin(t, 3*patience, "space for mail", func() bool { return strings.HasPrefix(send(t, s.smtp, after, other.Address), "250 ") })
			s.wantSubjects(other, "first", "after")
			s.stop()
			integrity(t, s.dir)
		})
	}
}

// fillForGood fills a disk until the service refuses writes.
func (s *service) fillForGood(disk string) {
	s.t.Helper()
	probe := s.newMailbox()
	s.fillUntil(disk, func() bool {
		if !s.full() {
			return false
		}
		reply := send(s.t, s.smtp, sampleMail("probe", "probe"), probe.Address)
		status, _ := s.call(http.MethodPost, "/mailboxes", "", nil)
		return strings.HasPrefix(reply, "452 4.3.1 ") && status == http.StatusServiceUnavailable
	})
}

// fillUntil fills a disk until a condition holds. That may take several files: for some seconds after a start, after mail
// has arrived and after some was deleted the service frees space, in its log and in raw messages past their retention.
func (s *service) fillUntil(disk string, condition func() bool) {
	s.t.Helper()
	await(s.t, "a full disk", func() bool {
		filler, err := os.CreateTemp(disk, "filler-*")
		if err != nil {
			s.t.Fatal(err)
		}
		filler.Close()
		fillUp(s.t, filler.Name())
		return condition()
	})
}

// rawFiles returns the files of raw messages.
func (s *service) rawFiles() (files []string) {
	s.t.Helper()
	err := filepath.WalkDir(filepath.Join(s.dir, "raw"), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && e.Name() != "LOCK" {
			files = append(files, path)
		}
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

// removeFillers removes the files that filled a disk.
func removeFillers(t *testing.T, disk string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(disk, "filler-*"))
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// full reports whether readiness says that the disk is full.
func (s *service) full() bool {
	s.t.Helper()
	return strings.Contains(s.probe().Checks["database"], "disk is full")
}

func (s *service) wantFull() {
	s.t.Helper()
	if !s.full() {
		s.t.Error("/readyz does not say that the disk is full, want it to")
	}
}

// restartAny is restart for a service that may not become ready.
func (s *service) restartAny() {
	s.t.Helper()
	s.proc = launch(s.t, s.o.wrap, s.arguments()...)
	await(s.t, "an answer", func() bool {
		res, err := http.Get("http://" + s.http + "/healthz")
		if err != nil {
			return !s.proc.running()
		}
		return res.Body.Close() == nil
	})
}

// occurrences counts a text in the files of a folder.
func occurrences(t *testing.T, dir, text string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return ignoreGone(err)
		}
		content, err := os.ReadFile(path)
		n += bytes.Count(content, []byte(text))
		return ignoreGone(err)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ignoreGone ignores the error of a file that the service has just removed.
func ignoreGone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
