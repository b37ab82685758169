package mailbox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// The sink takes the mail of domains that are not served otherwise: every address is accepted, and its first mail opens a
// mailbox of the sink's account (docs/spec/dev.md#the-sink). Those mailboxes are bounded by Policy.SinkMax and not by the plan, and
// have no cool-down, since no others can have their addresses.

// CheckSink returns the limits of a mailbox that mail to the sink could open for an account now. Error: mail.daily_cap,
// mail.mailbox_unknown for a local part that is too long.
func (s *Service) CheckSink(ctx context.Context, account id.Account, local string) (Limits, error) {
	if local == "" || len(local) > localMax {
		return Limits{}, problem.New(problem.MailMailboxUnknown)
	}
	limits, err := s.plans.MailboxLimits(ctx, account)
	if err != nil {
		return limits, err
	}
	today, err := dayCountOf(ctx, s.db, account)
	if err != nil {
		return limits, err
	}
	limits.RawFor = s.policy.SinkTTL
	return limits, s.checkQuota(&Mailbox{account: today}, limits, 0)
}

// OpenSink returns the live mailbox of the sink at an address, which it creates if there is none, so that a client can wait for the
// first mail to it. local is generated if it is "". A new mailbox lives for ttl, or as long as one that mail opens if that is 0; one that
// exists keeps its time. account is that of the sink, and domain one of its. Errors: request.invalid, mailbox.ttl_too_long,
// mailbox.local_part_taken if the address is in use otherwise.
func (s *Service) OpenSink(ctx context.Context, account id.Account, local, domain string, ttl time.Duration) (m *Mailbox, err error) {
	switch {
	case ttl != 0 && ttl < MinTTL:
		return nil, problem.Invalid("/ttl", "must be at least %d seconds", int(MinTTL.Seconds()))
	case ttl > s.policy.SinkTTL:
		return nil, problem.Detailf(problem.MailboxTTLTooLong, "mailboxes of the sink live for at most %d seconds", int(s.policy.SinkTTL.Seconds()))
	case local != "" && checkLocalPart(local) != nil:
		return nil, checkLocalPart(local)
	}
	for try := range generateTries {
		name := local
		if name == "" {
			name = generated(try)
		}
		opened := false
		err := s.db.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			m, opened, err = s.openSinkTx(ctx, tx, account, name+"@"+domain, ttl)
			return err
		}, nil)
		if err != nil || opened || local != "" {
			return m, err
		}
	}
	return nil, problem.New(problem.MailboxLocalPartTaken)
}

// openSinkTx is OpenSink for one address. opened is false if the mailbox existed.
func (s *Service) openSinkTx(ctx context.Context, tx *db.Tx, account id.Account, address string, ttl time.Duration) (m *Mailbox, opened bool, err error) {
	b, err := s.BatchTx(ctx, tx, []string{address}, map[string]id.Account{address: account})
	if err != nil {
		return nil, false, err
	}
	box := b.boxes[address]
	if box == nil || box.Source != Sink || box.Owner.Account != account {
		return nil, false, problem.New(problem.MailboxLocalPartTaken)
	}
	if !box.unopened {
		return box.Mailbox, false, nil
	}
	if ttl != 0 {
		box.ExpiresAt = box.CreatedAt.Add(ttl)
	}
	b.open(box)
	return box.Mailbox, true, b.SaveTx(ctx, tx)
}

// limitsOf returns the limits of a mailbox, given those of its owner.
func (s *Service) limitsOf(m *Mailbox, l Limits) Limits {
	switch m.Source {
	case Sink:
		l.RawFor = s.policy.SinkTTL
	case Staff:
		l.DailyMail = staffDaily
	}
	return l
}

// sinkTx adds an unopened mailbox for each address of the sink that has no live mailbox, and ends the oldest of an account that
// would have too many. sink maps addresses to the sink's account; without any it runs no statement.
func (b *Batch) sinkTx(ctx context.Context, tx *db.Tx, sink map[string]id.Account) error {
	var unused []*batchBox
	wanted := make(map[id.Account]int)
	for _, address := range slices.Sorted(maps.Keys(sink)) {
		box := b.boxes[address]
		if box != nil && (box.unopened || box.Live(b.now)) {
			continue
		}
		local, domain := split(address)
		unused = append(unused, &batchBox{unopened: true, Mailbox: &Mailbox{
			ID: id.New[id.Mailbox](b.now), Address: address, LocalPart: local, Domain: domain, Source: Sink,
			Owner: Owner{Account: sink[address]}, CreatedAt: b.now.Truncate(time.Microsecond), epoch: 1,
		}})
		wanted[sink[address]]++
	}
	if len(unused) == 0 {
		return nil
	}
	if err := b.readAccountsTx(ctx, tx, unused); err != nil {
		return err
	}
	for _, box := range unused {
		if err := b.vacateTx(ctx, tx, box); err != nil {
			return err
		}
		box.ExpiresAt = box.CreatedAt.Add(b.s.policy.SinkTTL)
		b.boxes[box.Address] = box
	}
	for _, owner := range slices.Sorted(maps.Keys(wanted)) {
		if err := b.trimSinkTx(ctx, tx, owner, wanted[owner]); err != nil {
			return err
		}
	}
	return nil
}

// trimSinkTx ends the oldest mailboxes of the sink where an account would have more than SinkMax with those that the batch wants.
// Mailboxes that the batch delivers to stay, and so do those that another batch has locked: the next batch ends them. Where
// SinkMax was lowered, at most endBatch mailboxes more than wanted are ended at a time.
func (b *Batch) trimSinkTx(ctx context.Context, tx *db.Tx, owner id.Account, wanted int) error {
	if _, err := lockLiveTx(ctx, tx, owner); err != nil {
		return err
	}
	var live int
	if err := tx.QueryRow(ctx, selectSinkLive, owner).Scan(&live); err != nil {
		return fmt.Errorf("read the count of the sink's mailboxes: %w", err)
	}
	excess := min(live+wanted-b.s.policy.SinkMax, endBatch+wanted)
	if excess <= 0 {
		return nil
	}
	oldest, err := many(ctx, tx, selectSinkOldest+db.Per{Postgres: forUpdate + " SKIP LOCKED"}.On(tx.Engine()), owner, excess)
	if err != nil {
		return err
	}
	for _, m := range oldest {
		switch _, inUse := b.boxes[m.Address]; {
		case inUse:
			continue
		case !m.Live(b.now):
			err = b.s.expireTx(ctx, tx, b.now, m)
		default:
			err = b.s.endTx(ctx, tx, m, m.epoch+1, b.now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countTx adds a change to the count that a mailbox belongs to: of the sink's, or of the others of its account. Those of projects are not
// counted, since projects are.
func countTx(ctx context.Context, tx *db.Tx, m *Mailbox, change int) error {
	switch m.Source {
	case Project:
		return nil
	case Sink:
	default:
		return countLiveTx(ctx, tx, m.Owner.Account, change)
	}
	if err := tx.Queue(ctx, upsertSinkLive, m.Owner.Account, change); err != nil {
		return fmt.Errorf("count mailboxes of the sink: %w", err)
	}
	return nil
}
