package raw_test

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/raw"
)

const noLimit = 1 << 30

func openFaulty(t testing.TB, f *raw.Faults) (s *raw.Segments, dir string) {
	t.Helper()
	dir = t.TempDir()
	s, err := raw.OpenFaulty(dir, clock.NewFake(start), slog.New(slog.DiscardHandler), f, noLimit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

func mustAppend(t testing.TB, s *raw.Segments, body []byte) (raw.Ref, *raw.Sync) {
	t.Helper()
	refs, synced, err := s.Append(start, records(free, body))
	if err != nil {
		t.Fatal(err)
	}
	return refs[0], synced
}

// gate blocks every operation that calls pass until the test lets it continue.
type gate struct{ begun, free chan struct{} }

func newGate() gate { return gate{make(chan struct{}, 100), make(chan struct{})} }

func (g gate) pass() error {
	g.begun <- struct{}{}
	<-g.free
	return nil
}

func TestWaitReturnsOnlyAfterTheSync(t *testing.T) {
	for name, faults := range map[string]func(*raw.Faults, func() error){
		"file":   func(f *raw.Faults, hold func() error) { f.Datasync = hold },
		"folder": func(f *raw.Faults, hold func() error) { f.SyncFolder = hold },
	} {
		f := &raw.Faults{}
		s, _ := openFaulty(t, f)
		synctest.Test(t, func(t *testing.T) {
			g := newGate()
			faults(f, g.pass)
			_, synced := mustAppend(t, s, text(3000)) // returns although the disk is stuck
			var done atomic.Bool
			go func() { synced.Wait(); done.Store(true) }()
			synctest.Wait()
			if done.Load() {
				t.Errorf("%s: Wait returned before the sync, want it to wait", name)
			}
			close(g.free)
			if err := synced.Wait(); err != nil {
				t.Errorf("%s: Wait = %v", name, err)
			}
			synctest.Wait()
			s.Close()
		})
	}
}

func TestAppendsShareTheNextSync(t *testing.T) {
	f := &raw.Faults{}
	s, _ := openFaulty(t, f)
	synctest.Test(t, func(t *testing.T) {
		g, folders := newGate(), 0
		f.Datasync, f.SyncFolder = g.pass, func() error { folders++; return nil }
		_, first := mustAppend(t, s, text(3000))
		<-g.begun
		var rest []*raw.Sync
		for range 10 {
			_, synced := mustAppend(t, s, text(3000))
			rest = append(rest, synced)
		}
		var early atomic.Bool
		go func() { rest[0].Wait(); early.Store(true) }()
		g.free <- struct{}{}
		if err := first.Wait(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if early.Load() {
			t.Error("Wait returned after a sync that began before the append, want it to wait for the next")
		}
		g.free <- struct{}{}
		for _, synced := range rest {
			if err := synced.Wait(); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if n := 1 + len(g.begun); n != 2 || folders != 1 {
			t.Errorf("%d syncs of the file and %d of the folder, want 2 and 1", n, folders)
		}
		s.Close()
	})
}

var errDisk = errors.New("disk on fire")

func TestAFailedSyncFailsAllInFlightAndNothingElse(t *testing.T) {
	f := &raw.Faults{}
	s, dir := openFaulty(t, f)
	var before raw.Ref
	synctest.Test(t, func(t *testing.T) {
		before = keep(t, s, start, records(free, text(2000)))[0]
		g := newGate()
		f.Datasync = func() error { g.pass(); return errDisk }
		lost, running := mustAppend(t, s, text(3000))
		<-g.begun
		alsoLost, waiting := mustAppend(t, s, text(4000))
		g.free <- struct{}{}
		for _, synced := range []*raw.Sync{running, waiting, running} {
			if err := synced.Wait(); !errors.Is(err, errDisk) {
				t.Errorf("Wait = %v, want the error %v", err, errDisk)
			}
		}
		synctest.Wait()
		wantGone(t, s, lost, raw.ErrGone)
		wantGone(t, s, alsoLost, raw.ErrGone)
		wantBody(t, s, before, text(2000))

		f.Datasync = nil
		after, synced := mustAppend(t, s, text(5000))
		if err := synced.Wait(); err != nil {
			t.Errorf("the store did not begin anew: %v", err)
		}
		wantBody(t, s, after, text(5000))
		if n := len(files(t, dir)); n != 2 {
			t.Errorf("%d files, want the sealed one and a new one", n)
		}
		s.Close()
	})
	again := open(t, dir, clock.NewFake(start))
	wantBody(t, again, before, text(2000))
}

func TestAFailedFolderSyncIsAnError(t *testing.T) {
	f := &raw.Faults{}
	s, _ := openFaulty(t, f)
	f.SyncFolder = func() error { return errDisk }
	if _, synced := mustAppend(t, s, text(100)); !errors.Is(synced.Wait(), errDisk) {
		t.Errorf("Wait returned another error or none, want %v, since the name of the file is not on stable storage", errDisk)
	}
}

func TestAFailedWriteLeavesNoHalfRecord(t *testing.T) {
	for _, short := range []int{0, 3, 8, 500} {
		f := &raw.Faults{}
		s, dir := openFaulty(t, f)
		before, synced := mustAppend(t, s, text(2000))
		if err := synced.Wait(); err != nil {
			t.Fatal(err)
		}
		f.Write = func([]byte) (int, error) { return short, syscall.ENOSPC }
		lost, synced := mustAppend(t, s, randomBytes(3000))
		if err := synced.Wait(); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("Wait = %v, want the error %v", err, syscall.ENOSPC)
		}
		f.Write = nil
		wantGone(t, s, lost, raw.ErrGone)
		after, synced := mustAppend(t, s, text(4000))
		if err := synced.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, reader := range []*raw.Segments{s, reopened(t, s, dir)} {
			wantBody(t, reader, before, text(2000))
			wantBody(t, reader, after, text(4000))
		}
	}
}

func reopened(t testing.TB, s *raw.Segments, dir string) *raw.Segments {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, dir, clock.NewFake(start))
}

// On a full disk, a failed append does not leave an empty file.
func TestASegmentWithoutARecordIsRemoved(t *testing.T) {
	f := &raw.Faults{Write: func([]byte) (int, error) { return 0, syscall.ENOSPC }}
	s, dir := openFaulty(t, f)
	for range 3 {
		_, synced := mustAppend(t, s, text(2000))
		if err := synced.Wait(); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("Wait = %v, want the error %v", err, syscall.ENOSPC)
		}
	}
	s.Close()
	if left := files(t, dir); len(left) != 0 {
		t.Errorf("the folder has %v, want no file left", left)
	}
}

// Records that wait behind a failed write fail as well, since they would be written behind the cut.
func TestAFailedWriteFailsWaitingRecords(t *testing.T) {
	f := &raw.Faults{}
	s, _ := openFaulty(t, f)
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		f.Write = func([]byte) (int, error) { return 7, errors.Join(g.pass(), syscall.EIO) }
		_, running := mustAppend(t, s, text(3000)) // returns although the disk is stuck
		<-g.begun
		_, waiting := mustAppend(t, s, text(3000))
		close(g.free)
		for _, synced := range []*raw.Sync{running, waiting} {
			if err := synced.Wait(); !errors.Is(err, syscall.EIO) {
				t.Errorf("Wait = %v, want the error %v", err, syscall.EIO)
			}
		}
		synctest.Wait()
		f.Write = nil
		ref, synced := mustAppend(t, s, text(4000))
		if err := synced.Wait(); err != nil {
			t.Errorf("the store did not begin anew: %v", err)
		}
		wantBody(t, s, ref, text(4000))
		s.Close()
	})
}

func TestFailedCreationOfASegmentFailsAppend(t *testing.T) {
	f := &raw.Faults{Create: func(string) error { return syscall.EMFILE }}
	s, _ := openFaulty(t, f)
	if _, _, err := s.Append(start, records(free, text(100))); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("Append = %v, want the error %v", err, syscall.EMFILE)
	}
	f.Create = nil
	wantBody(t, s, keep(t, s, start, records(free, text(100)))[0], text(100))
}

func TestCloseWaitsForTheSync(t *testing.T) {
	f := &raw.Faults{}
	s, _ := openFaulty(t, f)
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		f.Datasync = g.pass
		_, synced := mustAppend(t, s, text(100))
		<-g.begun
		var closed atomic.Bool
		var closing sync.WaitGroup
		closing.Go(func() { s.Close(); closed.Store(true) })
		synctest.Wait()
		if closed.Load() {
			t.Error("Close returned before the sync, want it to wait")
		}
		close(g.free)
		closing.Wait()
		if err := synced.Wait(); err != nil {
			t.Error(err)
		}
	})
}
