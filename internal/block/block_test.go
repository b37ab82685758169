package block_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/block"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

func TestBlocksApplyUntilTheyEnd(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon())
		s, other := block.New(d, c), block.New(d, c) // other is another process
		var added []*block.Block
		for _, p := range []block.Params{
			{IP: "192.0.2.77/24"},
			{IP: "2001:db8::1", For: time.Hour},
			{Sender: "Spam@Example.org"},
			{Sender: "@bücher.example"},
			{Recipient: "admin*@box.example"},
			{Recipient: "one@box.example", Reason: "asked for it"},
		} {
			b, err := s.Add(t.Context(), p)
			if err != nil {
				t.Fatalf("Add(%+v): %v", p, err)
			}
			c.Advance(time.Microsecond)
			added = append(added, b)
		}
		if err := other.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		check := func(when string, v6 bool) {
			t.Helper()
			for _, s := range []*block.Service{s, other} {
				for addr, want := range map[string]bool{
					"192.0.2.1": true, "::ffff:192.0.2.1": true, "192.0.3.1": false, "2001:db8::1": v6, "2001:db8::2": false,
				} {
					if got := s.Client(netip.MustParseAddr(addr)); got != want {
						t.Errorf("%s: client %s: %v, want %v", when, addr, got, want)
					}
				}
				for sender, want := range map[string]bool{
					"spam@example.org": true, "SPAM@EXAMPLE.ORG": true, "ham@example.org": false, "a@xn--bcher-kva.example": true, "a@bücher.example": true,
					"a@sub.xn--bcher-kva.example": false, "": false, "postmaster": false,
				} {
					if got := s.Sender(sender); got != want {
						t.Errorf("%s: sender %s: %v, want %v", when, sender, got, want)
					}
				}
				for recipient, want := range map[string]bool{
					"admin@box.example": true, "Administrator@box.example": true, "admin@box.example.org": false, "one@box.example": true, "two@box.example": false,
				} {
					if got := s.Recipient(recipient); got != want {
						t.Errorf("%s: recipient %s: %v, want %v", when, recipient, got, want)
					}
				}
			}
		}
		check("at first", true)
		c.Advance(time.Hour)
		check("after an hour", false)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, err := s.List(t.Context(), "", 10)
		if err != nil || len(all) != 5 || all[0].Value != "one@box.example" || all[0].Reason != "asked for it" {
			t.Errorf("List = %v, %v, want 5 blocks, the last one first: one@box.example for the reason asked for it", all, err)
		}
		for _, b := range all {
			if err := s.Remove(t.Context(), string(b.ID)); err != nil {
				t.Error(err)
			}
		}
		if err := s.Remove(t.Context(), string(added[0].ID)); !problem.Has(err, problem.BlockNotFound) {
			t.Errorf("Remove(%s) of a removed block = %v, want the problem %v", added[0].ID, err, problem.BlockNotFound)
		}
		if err := other.Reload(t.Context()); err != nil || other.Client(netip.MustParseAddr("192.0.2.1")) || other.Recipient("one@box.example") {
			t.Errorf("Reload = %v; 192.0.2.1 is blocked: %t, one@box.example is blocked: %t, want neither after the block was removed", err, other.Client(netip.MustParseAddr("192.0.2.1")), other.Recipient("one@box.example"))
		}
	})
}

// The number of patterns is limited, since each takes a comparison. The limit does not apply to recipients without a pattern.
func TestPatternLimitSparesExactRecipients(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			for i := range block.PatternsMax {
				if _, err := tx.Exec(ctx, "INSERT INTO block (id, kind, value, reason, created_at) VALUES ($1, 'recipient', $2, '', 0)",
					id.New[id.Block](noon()), fmt.Sprintf("a%d*@box.example", i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s := block.New(d, clock.NewFake(noon()))
		if _, err = s.Add(t.Context(), block.Params{Recipient: "b*@box.example"}); !problem.Has(err, problem.BlockLimitReached) {
			t.Errorf("one more pattern: %v, want the problem %v", err, problem.BlockLimitReached)
		}
		if _, err = s.Add(t.Context(), block.Params{Recipient: "one@box.example"}); err != nil {
			t.Errorf("a recipient without a pattern: %v", err)
		}
	})
}

func TestInvalidBlocksAreRejected(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		s := block.New(d, clock.NewFake(noon()))
		for _, p := range []block.Params{
			{},
			{IP: "192.0.2.0/24", Sender: "@example.org"},
			{IP: "192.0.2"},
			{IP: "0.0.0.0/0"},
			{IP: "::/0"},
			{IP: "::ffff:192.0.2.0/120"},
			{IP: "fe80::1%eth0"},
			{Sender: "example.org"},
			{Sender: "a@"},
			{Sender: "*@example.org"},
			{Sender: strings.Repeat("a", 320) + "@example.org"},
			{Recipient: "*"},
			{Recipient: "*@*"},
			{Recipient: "a"},
			{Recipient: strings.Repeat("a*", 9)},
			{Recipient: "a b*"},
			{IP: "192.0.2.1", For: -1},
			{IP: "192.0.2.1", Reason: "two\nlines"},
		} {
			if _, err := s.Add(t.Context(), p); !problem.Has(err, problem.RequestInvalid) {
				t.Errorf("%+v: s.Add(p) = %v, want the problem %v", p, err, problem.RequestInvalid)
			}
		}
	})
}

// Looking up a client takes less than 50 µs if 100,000 networks are blocked.
func BenchmarkClient(b *testing.B) {
	x := block.New(nil, clock.System())
	x.Fill(func(add func(kind block.Kind, value string)) {
		for i := range 100_000 {
			add(block.IP, fmt.Sprintf("%d.%d.%d.0/%d", 11+i>>16, i>>8&255, i&255, 24+i%9))
			add(block.IP, fmt.Sprintf("2001:%x:%x::/%d", i>>12, i&0xfff, 48+i%81))
		}
	})
	for _, text := range []string{"203.0.113.9", "2a00:1450::1"} {
		addr := netip.MustParseAddr(text)
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if x.Client(addr) {
					b.Fatalf("Client(%s) = true, want false", addr)
				}
			}
		})
	}
}

// BenchmarkRecipient compares a recipient with the largest number of patterns, each of which is slow to compare with it.
func BenchmarkRecipient(b *testing.B) {
	x := block.New(nil, clock.System())
	x.Fill(func(add func(kind block.Kind, value string)) {
		for i := range 1000 {
			add(block.Recipient, fmt.Sprintf("*a*a*a*a*a*a*%d@box.example", i))
		}
	})
	address := strings.Repeat("a", 64) + "@box.example"
	for b.Loop() {
		if x.Recipient(address) {
			b.Fatalf("Recipient(%s) = true, want false", address)
		}
	}
}

// meanwhile is a clock that calls a function once, when its time is read.
type meanwhile struct {
	*clock.Fake
	do func()
}

func (m *meanwhile) Now() time.Time {
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return m.Fake.Now()
}

// Of two reloads at the same time the one that has read the older version does not replace what the newer one has read.
func TestOvertakenReloadReadsAgain(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := &meanwhile{Fake: clock.NewFake(noon())}
		s, other := block.New(d, c), block.New(d, clock.NewFake(noon()))
		if _, err := other.Add(t.Context(), block.Params{IP: "192.0.2.1"}); err != nil {
			t.Fatal(err)
		}
		c.do = func() { // between reading the version and reading the blocks
			if _, err := other.Add(t.Context(), block.Params{IP: "192.0.2.2"}); err != nil {
				t.Fatal(err)
			}
			if err := s.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := s.Version(), other.Version(); got != want {
			t.Errorf("Reload that another one has overtaken left version %d in effect, want %d", got, want)
		}
	})
}
