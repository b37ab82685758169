package account_test

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/problem"
)

// Whatever is wrong, one hash at the current cost is computed, and the error is the same.
func TestEveryFailedSignInCostsOneHash(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.register()
		_, _, err := f.Register(t.Context(), account.Registration{Email: "off@example.org", Password: password})
		wantCode(t, "register", err, "")
		if _, err := f.registry.SetDisabled(t.Context(), "off@example.org", true); err != nil {
			t.Fatal(err)
		}
		f.activate(f.account())
		var costs []account.Cost
		f.OnDerive(func(c account.Cost) { costs = append(costs, c) })
		var texts []string
		for what, c := range map[string]account.Credentials{
			"unknown address":    {Email: "unknown@example.org", Password: password},
			"no address":         {Email: "", Password: ""},
			"wrong password":     {Email: email, Password: "wrong horse"},
			"wrong code":         {Email: email, Password: password, Code: "abc"},
			"disabled":           {Email: "off@example.org", Password: password},
			"disabled and wrong": {Email: "off@example.org", Password: "wrong horse"},
		} {
			costs = nil
			_, _, err := f.SignIn(t.Context(), c)
			wantCode(t, what, err, problem.AuthInvalidCredentials)
			if len(costs) != 1 || costs[0] != cheap {
				t.Errorf("%s: passwords were hashed at the costs %v, want once at %v", what, costs, cheap)
			}
			p, _ := problem.From(err)
			texts = append(texts, p.Error())
		}
		for _, text := range texts {
			if text != texts[0] {
				t.Errorf("a failed sign-in reports %q and another %q, want the same text for both", text, texts[0])
			}
		}
	})
}

// A locked account is created without the work of a hash, and a sign-in with any password costs as much as elsewhere.
func TestLockedAccountHasNoPassword(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var hashes int
		f.registry.OnDerive(func(account.Cost) { hashes++ })
		chosen, a, err := f.registry.Add(t.Context(), account.Provision{Email: email, Locked: true})
		if err != nil || chosen != "" || hashes != 0 {
			t.Fatalf("Add(Locked): password %q, %d hashes, error %v; want none", chosen, hashes, err)
		}
		for _, guess := range []string{"", password} {
			var costs []account.Cost
			f.OnDerive(func(c account.Cost) { costs = append(costs, c) })
			_, err := f.signIn(email, guess, "")
			wantCode(t, "sign in with "+strconv.Quote(guess), err, problem.AuthInvalidCredentials)
			if len(costs) != 1 || costs[0] != cheap {
				t.Errorf("sign in with %q: hashes of %v, want one of %v", guess, costs, cheap)
			}
		}
		if _, _, err := f.registry.ResetPassword(t.Context(), string(a.ID), password, false); err != nil {
			t.Fatalf("ResetPassword(%s): %v", a.ID, err)
		}
		_, err = f.signIn(email, password, "")
		wantCode(t, "sign in with the password that was set", err, "")
	})
}

func TestPasswordIsRehashedWhenTheCostRises(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		open(t, d, cheap).register()
		dear := account.Cost{Memory: 16, Passes: 2, Threads: 1}
		for _, step := range []struct {
			setting account.Cost
			hashes  []account.Cost
		}{
			{cheap, []account.Cost{cheap}},
			{dear, []account.Cost{cheap, dear}},
			{dear, []account.Cost{dear}},
			{cheap, []account.Cost{dear}}, // it never gets cheaper
		} {
			h := open(t, d, step.setting)
			var got []account.Cost
			h.OnDerive(func(c account.Cost) { got = append(got, c) })
			_, err := h.signIn(email, password, "")
			wantCode(t, "sign in", err, "")
			if len(got) != len(step.hashes) || got[0] != step.hashes[0] || got[len(got)-1] != step.hashes[len(got)-1] {
				t.Errorf("at %v: hashes of %v, want %v", step.setting, got, step.hashes)
			}
			_, err = h.signIn(email, "wrong horse", "")
			wantCode(t, "wrong password", err, problem.AuthInvalidCredentials)
		}
	})
}

// A wrong password takes the work of a hash at the current cost, whatever the cost of the account's own, as it does without an account.
func TestWrongPasswordsTakeTheWorkOfTheCurrentCost(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		open(t, d, account.Cost{Memory: 64, Passes: 1, Threads: 1}).register()
		for _, setting := range []account.Cost{{64, 1, 1}, {128, 1, 1}, {96, 2, 1}, {1024, 2, 2}} {
			h := open(t, d, setting)
			var work uint32
			h.OnDerive(func(c account.Cost) { work += c.Memory * c.Passes })
			for what, who := range map[string]string{"an account": email, "no account": "unknown@example.org"} {
				work = 0
				_, err := h.signIn(who, "wrong horse", "")
				wantCode(t, "sign in to "+what, err, problem.AuthInvalidCredentials)
				if want := setting.Memory * setting.Passes; work != want {
					t.Errorf("at %v a wrong password for %s took hashes of %d KiB in all, want %d", setting, what, work, want)
				}
			}
		}
	})
}

// A sign-in with the old password that is under way during a reset must not get a token.
func TestResetPasswordFailsAConcurrentSignIn(t *testing.T) {
	for what, change := range map[string]func(f *fixture) error{
		"reset": func(f *fixture) error {
			_, _, err := f.registry.ResetPassword(f.t.Context(), email, "another horse", false)
			return err
		},
		"disabled": func(f *fixture) error { _, err := f.registry.SetDisabled(f.t.Context(), email, true); return err },
	} {
		each(t, func(t *testing.T, f *fixture) {
			f.register()
			var once sync.Once
			f.OnDerive(func(account.Cost) {
				once.Do(func() {
					if err := change(f); err != nil {
						t.Error(err)
					}
				})
			})
			_, err := f.signIn(email, password, "")
			wantCode(t, what, err, problem.AuthInvalidCredentials)
			if n := f.count("SELECT count(*) FROM user_token"); n != 0 {
				t.Errorf("%s: %d tokens are left, want 0", what, n)
			}
		})
	}
}

func (f *fixture) count(query string) (n int) {
	f.t.Helper()
	if err := f.db.QueryRow(f.t.Context(), query).Scan(&n); err != nil {
		f.t.Fatal(err)
	}
	return n
}

func TestThousandConcurrentSignInsAreAnswered(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.register()
		cores, _, _ := f.Gate()
		var now, most, right, wrong, busy atomic.Int64
		f.OnDerive(func(account.Cost) {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
		})
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() {
				who := email
				if i%2 == 0 {
					who = "unknown@example.org"
				}
				client := strconv.Itoa(i % 100) // of which each holds a few slots at once
				_, _, err := f.signInFrom(t.Context(), client, account.Credentials{Email: who, Password: password})
				switch {
				case err == nil:
					right.Add(1)
				case problem.Has(err, problem.AuthInvalidCredentials):
					wrong.Add(1)
				case problem.Has(err, problem.RateLimited):
					busy.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if right.Load()+wrong.Load()+busy.Load() != 1000 || right.Load() > 500 || wrong.Load() > 500 {
			t.Errorf("1000 sign-ins: %d succeeded, %d with a wrong password, %d rejected; want 1000 in all, at most 500 of the first and at most 500 of the second", right.Load(), wrong.Load(), busy.Load())
		}
		if most.Load() > int64(cores) {
			t.Errorf("%d hashes at once, want %d at most", most.Load(), cores)
		}
		if slots, clients := f.Reserved(); slots != 0 || clients != 0 {
			t.Errorf("%d slots of %d clients are held afterwards, want 0 and 0", slots, clients)
		}
	})
}

// block stops every hash until release is called, and sends on entered when one starts.
func (f *fixture) block() (entered chan struct{}, release func()) {
	entered, gone := make(chan struct{}, 10_000), make(chan struct{})
	f.OnDerive(func(account.Cost) {
		entered <- struct{}{}
		<-gone
	})
	return entered, sync.OnceFunc(func() { close(gone) })
}

// queue blocks all hashes and starts n sign-ins, from one client each or all from the given one. They wait until release is
// called, and answer on answers.
func (f *fixture) queue(n int, client string) (entered <-chan struct{}, release func(), answers chan error) {
	f.t.Helper()
	entered, release = f.block()
	answers = make(chan error, n+1)
	for i := range n {
		wantCode(f.t, "reserve", f.attempt(cmp.Or(client, strconv.Itoa(i)), answers), "")
	}
	return entered, release, answers
}

// attempt reserves a slot and signs in to an unknown account on its own goroutine.
func (f *fixture) attempt(client string, answers chan<- error) error {
	slot, err := f.ReserveHash(client)
	if err != nil {
		return err
	}
	go func() {
		defer slot.Release()
		_, _, err := f.Service.SignIn(f.t.Context(), slot, account.Credentials{Email: "unknown@example.org", Password: password})
		answers <- err
	}()
	return nil
}

func TestFullQueueRejectsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, slots, _ := f.Gate()
		_, release, answers := f.queue(slots, "")
		defer release()
		err := f.attempt("another", answers)
		if p, _ := problem.From(err); p.Code != problem.RateLimited || p.RetryAfter <= 0 {
			t.Errorf("with a full queue: %v, want Code %v and RetryAfter more than 0", err, problem.RateLimited)
		}
		_, _, err = f.Register(t.Context(), account.Registration{Email: email, Password: password})
		wantCode(t, "registering goes through the same queue", err, problem.RateLimited)
		release()
		for range slots {
			wantCode(t, "a queued sign-in", <-answers, problem.AuthInvalidCredentials)
		}
	})
}

// A client that signs in as often as it can leaves most of the queue to others.
func TestOneClientHasFewSlots(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, slots, share := f.Gate()
		if share*8 > slots {
			t.Errorf("one client may hold %d of %d slots, want at most an eighth", share, slots)
		}
		_, release, answers := f.queue(share, "flood")
		defer release()
		err := f.attempt("flood", answers)
		if p, _ := problem.From(err); p.Code != problem.RateLimited || p.RetryAfter <= 0 {
			t.Errorf("one more than its share: %v, want Code %v and RetryAfter more than 0", err, problem.RateLimited)
		}
		wantCode(t, "another client", f.attempt("another", answers), "")
		release()
		for range share + 1 {
			wantCode(t, "a queued sign-in", <-answers, problem.AuthInvalidCredentials)
		}
		wantCode(t, "afterwards", f.attempt("flood", answers), "")
		<-answers
	})
}

// A sign-in whose context is canceled while it waits gives its slot back without computing a hash.
func TestCanceledSignInLeavesTheQueue(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		cores, _, _ := f.Gate()
		entered, release, answers := f.queue(cores, "")
		defer release()
		for range cores {
			<-entered
		}
		ctx, cancel := context.WithCancel(t.Context())
		slot, err := f.ReserveHash("another")
		wantCode(t, "reserve", err, "")
		gone := make(chan error)
		go func() {
			_, _, err := f.Service.SignIn(ctx, slot, account.Credentials{Email: email, Password: password})
			slot.Release()
			gone <- err
		}()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf(`f.ReserveHash("another") = %v, want the error %v`, err, context.Canceled)
		}
		if slots, clients := f.Reserved(); slots != cores || clients != cores {
			t.Errorf("%d slots of %d clients are held, want %d", slots, clients, cores)
		}
		release()
		for range cores {
			<-answers
		}
	})
}

const example = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQxMjM0NTY3OA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

func TestPHCStringsAreParsedStrictly(t *testing.T) {
	got, cost, err := account.ReparsePHC(example)
	if err != nil || got != example || (cost != account.Cost{Memory: 19456, Passes: 2, Threads: 1}) {
		t.Fatalf("account.ReparsePHC(example) = %s, %v, %v, want no error, %v and %v", got, cost, err, example, account.Cost{Memory: 19456, Passes: 2, Threads: 1})
	}
	for old, wrong := range map[string]string{
		"argon2id": "argon2i", "v=19": "v=16", "m=19456": "m=019456", "t=2": "t=0", "p=1": "p=256", ",t=2": "", "m=1": "m=+1",
		"c29tZXNhbHQxMjM0NTY3OA": "c29tZQ", "$AAAA": "$!AAA", "AAA$": "", "$m": "m", "m=19456,t=2,p=1": "m=8,t=2,p=2", "$AA": "$\nAA",
		"t=2,": "t=2,x=1,", "OA$": "OB$",
	} {
		text := strings.Replace(example, old, wrong, 1)
		if text == example {
			continue
		}
		if _, _, err := account.ReparsePHC(text); err == nil || strings.Contains(err.Error(), "AAAA") {
			t.Errorf(`%s: account.ReparsePHC(text) = %v, want an error and no "AAAA" in it`, text, err)
		}
	}
}

func FuzzPHC(f *testing.F) {
	f.Add(example)
	f.Add("$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA")
	f.Add("$argon2id$v=19$m=,t=,p=$$")
	f.Fuzz(func(t *testing.T, text string) {
		again, cost, err := account.ReparsePHC(text)
		if err != nil {
			return
		}
		if again != text {
			t.Errorf("the hash parsed from %q is formatted as %q, want the same text", text, again)
		}
		if cost.Passes < 1 || cost.Threads < 1 || cost.Memory < 8*uint32(cost.Threads) {
			t.Errorf("%q costs %v, want Passes at least 1, Threads at least 1 and Memory at least %v", text, cost, 8*uint32(cost.Threads))
		}
	})
}
