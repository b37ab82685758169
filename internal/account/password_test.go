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
	each(t, func(t *testing.T, h *fixture) {
		h.register()
		_, _, err := h.Register(t.Context(), account.Registration{Email: "off@example.org", Password: password})
		wantCode(t, "register", err, "")
		if _, err := h.registry.SetDisabled(t.Context(), "off@example.org", true); err != nil {
			t.Fatal(err)
		}
		h.activate(h.account())
		var costs []account.Cost
		h.OnDerive(func(c account.Cost) { costs = append(costs, c) })
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
			_, _, err := h.SignIn(t.Context(), c)
			wantCode(t, what, err, problem.AuthInvalidCredentials)
			if len(costs) != 1 || costs[0] != cheap {
				t.Errorf("%s: hashes of %v", what, costs)
			}
			p, _ := problem.From(err)
			texts = append(texts, p.Error())
		}
		for _, text := range texts {
			if text != texts[0] {
				t.Errorf("%q and %q tell failures apart", text, texts[0])
			}
		}
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

// A sign-in with the old password that is under way during a reset must not get a token.
func TestResetPasswordFailsAConcurrentSignIn(t *testing.T) {
	for what, change := range map[string]func(h *fixture) error{
		"reset": func(h *fixture) error {
			_, _, err := h.registry.ResetPassword(h.t.Context(), email, "another horse", false)
			return err
		},
		"disabled": func(h *fixture) error { _, err := h.registry.SetDisabled(h.t.Context(), email, true); return err },
	} {
		each(t, func(t *testing.T, h *fixture) {
			h.register()
			var once sync.Once
			h.OnDerive(func(account.Cost) {
				once.Do(func() {
					if err := change(h); err != nil {
						t.Error(err)
					}
				})
			})
			_, err := h.signIn(email, password, "")
			wantCode(t, what, err, problem.AuthInvalidCredentials)
			if n := h.count("SELECT count(*) FROM user_token"); n != 0 {
				t.Errorf("%s: %d tokens are left", what, n)
			}
		})
	}
}

func (h *fixture) count(query string) (n int) {
	h.t.Helper()
	if err := h.db.QueryRow(h.t.Context(), query).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

func TestThousandConcurrentSignInsAreAnswered(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		h.register()
		cores, _, _ := h.Gate()
		var now, most, right, wrong, busy atomic.Int64
		h.OnDerive(func(account.Cost) {
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
				_, _, err := h.signInFrom(t.Context(), client, account.Credentials{Email: who, Password: password})
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
			t.Errorf("%d right, %d wrong, %d rejected", right.Load(), wrong.Load(), busy.Load())
		}
		if most.Load() > int64(cores) {
			t.Errorf("%d hashes at once, want %d at most", most.Load(), cores)
		}
		if slots, clients := h.Reserved(); slots != 0 || clients != 0 {
			t.Errorf("%d slots of %d clients are held afterwards", slots, clients)
		}
	})
}

// block stops every hash until release is called, and sends on entered when one starts.
func (h *fixture) block() (entered chan struct{}, release func()) {
	entered, gone := make(chan struct{}, 10_000), make(chan struct{})
	h.OnDerive(func(account.Cost) {
		entered <- struct{}{}
		<-gone
	})
	return entered, sync.OnceFunc(func() { close(gone) })
}

// queue blocks all hashes and starts n sign-ins, from one client each or all from the given one. They wait until release is
// called, and answer on answers.
func (h *fixture) queue(n int, client string) (entered <-chan struct{}, release func(), answers chan error) {
	h.t.Helper()
	entered, release = h.block()
	answers = make(chan error, n+1)
	for i := range n {
		wantCode(h.t, "reserve", h.attempt(cmp.Or(client, strconv.Itoa(i)), answers), "")
	}
	return entered, release, answers
}

// attempt reserves a slot and signs in to an unknown account on its own goroutine.
func (h *fixture) attempt(client string, answers chan<- error) error {
	slot, err := h.ReserveHash(client)
	if err != nil {
		return err
	}
	go func() {
		defer slot.Release()
		_, _, err := h.Service.SignIn(h.t.Context(), slot, account.Credentials{Email: "unknown@example.org", Password: password})
		answers <- err
	}()
	return nil
}

func TestFullQueueRejectsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		_, slots, _ := h.Gate()
		_, release, answers := h.queue(slots, "")
		defer release()
		err := h.attempt("another", answers)
		if p, _ := problem.From(err); p.Code != problem.RateLimited || p.RetryAfter <= 0 {
			t.Errorf("with a full queue: %v", err)
		}
		_, _, err = h.Register(t.Context(), account.Registration{Email: email, Password: password})
		wantCode(t, "registering goes through the same queue", err, problem.RateLimited)
		release()
		for range slots {
			wantCode(t, "a queued sign-in", <-answers, problem.AuthInvalidCredentials)
		}
	})
}

// A client that signs in as often as it can leaves most of the queue to others.
func TestOneClientHasFewSlots(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		_, slots, share := h.Gate()
		if share*8 > slots {
			t.Errorf("a client may hold %d of %d slots", share, slots)
		}
		_, release, answers := h.queue(share, "flood")
		defer release()
		err := h.attempt("flood", answers)
		if p, _ := problem.From(err); p.Code != problem.RateLimited || p.RetryAfter <= 0 {
			t.Errorf("one more than its share: %v", err)
		}
		wantCode(t, "another client", h.attempt("another", answers), "")
		release()
		for range share + 1 {
			wantCode(t, "a queued sign-in", <-answers, problem.AuthInvalidCredentials)
		}
		wantCode(t, "afterwards", h.attempt("flood", answers), "")
		<-answers
	})
}

// A sign-in whose context is canceled while it waits gives its slot back without computing a hash.
func TestCanceledSignInLeavesTheQueue(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		cores, _, _ := h.Gate()
		entered, release, answers := h.queue(cores, "")
		defer release()
		for range cores {
			<-entered
		}
		ctx, cancel := context.WithCancel(t.Context())
		slot, err := h.ReserveHash("another")
		wantCode(t, "reserve", err, "")
		gone := make(chan error)
		go func() {
			_, _, err := h.Service.SignIn(ctx, slot, account.Credentials{Email: email, Password: password})
			slot.Release()
			gone <- err
		}()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if slots, clients := h.Reserved(); slots != cores || clients != cores {
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
		t.Fatalf("%s, %v, %v", got, cost, err)
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
			t.Errorf("%s: %v", text, err)
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
			t.Errorf("%q is written as %q", text, again)
		}
		if cost.Passes < 1 || cost.Threads < 1 || cost.Memory < 8*uint32(cost.Threads) {
			t.Errorf("%q costs %v", text, cost)
		}
	})
}
