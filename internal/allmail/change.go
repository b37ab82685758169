package allmail

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/search"
)

// Selection is the messages of an account that a change is for: those of IDs, those that Search finds, or all if it is nil too.
type Selection struct {
	IDs    []id.Message // nil: not by identifiers; those that the account does not have are ignored
	Search *search.Query
}

// Change is what is changed of messages.
type Change struct {
	Seen *bool     // whether they count as read; nil: it stays as it is
	Tags *[]string // the tags that they get, as ParseTags of package sink returns them; nil: they keep theirs
}

// Update changes messages, and returns how many were selected, whether they were as wanted before or not. Messages that arrive meanwhile
// are not selected. It uses a transaction for each batch, so after an error some may be changed.
func (s *Service) Update(ctx context.Context, account id.Account, sel Selection, c Change) (count int, err error) {
	limit := batchMessages
	if c.Tags != nil {
		limit = batchTagged
	}
	return s.change(ctx, account, sel, limit, func(ctx context.Context, batch []message.Stored) error {
		tagTx, err := s.tagging(ctx, batch, c.Tags)
		if err != nil {
			return err
		}
		return s.Mailboxes.UpdatePaced(ctx, func(ctx context.Context, tx *db.Tx) error {
			if c.Seen != nil {
				other := slices.DeleteFunc(slices.Clone(batch), func(m message.Stored) bool { return m.Seen == *c.Seen })
				if err := s.Messages.SeeManyTx(ctx, tx, refsOf(other), *c.Seen); err != nil {
					return err
				}
			}
			return tagTx(ctx, tx)
		})
	})
}

// tagging prepares to give messages tags, and returns what does it.
func (s *Service) tagging(ctx context.Context, batch []message.Stored, tags *[]string) (func(context.Context, *db.Tx) error, error) {
	if tags == nil {
		return func(context.Context, *db.Tx) error { return nil }, nil
	}
	return s.Tags.TagMessages(ctx, refsOf(batch), *tags)
}

// Delete deletes messages, and returns how many were selected. Messages that arrive meanwhile are not selected. It uses a transaction for
// each batch, so after an error some may be deleted.
func (s *Service) Delete(ctx context.Context, account id.Account, sel Selection) (count int, err error) {
	return s.change(ctx, account, sel, batchMessages, func(ctx context.Context, batch []message.Stored) error {
		return s.Mailboxes.UpdatePaced(ctx, func(ctx context.Context, tx *db.Tx) error {
			return s.Messages.DeleteManyTx(ctx, tx, refsOf(batch))
		})
	})
}

// The bounds of a batch: it occupies SQLite's writer for milliseconds, so that mail is stored in between. Deleting content takes longer
// than deleting rows, and a message of the sink that gets tags may be one of a hundred that a mail became.
const (
	batchMessages = 400
	batchTagged   = 100
	batchOctets   = 8 << 20
	selectAtOnce  = 1000 // messages that are read to select them
	foundAtOnce   = 20_000
)

// change applies a change to the selected messages, in batches of at most limit messages.
func (s *Service) change(ctx context.Context, account id.Account, sel Selection, limit int, apply func(context.Context, []message.Stored) error) (count int, err error) {
	err = s.selected(ctx, account, sel, func(some []message.Stored) error {
		for len(some) > 0 {
			n, octets := 0, int64(0)
			for ; n < len(some) && n < limit && (n == 0 || octets+some[n].Size <= batchOctets); n++ {
				octets += some[n].Size
			}
			if err := apply(ctx, some[:n]); err != nil {
				return err
			}
			count, some = count+n, some[n:]
		}
		return nil
	})
	return count, err
}

// selected calls fn with the selected messages, at most selectAtOnce at a time.
func (s *Service) selected(ctx context.Context, account id.Account, sel Selection, fn func([]message.Stored) error) error {
	switch {
	case sel.IDs != nil:
		for some := range slices.Chunk(sel.IDs, selectAtOnce) {
			found, err := s.lookUp(ctx, account, some)
			if err == nil {
				err = fn(found)
			}
			if err != nil {
				return err
			}
		}
		return nil
	case sel.Search != nil:
		return s.eachFound(ctx, account, sel.Search, fn)
	}
	return s.eachStored(ctx, account, fn)
}

// eachFound calls fn with the messages that a search finds.
func (s *Service) eachFound(ctx context.Context, account id.Account, q *search.Query, fn func([]message.Stored) error) error {
	x, err := s.ready(ctx, account)
	if err != nil {
		return err
	}
	holders, err := s.Mailboxes.Holders(ctx, account, mailbox.HolderFilter{})
	if err != nil {
		return err
	}
	if x.lacks(holders) {
		s.indexes.replace(x)
		if x, err = s.ready(ctx, account); err != nil {
			return err
		}
	}
	top := x.top()
	for before := top; ; {
		refs, err := s.found(x, q, holders, "", top)(ctx, before, foundAtOnce)
		if errors.Is(err, errEvicted) {
			if x, err = s.ready(ctx, account); err != nil {
				return err
			}
			continue
		}
		if err != nil || len(refs) == 0 {
			return err
		}
		before = refs[len(refs)-1].Message
		slices.SortFunc(refs, func(a, b message.Ref) int { return cmp.Compare(a.Box, b.Box) }) // a batch writes each of its mailboxes
		for some := range slices.Chunk(refs, selectAtOnce) {
			found, err := s.Messages.Find(ctx, some)
			if err == nil {
				err = fn(found)
			}
			if err != nil {
				return err
			}
		}
	}
}

// eachStored calls fn with all messages, those of several small mailboxes together.
func (s *Service) eachStored(ctx context.Context, account id.Account, fn func([]message.Stored) error) error {
	holders, err := s.Mailboxes.Holders(ctx, account, mailbox.HolderFilter{})
	if err != nil || len(holders) == 0 {
		return err
	}
	top := id.Last[id.Message](holders[0].LastAt)
	for len(holders) > 0 {
		n, messages := 0, 0
		var group []message.Holder
		for ; n < len(holders) && (n == 0 || messages+holders[n].Messages <= selectAtOnce); n++ {
			messages += holders[n].Messages
			group = append(group, message.Holder{Box: holders[n].ID, LastAt: holders[n].LastAt})
		}
		holders = holders[n:]
		for before := top; ; {
			refs, err := s.Messages.Newest(ctx, group, message.Span{Before: before}, selectAtOnce)
			if err != nil {
				return err
			}
			some, err := s.Messages.Find(ctx, refs)
			if err == nil {
				err = fn(some)
			}
			if err != nil {
				return err
			}
			if len(refs) < selectAtOnce {
				break
			}
			before = refs[len(refs)-1].Message
		}
	}
	return nil
}

// pairsMax bounds the pairs of a message and a mailbox that are looked for in the database. With more of them the index is used, which
// knows the mailbox of each message.
const pairsMax = 50_000

// clockSkew is how much earlier a message may seem to be than the mailbox that it is in: processes have clocks of their own.
const clockSkew = 10 * time.Minute

// lookUp returns those of some messages that an account has.
func (s *Service) lookUp(ctx context.Context, account id.Account, messages []id.Message) ([]message.Stored, error) {
	messages = slices.Compact(slices.Sorted(slices.Values(messages)))
	if len(messages) == 0 {
		return nil, nil
	}
	holders, err := s.Mailboxes.Holders(ctx, account, mailbox.HolderFilter{After: id.Time(messages[0]).Add(-time.Microsecond)})
	if err != nil {
		return nil, err
	}
	var refs []message.Ref
	for _, m := range messages {
		at := id.Time(m)
		for _, h := range holders {
			if h.LastAt.Before(at) {
				break // and so is each that follows
			}
			if h.CreatedAt.Add(-clockSkew).After(at) {
				continue
			}
			if refs = append(refs, message.Ref{Box: h.ID, Message: m}); len(refs) > pairsMax {
				return s.lookUpIndexed(ctx, account, messages, holders)
			}
		}
	}
	return s.Messages.Find(ctx, refs)
}

// lookUpIndexed is lookUp by the index.
func (s *Service) lookUpIndexed(ctx context.Context, account id.Account, messages []id.Message, holders []mailbox.Holder) ([]message.Stored, error) {
	live := make(map[id.Mailbox]bool, len(holders))
	for _, h := range holders {
		live[h.ID] = true
	}
	for {
		x, err := s.ready(ctx, account)
		if err != nil {
			return nil, err
		}
		refs, err := x.refs(messages)
		if errors.Is(err, errEvicted) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return s.Messages.Find(ctx, slices.DeleteFunc(refs, func(r message.Ref) bool { return !live[r.Box] }))
	}
}

func refsOf(all []message.Stored) []message.Ref {
	refs := make([]message.Ref, len(all))
	for i, m := range all {
		refs[i] = m.Ref
	}
	return refs
}
