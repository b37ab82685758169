package sink

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
)

// PageMax is the most mails in a page.
const PageMax = 1000

// Page is a part of a list, newest first.
type Page struct {
	Mails          []Mail
	Total, Unread  int // counts of all mails, whether they match or not
	Matches        int // mails that the query matches
	UnreadMatching int // unread mails that the query matches
}

// Search returns a page of the mails that a query matches, newest first. A nil query matches all. The page skips the
// first start matches and has at most limit mails, or PageMax if limit is larger. With a limit of 0 Search returns only
// the counts. A mail that is deleted after the search and before its row is read is missing from the page.
func (s *Service) Search(ctx context.Context, q *Query, start, limit int) (p Page, err error) {
	var ids []id.SinkMail
	if p, ids, err = s.find(ctx, q, start, min(limit, PageMax)); err != nil {
		return p, err
	}
	p.Mails, err = s.mails(ctx, ids)
	return p, err
}

// find returns the identifiers of a page, and the counts. At most two searches run at once, so that the searches of many
// clients do not use up the processors; find waits until it may run or ctx ends.
func (s *Service) find(ctx context.Context, q *Query, start, limit int) (p Page, ids []id.SinkMail, err error) {
	if err := s.refresh(ctx); err != nil {
		return p, nil, err
	}
	select {
	case s.searchSlots <- struct{}{}:
		defer func() { <-s.searchSlots }()
	case <-ctx.Done():
		return p, nil, ctx.Err()
	}
	x := &s.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	p.Total, p.Unread = len(x.byID), x.unread
	for _, e := range slices.Backward(x.matching(q)) {
		if p.Matches >= start && len(ids) < limit {
			ids = append(ids, e.id)
		}
		p.Matches++
		if !e.seen {
			p.UnreadMatching++
		}
	}
	return p, ids, nil
}

// matching returns the entries that a query matches, in the order of arrival. A nil query matches all. It divides the
// entries among goroutines, which end before it returns. Each goroutine writes only its own element of found, which
// preserves the order. The caller holds mu at least for reading.
func (x *index) matching(q *Query) []*entry {
	const minEntries = 4096 // fewer entries are not worth a goroutine of their own
	parts := min(runtime.GOMAXPROCS(0), len(x.entries)/minEntries+1)
	found := make([][]*entry, parts)
	var wg sync.WaitGroup
	for i := range parts {
		part := x.entries[i*len(x.entries)/parts : (i+1)*len(x.entries)/parts]
		wg.Go(func() {
			for _, e := range part {
				if !e.deleted && (q == nil || q.matches(e)) {
					found[i] = append(found[i], e)
				}
			}
		})
	}
	wg.Wait()
	return slices.Concat(found...)
}

// mails reads the mails with the given identifiers, in the order of ids. Mails that do not exist are left out. The query
// returns rows in any order, so the mails are collected in a map first.
func (s *Service) mails(ctx context.Context, ids []id.SinkMail) ([]Mail, error) {
	found := make(map[id.SinkMail]Mail, len(ids))
	for chunk := range slices.Chunk(ids, chunkMails) {
		list, args := db.In(1, chunk)
		if err := forEachRow(ctx, s.db, func(v *row) { found[v.ID] = v.Mail }, selectMails+list, args...); err != nil {
			return nil, err
		}
	}
	mails := make([]Mail, 0, len(ids))
	for _, mail := range ids {
		if m, ok := found[mail]; ok {
			mails = append(mails, m)
		}
	}
	return mails, nil
}

// Get returns the mail that which names: an identifier, or "latest" for the newest mail. Error: message.not_found, also
// if which is neither.
func (s *Service) Get(ctx context.Context, which string) (*Mail, error) {
	var ids []id.SinkMail
	if which == "latest" {
		var err error
		if _, ids, err = s.find(ctx, nil, 0, 1); err != nil {
			return nil, err
		}
	} else if mail, err := id.Parse[id.SinkMail](which); err == nil {
		ids = append(ids, mail)
	}
	mails, err := s.mails(ctx, ids)
	if err != nil {
		return nil, err
	}
	if len(mails) == 0 {
		return nil, problem.New(problem.MessageNotFound)
	}
	return &mails[0], nil
}

// Content returns a message with the content of a mail. All messages of a mail have the same content; Content returns
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
func (s *Service) Matching(ctx context.Context, q *Query) ([]id.SinkMail, error) {
	_, ids, err := s.find(ctx, q, 0, entriesMax)
	return ids, err
}

// SetSeen marks mails as read or unread. It uses a transaction for each chunkMails mails, so after an error some may be
// marked. A mail that is already marked that way does not count as changed.
func (s *Service) SetSeen(ctx context.Context, mails []id.SinkMail, seen bool) error {
	value := 0
	if seen {
		value = 1
	}
	for chunk := range slices.Chunk(mails, chunkMails) {
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
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

// Delete deletes mails with all of their messages. It uses a transaction for each chunkMails mails, so after an error
// some may be deleted. Unknown mails are ignored.
func (s *Service) Delete(ctx context.Context, mails []id.SinkMail) error {
	for chunk := range slices.Chunk(mails, chunkMails) {
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			refs, err := copiesOf(ctx, tx, chunk)
			if err != nil {
				return err
			}
			for part := range slices.Chunk(refs, 2*chunkMails) {
				if err := s.messages.DeleteManyTx(ctx, tx, part); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("delete %d mails of the sink: %w", len(chunk), err)
		}
	}
	return nil
}
