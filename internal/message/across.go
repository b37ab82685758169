package message

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Holder is a mailbox of several whose messages are listed together.
type Holder struct {
	Box    id.Mailbox
	LastAt time.Time // no message of the mailbox is later
}

// Stored is a message without its content.
type Stored struct {
	Ref
	Size int64 // in octets, as received
	Seen bool
}

// Span restricts messages to those between two identifiers, both excluded.
type Span struct {
	After, Before id.Message // Before "": to the newest
	Code          bool       // only with a code
	Unseen        bool       // only those that were not read yet
}

// holdersMax bounds the mailboxes in one statement.
const holdersMax = 64

// Newest returns the newest messages of mailboxes, newest first, at most max: fewer only if there are no more. The mailboxes are in
// the order of LastAt, the latest first, so that it ends as soon as the rest have older messages only.
func (s *Service) Newest(ctx context.Context, holders []Holder, span Span, max int) (all []Ref, err error) {
	if span.Before == "" {
		span.Before = newest
	}
	for len(holders) > 0 {
		n := min(len(holders), holdersMax)
		if id.Last[id.Message](holders[0].LastAt) <= span.After {
			return all, nil
		}
		if all, err = s.merge(ctx, holders[:n], span, max, all); err != nil {
			return nil, err
		}
		if len(all) == max { // what is older than the last of them does not count any more
			span.After = all[max-1].Message
		}
		holders = holders[n:]
	}
	return all, nil
}

// merge merges the newest messages of some mailboxes with those that were found before. It reads a few more of each mailbox than its
// part of max, and then all of those mailboxes of which more may be among the newest.
func (s *Service) merge(ctx context.Context, holders []Holder, span Span, max int, found []Ref) ([]Ref, error) {
	const more = 8
	limit := min(max, 4*max/len(holders)+more)
	some, err := s.newestOf(ctx, holders, span, limit)
	if err != nil {
		return nil, err
	}
	merged := newestFirst(append(slices.Clone(found), some...), max)
	count, oldest := make(map[id.Mailbox]int), make(map[id.Mailbox]id.Message)
	for _, r := range some {
		count[r.Box]++
		if at, ok := oldest[r.Box]; !ok || r.Message < at {
			oldest[r.Box] = r.Message
		}
	}
	var again []Holder
	for _, h := range holders {
		if count[h.Box] == limit && limit < max && (len(merged) < max || oldest[h.Box] > merged[max-1].Message) {
			again = append(again, h)
		}
	}
	if len(again) == 0 {
		return merged, nil
	}
	if len(merged) == max {
		span.After = merged[max-1].Message
	}
	rest, err := s.newestOf(ctx, again, span, max)
	if err != nil {
		return nil, err
	}
	return newestFirst(append(merged, rest...), max), nil
}

// newestFirst returns the first max of messages, each once.
func newestFirst(all []Ref, max int) []Ref {
	slices.SortFunc(all, func(a, b Ref) int { return strings.Compare(string(b.Message), string(a.Message)) })
	all = slices.Compact(all)
	return all[:min(len(all), max)]
}

// newestOf returns the newest messages of each of some mailboxes, at most limit of each.
func (s *Service) newestOf(ctx context.Context, holders []Holder, span Span, limit int) ([]Ref, error) {
	size := 1
	for size < len(holders) {
		size *= 2
	}
	args := []any{span.After, span.Before, limit}
	for i := range size { // few different statements, as with db.In; no mailbox has the empty name
		box := id.Mailbox("")
		if i < len(holders) {
			box = holders[i].Box
		}
		args = append(args, box)
	}
	all, err := db.Collect(ctx, s.db, scanRef, newestQuery(size, span), args...)
	if err != nil {
		return nil, fmt.Errorf("list messages of %d mailboxes: %w", len(holders), err)
	}
	return all, nil
}

// storedMax bounds the messages in one statement that names each of them.
const storedMax = 256

// Find returns those of some messages that exist, newest first.
func (s *Service) Find(ctx context.Context, refs []Ref) (all []Stored, err error) {
	for some := range slices.Chunk(refs, storedMax) {
		pairs, args := Pairs(some)
		found, err := db.Collect(ctx, s.db, scanReference, fmt.Sprintf(selectReferences, pairs), args...)
		if err != nil {
			return nil, fmt.Errorf("look for %d messages: %w", len(refs), err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// Next returns references of messages, newest first: the first max that are older than before, fewer only if there are no more. Those
// that do not exist any more are ignored.
type Next func(ctx context.Context, before id.Message, max int) ([]Ref, error)

// acrossBatch is how many messages ListAcross reads at once to look for those that match.
const acrossBatch = 1000

// ListAcross returns a page of summaries of the messages that next yields. It does not wait. A page of a query with a Match may end
// early, as that of List; with a Wait it does not, so that a wait does not end before there is a message.
func (s *Service) ListAcross(ctx context.Context, q Query, next Next) (p Page, err error) {
	before, err := parseCursor(q.Cursor)
	if err != nil {
		return p, err
	}
	match, octets := q.Match.compile(), 0
	for messages := 0; ; {
		n := q.Limit + 1 - len(p.Messages)
		if q.Match != (Match{}) {
			n = acrossBatch
		}
		refs, err := next(ctx, before, n)
		if err != nil || len(refs) == 0 {
			return p, err
		}
		complete := false
		err = s.each(ctx, refs, func(m *storedSummary) bool {
			octets += len(m.encoded.stored)
			complete = match.accepts(m) && !p.add(m.encoded, q)
			return !complete
		})
		if err != nil || complete || len(refs) < n {
			return p, err
		}
		before = refs[len(refs)-1].Message
		messages += len(refs)
		if q.Match != (Match{}) && q.Wait == 0 && (messages >= searchMax || octets >= searchOctets) {
			p.Next = cursor(before)
			return p, nil
		}
	}
}

// each calls fn with those of some messages that exist, newest first, until fn returns false. refs are in that order.
func (s *Service) each(ctx context.Context, refs []Ref, fn func(*storedSummary) bool) error {
	errStop := errors.New("stop")
	for some := range slices.Chunk(refs, storedMax) {
		pairs, args := Pairs(some)
		err := s.eachRow(ctx, fmt.Sprintf(selectRows, pairs), args, func(row db.Row) error {
			m, err := scanStored(row)
			if err == nil && !fn(&m) {
				err = errStop
			}
			return err
		})
		if errors.Is(err, errStop) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %d messages: %w", len(refs), err)
		}
	}
	return nil
}

// eachRow calls fn with each row of a query until fn returns an error.
func (s *Service) eachRow(ctx context.Context, query string, args []any, fn func(db.Row) error) error {
	rows, err := s.db.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
