package inbound_test

import (
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/once"
	"github.com/gonebox/gonebox/internal/problem"
)

// deliverOnce delivers a mail that may be sent again to recipients that were accepted.
func (f *fixture) deliverOnce(content string, to ...inbound.Recipient) error {
	key := once.NewKey("mail", content)
	_, err := f.in.Deliver(f.t.Context(), &inbound.Envelope{
		From: "a@sender.example", To: to, Helo: "sender.example", RemoteIP: netip.MustParseAddr("192.0.2.1"), Protocol: "HTTP", ReceivedAt: f.clock.Now(),
		Source: "ingress", Once: &key,
	}, []byte(content))
	return err
}

// accept returns the recipient for an address.
func (f *fixture) accept(address string) inbound.Recipient {
	f.t.Helper()
	r, err := f.in.Accept(f.t.Context(), address)
	if err != nil {
		f.t.Fatalf("Accept(%s): %v", address, err)
	}
	return r
}

// Many copies of a mail that arrive at the same time, some of them in one batch, are stored once.
func TestRepeatedMailIsStoredOnce(t *testing.T) {
	run(t, 100, func(t *testing.T, f *fixture) {
		box := f.box("ada")
		to := f.accept(box.Address)
		var stored atomic.Int64
		var sending sync.WaitGroup
		for range 20 {
			sending.Go(func() {
				err := f.deliverOnce("Subject: again\r\n\r\nhi\r\n", to)
				if err == nil {
					stored.Add(1)
				} else if !errors.Is(err, once.ErrRepeated) {
					t.Errorf("Deliver of a mail that was stored: %v, want ErrRepeated", err)
				}
			})
		}
		sending.Wait()
		if got := f.subjects(box); got != "again" || stored.Load() != 1 {
			t.Errorf("the mailbox has %q after %d successful deliveries, want one mail", got, stored.Load())
		}
	})
}

// A mail that a mailbox rejected is not remembered, and is stored once it is sent again and fits.
func TestRejectedMailCanBeSentAgain(t *testing.T) {
	run(t, 1, func(t *testing.T, f *fixture) {
		box := f.box("ada")
		to := f.accept(box.Address) // before the mailbox is full
		if err := f.deliverOnce("Subject: first\r\n\r\nhi\r\n", to); err != nil {
			t.Fatalf("Deliver to an empty mailbox: %v", err)
		}
		const second = "Subject: second\r\n\r\nhi\r\n"
		for range 2 {
			if err := f.deliverOnce(second, to); !problem.Has(err, problem.MailMailboxFull) {
				t.Fatalf("Deliver to a full mailbox: %v, want mail.mailbox_full", err)
			}
		}
		page, err := f.mail.List(t.Context(), box.ID, message.Query{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.mail.Delete(t.Context(), box.ID, page.Messages[0].ID()); err != nil {
			t.Fatalf("Delete the first message: %v", err)
		}
		if err := f.deliverOnce(second, to); err != nil || f.subjects(box) != "second" {
			t.Errorf("Deliver when there is a place again: %v, and the mailbox has %q, want the second mail", err, f.subjects(box))
		}
	})
}
