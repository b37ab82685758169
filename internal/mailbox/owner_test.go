package mailbox_test

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// noContents are the contents of mailboxes without messages.
type noContents struct{}

func (noContents) EraseTx(context.Context, *db.Tx, []id.Mailbox, int) (bool, error) { return true, nil }

// newService returns a service whose accounts may have max live mailboxes and get six messages a day.
func newService(t testing.TB, d *db.DB, c clock.Clock, max int) *mailbox.Service {
	t.Helper()
	keys, err := token.NewKeyring(token.Key{ID: 1, Secret: [32]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	limits := mailbox.Limits{TTLDefault: time.Hour, TTLMax: 24 * time.Hour, LiveMax: max, DailyMail: 6}
	return mailbox.New(mailbox.Parts{
		DB: d, Clock: c, Keys: keys, Wake: wake.New(), Plans: &plan{limits}, Domains: publicDomain{}, Policy: mailbox.Policy{Cooldown: time.Hour, MaxMessages: 1000}, HoldSecret: []byte("hold"),
	})
}

// An account never has more live mailboxes than its plan allows, and is never refused one that it allows, however
// mailboxes are made, destroyed, expire and are swept.
func TestLiveMailboxesOfAnAccountAreCountedExactly(t *testing.T) {
	const max = 4
	d, c := dbtest.Open(t, db.Options{}), clock.NewFake(noon())
	s := newService(t, d, c, max)
	rapid.Check(t, func(rt *rapid.T) {
		account := id.New[id.Account](c.Now())
		var made []*mailbox.Mailbox
		live := func() (boxes []*mailbox.Mailbox) {
			for _, m := range made {
				if m.Live(c.Now()) {
					boxes = append(boxes, m)
				}
			}
			return boxes
		}
		rt.Repeat(map[string]func(*rapid.T){
			"create": func(rt *rapid.T) {
				m, err := s.Create(t.Context(), mailbox.CreateParams{TTL: time.Duration(rapid.IntRange(1, 20).Draw(rt, "minutes")) * time.Minute}, mailbox.Owner{Account: account})
				full := len(live()) >= max
				if full != problem.Has(err, problem.MailboxLimitReached) || !full && err != nil {
					rt.Fatalf("Create beside %d live mailboxes of at most %d: %v, want the problem %v only at the limit", len(live()), max, err, problem.MailboxLimitReached)
				}
				if err == nil {
					made = append(made, m)
				}
			},
			"destroy": func(rt *rapid.T) {
				boxes := live()
				if len(boxes) == 0 {
					return
				}
				gone := rapid.SampledFrom(boxes).Draw(rt, "box")
				if err := s.DestroyOwned(t.Context(), account, gone.ID); err != nil {
					rt.Fatal(err)
				}
				for i, m := range made {
					if m == gone {
						made = append(made[:i], made[i+1:]...)
						break
					}
				}
			},
			"wait": func(rt *rapid.T) {
				c.Advance(time.Duration(rapid.IntRange(1, 600).Draw(rt, "seconds")) * time.Second)
			},
			"sweep": func(rt *rapid.T) {
				if _, err := s.Sweep(t.Context(), noContents{}); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				boxes, err := s.OfAccount(t.Context(), account, "", 100)
				if err != nil || len(boxes) != len(live()) {
					rt.Fatalf("OfAccount lists %d mailboxes, %v, want the %d that live", len(boxes), err, len(live()))
				}
			},
		})
	})
}

// More expired mailboxes than one update ends do not keep an account out.
func TestManyExpiredMailboxesMakeRoom(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon())
		many, owner := newService(t, d, c, 250), mailbox.Owner{Account: id.New[id.Account](noon())}
		for range 250 {
			if _, err := many.Create(t.Context(), mailbox.CreateParams{TTL: time.Minute}, owner); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := many.Create(t.Context(), mailbox.CreateParams{}, owner); !problem.Has(err, problem.MailboxLimitReached) {
			t.Fatalf("one more: %v, want the problem %v", err, problem.MailboxLimitReached)
		}
		c.Advance(time.Minute)
		if _, err := newService(t, d, c, 2).Create(t.Context(), mailbox.CreateParams{}, owner); err != nil { // a smaller plan since
			t.Fatal(err)
		}
	})
}

// The daily cap counts over all of an account's mailboxes, to the last one, and starts more with each UTC day.
func TestTheDailyCapIsTheAccounts(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon())
		s := newService(t, d, c, 10)
		owner := mailbox.Owner{Account: id.New[id.Account](noon())}
		var boxes []string
		for range 4 {
			m, err := s.Create(t.Context(), mailbox.CreateParams{TTL: 24 * time.Hour}, owner)
			if err != nil {
				t.Fatal(err)
			}
			boxes = append(boxes, m.Address)
		}
		guest, err := s.Create(t.Context(), mailbox.CreateParams{TTL: 24 * time.Hour}, mailbox.Owner{})
		if err != nil {
			t.Fatal(err)
		}
		set := func(mails ...[]string) (taken []bool) {
			err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				taken = nil
				in, err := s.BatchTx(ctx, tx, append(boxes, guest.Address), nil)
				if err != nil {
					return err
				}
				for _, to := range mails {
					_, err := in.Reserve(to)
					if err != nil && !problem.Has(err, problem.MailDailyCap) {
						return err
					}
					taken = append(taken, err == nil)
				}
				return in.SaveTx(ctx, tx)
			})
			if err != nil {
				t.Fatal(err)
			}
			return taken
		}
		want := func(got []bool, want ...bool) {
			t.Helper()
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("taken %v, want %v", got, want)
				}
			}
		}
		want(set(boxes[:3], boxes[3:]), true, true)                                                           // 4 of 6
		want(set(boxes[:3], boxes[:2], boxes[:1], []string{guest.Address}), false, true, false, true)         // 3 would be 7
		want(set([]string{boxes[0], guest.Address}, []string{guest.Address}, boxes[2:3]), false, true, false) // all or none
		if m, limits, err := s.Find(t.Context(), boxes[3]); err != nil || !problem.Has(s.CheckQuota(m, limits), problem.MailDailyCap) {
			t.Errorf("the recipient is taken over the cap: %v, want the problem %v", err, problem.MailDailyCap)
		}
		c.Advance(12*time.Hour - time.Microsecond)
		want(set(boxes[:1]), false)
		c.Advance(time.Microsecond)
		if m, limits, err := s.Find(t.Context(), boxes[3]); err != nil || s.CheckQuota(m, limits) != nil {
			t.Errorf("Find the next day: %v, CheckQuota: %v, want no error of either", err, s.CheckQuota(m, limits))
		}
		want(set(boxes[:3], boxes[:3], boxes[:1]), true, true, false)
	})
}
