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
	Total, Unread  int // of all mails
	Matches        int // mails that the query matches
	UnreadMatching int
}

// Search returns a page of the mails that a query matches, newest first; nil matches all. start mails are left out.
// limit is at most PageMax. With a limit of 0 it returns only the counts. A mail that is deleted between the search and
// the reading is missing in the page.
func (s *Service) Search(ctx context.Context, q *Query, start, limit int) (p Page, err error) {
	var ids []id.SinkMail
	if p, ids, err = s.find(ctx, q, start, min(limit, PageMax)); err != nil {
		return p, err
	}
	p.Mails, err = s.mails(ctx, ids)
	return p, err
}

// find returns the identifiers of a page, and the counts. It waits for a turn, of which there are two, so that searches
// of many clients do not occupy the process.
func (s *Service) find(ctx context.Context, q *Query, start, limit int) (p Page, ids []id.SinkMail, err error) {
	if err := s.refresh(ctx); err != nil {
		return p, nil, err
	}
	select {
	case s.searches <- struct{}{}:
		defer func() { <-s.searches }()
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

// matching returns the entries that a query matches, in the order of arrival; nil matches all. It divides the work
// among the processors. The caller holds mu. Its goroutines end before it returns; each writes only its own element of
// found, so that the order of arrival is kept.
func (x *index) matching(q *Query) []*entry {
	const least = 4096 // entries that are worth a goroutine
	parts := min(runtime.GOMAXPROCS(0), len(x.entries)/least+1)
	found := make([][]*entry, parts)
	var all sync.WaitGroup
	for i := range parts {
		some := x.entries[i*len(x.entries)/parts : (i+1)*len(x.entries)/parts]
		all.Go(func() {
			for _, e := range some {
				if !e.gone && (q == nil || q.matches(e)) {
					found[i] = append(found[i], e)
				}
			}
		})
	}
	all.Wait()
	return slices.Concat(found...)
}

// mails reads mails in the order of their identifiers' list. Those that were deleted meanwhile are left out. The query
// returns rows in any order, hence the map.
func (s *Service) mails(ctx context.Context, ids []id.SinkMail) ([]Mail, error) {
	found := make(map[id.SinkMail]Mail, len(ids))
	for some := range slices.Chunk(ids, chunkMails) {
		list, args := db.In(1, some)
		if err := each(ctx, s.db, func(v *row) { found[v.ID] = v.Mail }, selectMails+list, args...); err != nil {
			return nil, err
		}
	}
	all := make([]Mail, 0, len(ids))
	for _, mail := range ids {
		if m, ok := found[mail]; ok {
			all = append(all, m)
		}
	}
	return all, nil
}

// Get returns a mail, the newest for "latest". which is an identifier or "latest"; any other text names no mail. Error:
// message.not_found.
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
	all, err := s.mails(ctx, ids)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, problem.New(problem.MessageNotFound)
	}
	return &all[0], nil
}

// Content returns the message that has the content of a mail. All messages of a mail have the same content; it is the
// first of those that are left. Error: message.not_found.
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

// Matching returns the identifiers of all mails that a query matches; nil matches all. At most entriesMax are returned,
// the newest first.
func (s *Service) Matching(ctx context.Context, q *Query) ([]id.SinkMail, error) {
	_, ids, err := s.find(ctx, q, 0, entriesMax)
	return ids, err
}

// SetSeen marks mails as read or unread. Each chunk is one transaction: after an error some may be marked. Mails that
// are marked already do not count as changed.
func (s *Service) SetSeen(ctx context.Context, mails []id.SinkMail, seen bool) error {
	value := 0
	if seen {
		value = 1
	}
	for some := range slices.Chunk(mails, chunkMails) {
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			change, err := changeTx(ctx, tx, 1)
			if err != nil {
				return err
			}
			list, args := db.In(3, some)
			_, err = tx.Exec(ctx, updateSeen+list, append([]any{value, change}, args...)...)
			return err
		})
		if err != nil {
			return fmt.Errorf("mark %d mails of the sink: %w", len(some), err)
		}
	}
	return nil
}

// Delete deletes mails with all of their messages. Each chunk is one transaction: after an error some may be deleted.
// Unknown mails are ignored.
func (s *Service) Delete(ctx context.Context, mails []id.SinkMail) error {
	for some := range slices.Chunk(mails, chunkMails) {
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			refs, err := copiesOf(ctx, tx, some)
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
			return fmt.Errorf("delete %d mails of the sink: %w", len(some), err)
		}
	}
	return nil
}
