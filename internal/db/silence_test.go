package db_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// shortTimeout is Options.Timeout where calls must fail, and longTimeout where a busy machine must answer others in time. callMax is how long a
// call may take on a busy machine, and patience only ends a test that hangs.
const (
	shortTimeout = time.Second
	longTimeout  = 10 * time.Second
	callMax      = 30 * time.Second
	patience     = 2 * time.Minute
)

// openFreezable opens a new database on a server that the test can make unresponsive. It is migrated by another DB with a longer timeout, so that
// migrating does not fail on a busy machine.
func openFreezable(t *testing.T, url string, o db.Options) *db.DB {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	migrator, err := db.Open(t.Context(), url, db.Options{Logger: o.Logger, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := migrator.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := migrator.Close(); err != nil {
		t.Fatal(err)
	}
	if o.Timeout == 0 {
		o.Timeout = shortTimeout
	}
	d, err := db.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Abort()
		if err := d.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	return d
}

func freeze(t *testing.T, s *dbtest.Server) {
	t.Helper()
	if err := s.Freeze(); err != nil {
		t.Fatal(err)
	}
}

func thaw(t *testing.T, s *dbtest.Server) {
	t.Helper()
	if err := s.Thaw(); err != nil {
		t.Fatal(err)
	}
}

func read(ctx context.Context, d *db.DB) error {
	var n int
	return d.QueryRow(ctx, "SELECT count(*) FROM public_domain").Scan(&n)
}

// callAll runs calls concurrently and returns their errors. It fails the test if one takes too long.
func callAll(t *testing.T, n int, call func(i int) error) []error {
	t.Helper()
	errs := make([]error, n)
	done := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = call(i) })
	}
	go func() {
		all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(callMax):
		t.Fatalf("not all of %d calls were answered within %s, want an answer of each", n, callMax)
	}
	return errs
}

// eventuallyOK waits until a call succeeds.
func eventuallyOK(t *testing.T, call func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err = call(); err == nil {
			return
		}
	}
	t.Fatalf("no call succeeded within %s, the last error is %v, want a recovery", patience, err)
}

func TestFrozenServerFailsCallsUntilItIsThawed(t *testing.T) {
	t.Parallel()
	server := dbtest.StartServer(t)
	d := openFreezable(t, server.URL("postgres"), db.Options{Timeout: longTimeout})
	callAll(t, 50, func(int) error { return read(t.Context(), d) })
	freeze(t, server)
	calls := []func(i int) error{
		func(int) error { return read(t.Context(), d) },
		func(i int) error { return d.Update(t.Context(), add(fmt.Sprintf("frozen%d.example", i))) },
		func(int) error { return d.Notify(t.Context(), "news", []string{"text"}) },
		func(int) error { return d.Ready(t.Context()) },
	}
	for range 2 { // the second time they fail without waiting
		for i, err := range callAll(t, 200, func(i int) error { return calls[i%4](i) }) {
			if !db.Unavailable(err) {
				t.Errorf("call %d of a frozen server: %v, want an error that the database is unavailable", i, err)
			}
		}
	}
	thaw(t, server)
	eventuallyOK(t, func() error { return d.Ready(t.Context()) })
	for i, err := range callAll(t, 40, func(i int) error { return calls[i%3](i) }) {
		if err != nil && i%3 != 1 { // an update that was given up may have been committed, and is then rejected the second time
			t.Errorf("call %d of the thawed server: %v, want no error", i, err)
		}
	}
}

// Once the server was found not to respond, the idle connections of the pool are not tried one after the other.
func TestIdleConnectionsToAServerThatVanishedAreNotTried(t *testing.T) {
	t.Parallel()
	proxy := dbtest.StartServer(t).StartProxy(t)
	d := openFreezable(t, proxy.URL("postgres"), db.Options{Timeout: longTimeout})
	busy := func(i int) error {
		if i%2 == 0 {
			return d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, "SELECT pg_sleep(0.2)")
				return err
			})
		}
		var s string
		return d.QueryRow(t.Context(), "SELECT CAST(pg_sleep(0.2) AS text)").Scan(&s)
	}
	if err := errors.Join(callAll(t, 16, busy)...); err != nil {
		t.Fatal(err)
	}
	proxy.Vanish()
	proxy.Replace()
	failed := 0
	begin := time.Now()
	for range 20 {
		if err := errors.Join(read(t.Context(), d), d.Update(t.Context(), func(context.Context, *db.Tx) error { return nil })); err != nil {
			failed++
		}
	}
	if took := time.Since(begin); failed > 3 || took > patience {
		t.Errorf("%d of 20 calls failed, in %s, want at most 3, within %s", failed, took, patience)
	}
}

func TestVanishedServerIsReplacedByAnother(t *testing.T) {
	t.Parallel()
	proxy := dbtest.StartServer(t).StartProxy(t)
	d := openFreezable(t, proxy.URL("postgres"), db.Options{})
	proxy.Vanish()
	for i, err := range callAll(t, 20, func(int) error { return read(t.Context(), d) }) {
		if !db.Unavailable(err) {
			t.Errorf("call %d of a server that vanished: %v, want an error that the database is unavailable", i, err)
		}
	}
	proxy.Replace()
	eventuallyOK(t, func() error { return errors.Join(read(t.Context(), d), d.Ready(t.Context())) })
}

func TestFewCallsWaitForASilentServer(t *testing.T) {
	t.Parallel()
	server := dbtest.StartServer(t)
	d := openFreezable(t, server.URL("postgres"), db.Options{MaxWaiting: 10, Timeout: callMax})
	freeze(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	refused := make(chan error, 100)
	for range 100 {
		go func() { refused <- read(ctx, d) }()
	}
	for range 90 {
		if err := wait(t, refused); !errors.Is(err, db.ErrUnavailable) || !strings.Contains(err.Error(), "too many") {
			t.Errorf(`refused with %v, want the error %v and "too many" in it`, err, db.ErrUnavailable)
		}
	}
	d.Abort()
	for range 10 {
		if err := wait(t, refused); !db.Unavailable(err) {
			t.Errorf("a call that waited until Abort: %v, want an error that the database is unavailable", err)
		}
	}
}

func TestListenResumesAfterTheServerWasSilent(t *testing.T) {
	t.Parallel()
	server := dbtest.StartServer(t)
	proxy := server.StartProxy(t)
	d, other := openFreezable(t, proxy.URL("postgres"), db.Options{}), openFreezable(t, server.URL("postgres"), db.Options{})
	began, heard := make(chan struct{}, 100), make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() {
		d.Listen(ctx, "news", func() { began <- struct{}{} }, func(text string) { heard <- text })
	})
	defer listening.Wait()
	defer cancel()
	wait(t, began)
	for name, silence := range map[string]func(){
		"frozen":   func() { freeze(t, server); _ = read(t.Context(), d); thaw(t, server) },
		"vanished": func() { proxy.Vanish(); proxy.Replace(); wait(t, began) },
	} {
		silence()
		for text := ""; text != name; {
			eventuallyOK(t, func() error { return other.Notify(t.Context(), "news", []string{name}) })
			select {
			case text = <-heard:
			case <-time.After(shortTimeout): // the connection may be reconnecting
			}
		}
	}
}

func TestAbortEndsCallsThatWaitForASilentServer(t *testing.T) {
	t.Parallel()
	server := dbtest.StartServer(t)
	d := openFreezable(t, server.URL("postgres"), db.Options{Timeout: time.Hour})
	sharing := openFreezable(t, server.URL("postgres"), db.Options{SharedWith: d})
	ctx, cancel := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	began := make(chan struct{}, 10)
	listening.Go(func() { d.Listen(ctx, "news", func() { began <- struct{}{} }, func(string) {}) })
	wait(t, began)
	freeze(t, server)
	failed := make(chan error, 40)
	for range 10 {
		for _, d := range []*db.DB{d, sharing} {
			go func() { failed <- read(t.Context(), d) }()
			go func() { failed <- d.Update(t.Context(), add("never.example")) }()
		}
	}
	d.Abort()
	for range 40 {
		if err := wait(t, failed); !db.Unavailable(err) {
			t.Errorf("a call after Abort: %v, want an error that the database is unavailable", err)
		}
	}
	cancel()
	callAll(t, 1, func(int) error { listening.Wait(); return errors.Join(sharing.Close(), d.Close()) })
}

func TestDeadlinesLeaveNoGoroutineBehind(t *testing.T) {
	server := dbtest.StartServer(t)
	before := goleak.IgnoreCurrent()
	d := openFreezable(t, server.URL("postgres"), db.Options{})
	freeze(t, server)
	callAll(t, 20, func(i int) error {
		if i%2 == 0 {
			return d.Update(t.Context(), add("never.example"))
		}
		return read(t.Context(), d)
	})
	d.Abort()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t, before)
}

func TestSlowStatementIsCancelledAndTheServerIsNotDown(t *testing.T) {
	t.Parallel()
	const timeout = longTimeout
	d := openFreezable(t, dbtest.EmptyPostgresURL(t), db.Options{Timeout: timeout})
	sleep := func(d time.Duration) func(ctx context.Context, tx *db.Tx) error {
		return func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, fmt.Sprintf("SELECT pg_sleep(%g)", d.Seconds()))
			return err
		}
	}
	long := make(chan error, 2)
	go func() { long <- d.Update(db.Background(t.Context()), sleep(timeout*3/2)) }()
	go func() { long <- d.Bulk(t.Context(), sleep(timeout*3/2)) }()
	slow := make(chan error, 1)
	go func() { slow <- d.Update(t.Context(), sleep(time.Minute)) }()
	for ended := false; !ended; {
		select {
		case err := <-slow:
			if ended = true; !errors.Is(err, db.ErrUnavailable) {
				t.Errorf("a statement of a minute: %v, want the error %v", err, db.ErrUnavailable)
			}
		default:
			eventuallyOK(t, func() error { return read(t.Context(), d) })
		}
	}
	for range 2 {
		if err := wait(t, long); err != nil {
			t.Errorf("a task in the background, or a bulk transaction: %v", err)
		}
	}
}

func TestLockedTableFailsAnUpdateInTime(t *testing.T) {
	t.Parallel()
	d := openFreezable(t, dbtest.EmptyPostgresURL(t), db.Options{})
	locked, done := make(chan struct{}), make(chan struct{})
	var holding sync.WaitGroup
	holding.Go(func() {
		if err := d.Bulk(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "LOCK TABLE public_domain")
			close(locked)
			<-done
			return err
		}); err != nil {
			t.Errorf("hold the lock: %v", err)
		}
	})
	wait(t, locked)
	for i, err := range callAll(t, 20, func(i int) error {
		if i%2 == 0 {
			return read(t.Context(), d)
		}
		return d.Update(t.Context(), add("locked.example"))
	}) {
		if !db.Unavailable(err) {
			t.Errorf("call %d of a locked table: %v, want an error that the database is unavailable", i, err)
		}
	}
	close(done)
	holding.Wait()
	eventuallyOK(t, func() error { return d.Update(t.Context(), add("free.example")) })
}

func TestMigrationOfASilentServerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	server := dbtest.StartServer(t)
	d := openFreezable(t, server.URL("postgres"), db.Options{})
	freeze(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	migrated := make(chan error, 1)
	go func() { _, _, err := d.Migrate(ctx); migrated <- err }()
	cancel()
	if err := wait(t, migrated); err == nil {
		t.Error("Migrate of a silent server returned no error after its context was canceled, want one")
	}
}

// A commit that was sent to a frozen server and given up is not executed when the server continues, since its session has been idle in a
// transaction for too long by then. The caller may therefore try again, and the update is stored once.
func TestAbandonedCommitIsNotExecutedLater(t *testing.T) {
	t.Parallel()
	server := dbtest.StartServer(t)
	frozen := false
	d := openFreezable(t, server.URL("postgres"), db.Options{Timeout: longTimeout, Writers: 1, Commit: func(commit func() error) error {
		if frozen {
			return commit()
		}
		frozen = true
		freeze(t, server)
		return commit()
	}})
	const name = "doubt.example"
	update := func() error {
		return d.UpdateLocked(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			if err := tx.Queue(ctx, insert, name); err != nil {
				return err
			}
			var n int
			return tx.QueryRow(ctx, "SELECT count(*) FROM public_domain").Scan(&n) // the transaction has begun on the server
		}, func(ctx context.Context, q db.Queryer) (bool, error) {
			var n int
			err := q.QueryRow(ctx, "SELECT count(*) FROM public_domain WHERE name = $1", name).Scan(&n)
			return n > 0, err
		})
	}
	if err := callAll(t, 1, func(int) error { return update() })[0]; !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("a commit that a frozen server does not answer: %v, want the error %v", err, db.ErrUnavailable)
	}
	thaw(t, server)
	eventuallyOK(t, func() error { return d.Ready(t.Context()) })
	eventuallyOK(t, func() error { // the session that held the transaction has ended
		var n int
		err := d.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'").Scan(&n)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d transactions are open", n)
		}
		return err
	})
	if got := names(t, d); got != "" {
		t.Errorf("the thawed server stored %s, want nothing of the abandoned commit", got)
	}
	eventuallyOK(t, update)
	if got := names(t, d); got != name {
		t.Errorf("stored: %s, want %v", got, name)
	}
}

// While no synchronous standby answers, PostgreSQL stops waiting for it at the statement timeout and reports the commit as successful, with a
// warning. The transaction is then stored on this server only, and lost if the server is lost. For the caller, the outcome is unknown.
func TestCommitThatNoStandbyConfirmedIsNoSuccess(t *testing.T) {
	t.Parallel()
	server := dbtest.StartServer(t, "fsync=off")
	if err := server.Create(t.Context(), "gonebox"); err != nil {
		t.Fatal(err)
	}
	d := openFreezable(t, server.URL("gonebox"), db.Options{Timeout: longTimeout})
	if err := d.Update(t.Context(), add("before.example")); err != nil {
		t.Fatal(err)
	}
	if err := server.Set(t.Context(), "synchronous_standby_names = 'absent'"); err != nil {
		t.Fatal(err)
	}
	for rows := 2; ; rows++ {
		err := d.Update(t.Context(), add(fmt.Sprintf("d%d.example", rows)))
		if err == nil && rows < 1000 { // the setting is not in effect yet
			continue
		}
		if !db.Unavailable(err) {
			t.Errorf("a commit that no standby confirmed: %v, want an error that the database is unavailable", err)
		}
		eventuallyOK(t, func() error { // on a busy machine the call may end before the server stops waiting, after which the row is visible
			n, err := count(t.Context(), d)
			if err == nil && n != rows {
				err = fmt.Errorf("%d rows, want %d: what is stored here alone is not stored again", n, rows)
			}
			return err
		})
		return
	}
}

// If one of several hosts does not respond, only its own connections are delayed: all hosts are probed at the same time, and new connections begin
// with the host that answered.
func TestConnectionsBeginWithTheHostThatAnswers(t *testing.T) {
	t.Parallel()
	server := dbtest.StartServer(t)
	first, second := server.StartProxy(t), server.StartProxy(t)
	d := openFreezable(t, "postgres://gonebox@"+first.Host()+","+second.Host()+"/postgres?sslmode=disable", db.Options{
		Timeout: longTimeout, // so that a busy machine is not mistaken for a host that is silent
	})
	callAll(t, 20, func(int) error { return read(t.Context(), d) })
	first.Vanish()
	reads := func() []error { return callAll(t, 20, func(int) error { return read(t.Context(), d) }) }
	eventuallyOK(t, func() error { return errors.Join(reads()...) })
	eventuallyOK(t, func() error { return d.Update(t.Context(), add("after.example")) })
	tried := first.Opened()
	for i, err := range reads() {
		if err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if now := first.Opened(); now != tried {
		t.Errorf("%d connections were tried with the host that is silent, want %v", now-tried, tried)
	}
}
