package sink

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/search"
)

// PageMax is the most mails in a page, unless the limit of a search is All.
const PageMax = 1000

// All as the limit of a search stands for all mails that are listed.
const All = entriesMax

// Page is a part of a list, newest first.
type Page struct {
	Mails          []Mail
	Total, Unread  int // counts of all mails, whether they match or not
	Matches        int // mails that the query matches
	UnreadMatching int // unread mails that the query matches
}

// Search returns a page of the mails that a query matches, newest first. A nil query matches all. The page skips the
// first start matches and has at most limit mails, or PageMax if limit is larger and not All. With a limit of 0 Search returns only
// the counts. A mail that is deleted after the search and before its row is read is missing from the page.
func (s *Service) Search(ctx context.Context, q *search.Query, start, limit int) (Page, error) {
	p, found, err := s.Find(ctx, q, start, limit)
	if err == nil {
		err = s.Each(ctx, found, func(m *Mail) bool {
			p.Mails = append(p.Mails, *m)
			return true
		})
	}
	return p, err
}

// Found is a mail that a search has found. Each reads its summary.
type Found struct {
	ID     id.SinkMail
	Number int64
	Size   int64 // octets of the raw message
}

// Find is Search without the mails of the page, which Each reads one after the other: a thousand of them may have hundreds
// of megabytes of addresses.
func (s *Service) Find(ctx context.Context, q *search.Query, start, limit int) (Page, []Found, error) {
	if limit != All {
		limit = min(limit, PageMax)
	}
	return s.find(ctx, q, start, limit)
}

// Each calls fn with the mails that Find has found, in their order, until fn returns false. A mail that is deleted before it
// is read is left out. Each holds some eachOctets of them at once, and nothing of the database while fn runs.
func (s *Service) Each(ctx context.Context, found []Found, fn func(*Mail) bool) error {
	for len(found) > 0 {
		ids := make([]id.SinkMail, min(len(found), chunkMails))
		for i := range ids {
			ids[i] = found[i].ID
		}
		var mails []Mail
		octets := 0
		list, args := db.In(1, ids)
		err := forEachRow(ctx, s.db, func(v *row) bool {
			mails = append(mails, v.Mail)
			octets += v.octets
			return octets < eachOctets
		}, selectMails+list+orderMails, args...)
		if err != nil {
			return err
		}
		for i := range mails {
			if !fn(&mails[i]) {
				return nil
			}
		}
		if octets < eachOctets {
			found = found[len(ids):]
			continue
		}
		last := mails[len(mails)-1].Number
		for len(found) > 0 && found[0].Number >= last {
			found = found[1:]
		}
	}
	return nil
}

// eachOctets is how many octets of stored mails Each reads at once. The last mail may exceed it.
const eachOctets = 256 << 10

// find returns the mails of a page, and the counts. At most two searches run at once, so that the searches of many
// clients do not use up the processors; find waits until it may run or ctx ends.
func (s *Service) find(ctx context.Context, q *search.Query, start, limit int) (p Page, found []Found, err error) {
	x := s.indexOf(ctx)
	if err := s.refresh(ctx, x); err != nil {
		return p, nil, err
	}
	select {
	case s.searchSlots <- struct{}{}:
		defer func() { <-s.searchSlots }()
	case <-ctx.Done():
		return p, nil, ctx.Err()
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	p.Total, p.Unread = len(x.byID), x.unread
	if q == nil {
		p.Matches, p.UnreadMatching = p.Total, p.Unread
		return p, x.newest(start, limit), nil
	}
	for _, e := range slices.Backward(x.matching(ctx, q)) {
		if p.Matches >= start && len(found) < limit {
			found = append(found, e.found())
		}
		p.Matches++
		if !e.Seen {
			p.UnreadMatching++
		}
	}
	return p, found, ctx.Err()
}

func (e *entry) found() Found { return Found{e.id, e.number, e.Size} }

// newest returns limit mails, newest first, without the first start. The caller holds mu at least for reading.
func (x *index) newest(start, limit int) (found []Found) {
	for _, e := range slices.Backward(x.entries) {
		switch {
		case len(found) >= limit:
			return found
		case e.deleted:
		case start > 0:
			start--
		default:
			found = append(found, e.found())
		}
	}
	return found
}

// matching returns the entries that a query matches, in the order of arrival. The caller holds mu at least for reading.
func (x *index) matching(ctx context.Context, q *search.Query) []*entry {
	found := q.Select(ctx, len(x.entries), func(i int) *search.Document {
		if x.entries[i].deleted {
			return nil
		}
		return &x.entries[i].Document
	})
	entries := make([]*entry, len(found))
	for i, at := range found {
		entries[i] = x.entries[at]
	}
	return entries
}

// Get returns the mail that which names: an identifier, or "latest" for the newest mail. Error: message.not_found, also
// if which is neither.
func (s *Service) Get(ctx context.Context, which string) (*Mail, error) {
	var found []Found
	if which == "latest" {
		var err error
		if _, found, err = s.find(ctx, nil, 0, 1); err != nil {
			return nil, err
		}
	} else if mail, err := id.Parse[id.SinkMail](which); err == nil {
		found = append(found, Found{ID: mail})
	}
	if which != "latest" && len(found) > 0 {
		own, err := s.inScope(ctx, []id.SinkMail{found[0].ID})
		if err != nil {
			return nil, err
		}
		found = found[:len(own)]
	}
	var got *Mail
	if err := s.Each(ctx, found, func(m *Mail) bool { got = m; return false }); err != nil {
		return nil, err
	}
	if got == nil {
		return nil, problem.New(problem.MessageNotFound)
	}
	return got, nil
}

// Content returns a message with the content of a mail, which Get or a search has found. All messages of a mail have the same content; Content returns
// the first one that is not deleted. Error: message.not_found.
func (s *Service) Content(ctx context.Context, mail id.SinkMail) (message.Ref, error) {
	ref, err := scanRef(s.db.QueryRow(ctx, selectCopy, mail))
	if errors.Is(err, sql.ErrNoRows) {
		return ref, problem.New(problem.MessageNotFound)
	}
	if err != nil {
		return ref, fmt.Errorf("find the content of %s: %w", mail, err)
	}
	return ref, nil
}

// Matching returns the identifiers of all mails that a query matches, newest first, at most entriesMax. A nil query
// matches all.
func (s *Service) Matching(ctx context.Context, q *search.Query) ([]id.SinkMail, error) {
	_, found, err := s.find(ctx, q, 0, All)
	ids := make([]id.SinkMail, len(found))
	for i := range found {
		ids[i] = found[i].ID
	}
	return ids, err
}

// SetSeen marks mails as read or unread. It uses a transaction for each chunkMails mails, so after an error some may be
// marked. A mail that is already marked that way does not count as changed.
func (s *Service) SetSeen(ctx context.Context, mails []id.SinkMail, seen bool) error {
	value := 0
	if seen {
		value = 1
	}
	mails, err := s.inScope(ctx, mails)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(mails, chunkMails) {
		// Most calls for all mails, or with identifiers that are wrong, change few. The others need no transaction.
		list, args := db.In(2, chunk)
		chunk, err := db.Collect(ctx, s.db, scanID, selectSeenOtherwise+list, append([]any{value}, args...)...)
		if err != nil {
			return fmt.Errorf("find which of %d mails of the sink to mark: %w", len(args), err)
		}
		if len(chunk) == 0 {
			continue
		}
		err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			change, err := changeTx(ctx, tx, 1)
			if err != nil {
				return err
			}
			list, args := db.In(3, chunk)
			_, err = tx.Exec(ctx, updateSeen+list, append([]any{value, change}, args...)...)
			return err
		})
		if err != nil {
			return fmt.Errorf("mark %d mails of the sink: %w", len(chunk), err)
		}
	}
	return nil
}

// Delete deletes mails with all of their messages. It uses a transaction for each 2*chunkMails messages, of which a mail may
// have many, so after an error some may be deleted. Unknown mails are ignored.
func (s *Service) Delete(ctx context.Context, mails []id.SinkMail) error {
	mails, err := s.inScope(ctx, mails)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(mails, chunkMails) {
		refs, err := copiesOf(ctx, s.db, chunk)
		if err != nil {
			return err
		}
		for part := range slices.Chunk(refs, 2*chunkMails) {
			err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return s.messages.DeleteManyTx(ctx, tx, part) })
			if err != nil {
				return fmt.Errorf("delete %d messages of the sink: %w", len(part), err)
			}
		}
	}
	return nil
}
