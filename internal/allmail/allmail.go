// Package allmail implements the list of all messages of an account (docs/spec/inbox.md): listing and waiting, searching, and
// changing many messages at once. It depends on the domains mailbox and message, and stores nothing of its own.
//
// A list without a search reads the database: Newest of package message merges the mailboxes. A search needs the texts of
// messages, which are compressed, so it uses an index in memory (index.go). An index belongs to one account, is created by its first
// search, and follows the account's changes as event streams do (package follow), so that each process finds what any process has
// committed. The indexes of all accounts together are bounded (indexes.go).
//
// Nothing that is committed is passed over: what a call returns ends with a message that was the newest of the account at some time
// after the call began, and all earlier ones had been committed by then. So a client that goes on with the messages after the newest
// one it has seen misses none, however the mail for different mailboxes interleaves.
package allmail

import (
	"context"
	"errors"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/search"
	"github.com/gonebox/gonebox/internal/wake"
)

// Mailboxes reads the mailboxes of accounts. mailbox.Service implements it.
type Mailboxes interface {
	Holders(ctx context.Context, account id.Account, f mailbox.HolderFilter) ([]mailbox.Holder, error)
	UpdatePaced(ctx context.Context, fn func(context.Context, *db.Tx) error) error
}

// Tagger decides which messages share their tags. sink.Service implements it.
type Tagger interface {
	// TagMessages prepares to replace the tags of messages. The returned function does it in the caller's transaction.
	TagMessages(ctx context.Context, messages []message.Ref, tags []string) (apply func(context.Context, *db.Tx) error, err error)
}

// Parts are the dependencies of a Service.
type Parts struct {
	Clock     clock.Clock
	Wake      *wake.Hub
	Mailboxes Mailboxes
	Messages  *message.Service
	Tags      Tagger
	Follow    *follow.Service
	IndexMax  int64 // octets of all indexes together; 0: indexMax
}

// Service lists and changes the messages of accounts. It is safe for concurrent use.
type Service struct {
	Parts
	stacks  wake.Stacks
	indexes indexes

	// slots has a token for each running search. There are two at most, since each search uses all processors.
	slots chan struct{}

	// loading has a token while an index is loaded for the first time. The others wait, so that accounts whose indexes have no room beside
	// each other get one after the other.
	loading chan struct{}
}

// New returns a Service. KeepUp should run as long as it is used.
func New(p Parts) *Service {
	if p.IndexMax == 0 || p.IndexMax > indexMax {
		p.IndexMax = indexMax
	}
	return &Service{Parts: p, stacks: wake.NewStacks(), indexes: newIndexes(), slots: make(chan struct{}, 2), loading: make(chan struct{}, 1)}
}

// Query narrows the list. The zero values restrict nothing.
type Query struct {
	message.Query
	Mailbox string // an identifier, or an address in lower case
	Domain  string // lower case
	Source  mailbox.Source
	Project string // a name
	Search  *search.Query
}

// holders returns the filter of the mailboxes that the query restricts the list to.
func (q *Query) holders() mailbox.HolderFilter {
	filter := mailbox.HolderFilter{Mailbox: q.Mailbox, Domain: q.Domain, Source: q.Source}
	if q.Project != "" {
		filter.Project = mailbox.ProjectAddress(q.Project)
	}
	return filter
}

// Page is a part of the list.
type Page struct {
	message.Page
	Addresses map[id.Mailbox]string // of the mailboxes of the messages
}

// List returns a page of the summaries of an account's messages, newest first. With a wait, an empty page is held back until there is a
// message or the wait has passed. Errors: request.invalid, and those of the credential's check.
func (s *Service) List(ctx context.Context, account id.Account, q Query) (Page, error) {
	if err := message.CheckCursor(q.Cursor); err != nil {
		return Page{}, err
	}
	l := lister{s: s, account: account, q: q, after: q.Bound()}
	if q.Wait <= 0 {
		return l.read(ctx)
	}
	pollEvery := time.Duration(0)
	if q.Credential.Check != nil {
		pollEvery = checkEvery
	}
	return wake.UntilEither(ctx, s.Wake, mailbox.AccountWakeKey(account), q.Credential.WakeKey, q.Wait, pollEvery, func(ctx context.Context) (Page, bool, error) {
		return wake.OnFreshStack(ctx, s.stacks, func() (Page, bool, error) {
			page, err := l.read(ctx)
			if err == nil && q.Credential.Check != nil { // after the read, so that nothing is returned after the credential has become invalid
				err = q.Credential.Check(ctx)
			}
			return page, len(page.Messages) > 0, err
		})
	})
}

// checkEvery is how often a wait checks its credential without a wake-up: a command in a process of its own that ends the credential
// cannot wake the waits of the server.
const checkEvery = 5 * time.Second

// lister reads a page, again and again while a wait lasts. It belongs to one goroutine.
type lister struct {
	s       *Service
	account id.Account
	q       Query
	after   id.Message // nothing up to it can be on the page

	// What was searched in vain by a search whose result depends on which messages were read: an index, how many had been marked in it,
	// and the last message.
	searched   *index
	marks      int64
	searchedTo id.Message
}

// read returns the page, as it is now. Once it was empty, the next read looks at what has arrived since alone, so that a wait costs no
// more with each mail that does not match. Where a message may match later, since one that was read may become unread, a search looks at
// the others again once any message was marked, and the filter unseen does so always.
func (l *lister) read(ctx context.Context) (Page, error) {
	for {
		page, err := l.readOnce(ctx)
		if !errors.Is(err, errEvicted) {
			return page, err
		}
		if err := ctx.Err(); err != nil {
			return Page{}, err
		}
	}
}

// readOnce is read with the index that the account has now. Error: errEvicted.
func (l *lister) readOnce(ctx context.Context) (Page, error) {
	var x *index
	if l.q.Search != nil {
		var err error
		if x, err = l.s.ready(ctx, l.account); err != nil { // before the mailboxes are read, so that those of all its messages are among them
			return Page{}, err
		}
	}
	after, marks := l.after, int64(0)
	if x != nil {
		if marks = x.marks.Load(); l.searched == x && l.marks == marks {
			after = max(after, l.searchedTo)
		}
	}
	filter := l.q.holders()
	if after != "" {
		filter.After = id.Time(after)
	}
	holders, err := l.s.Mailboxes.Holders(ctx, l.account, filter)
	if err != nil || len(holders) == 0 {
		return Page{}, err
	}
	if x != nil && x.lacks(holders) {
		l.s.indexes.replace(x)
		return Page{}, errEvicted
	}
	top := id.Last[id.Message](holders[0].LastAt)
	next := l.s.stored(holders, after, top, l.q.Match)
	varies := l.q.Match.Unseen
	if x != nil {
		top = min(top, x.top())
		next, varies = l.s.found(x, l.q.Search, holders, after, top), varies || l.q.Search.Varies()
	}
	page, err := l.s.Messages.ListAcross(ctx, l.q.Query, next)
	if err != nil {
		return Page{}, err
	}
	switch {
	case len(page.Messages) > 0 || page.Next != "":
	case !varies:
		l.after = max(l.after, top)
	case x != nil && !l.q.Match.Unseen:
		l.searched, l.marks, l.searchedTo = x, marks, max(after, top)
	}
	return Page{Page: page, Addresses: addresses(page, holders)}, nil
}

// addresses returns the addresses of the mailboxes whose messages are on a page.
func addresses(page message.Page, holders []mailbox.Holder) map[id.Mailbox]string {
	wanted := make(map[id.Mailbox]string, len(page.Messages))
	for _, m := range page.Messages {
		wanted[m.MailboxID()] = ""
	}
	for _, h := range holders {
		if _, ok := wanted[h.ID]; ok {
			wanted[h.ID] = h.Address
		}
	}
	return wanted
}

// stored returns the messages of mailboxes between two identifiers.
func (s *Service) stored(holders []mailbox.Holder, after, top id.Message, m message.Match) message.Next {
	some := make([]message.Holder, 0, len(holders))
	for _, h := range holders {
		if !m.Unseen || h.Unread > 0 {
			some = append(some, message.Holder{Box: h.ID, LastAt: h.LastAt})
		}
	}
	return func(ctx context.Context, before id.Message, n int) ([]message.Ref, error) {
		return s.Messages.Newest(ctx, some, message.Span{After: after, Before: min(before, top), Code: m.Code, Unseen: m.Unseen}, n)
	}
}

// found returns the messages of mailboxes between two identifiers that a search finds.
func (s *Service) found(x *index, q *search.Query, holders []mailbox.Holder, after, top id.Message) message.Next {
	boxes := boxesOf(holders)
	return func(ctx context.Context, before id.Message, n int) ([]message.Ref, error) {
		done, err := s.slot(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		return x.find(ctx, q, boxes, after, min(before, top), n)
	}
}

// slot waits until another search may run. The caller calls done after it.
func (s *Service) slot(ctx context.Context) (done func(), err error) {
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func boxesOf(holders []mailbox.Holder) map[id.Mailbox]bool {
	boxes := make(map[id.Mailbox]bool, len(holders))
	for _, h := range holders {
		boxes[h.ID] = true
	}
	return boxes
}

// Count is how many messages an account has, or a search finds, and how many of them were not read yet.
type Count struct{ Messages, Unread int }

// Count counts the messages that a query without a Match and without bounds restricts.
func (s *Service) Count(ctx context.Context, account id.Account, q Query) (Count, error) {
	for {
		c, err := s.count(ctx, account, q)
		if !errors.Is(err, errEvicted) {
			return c, err
		}
		if err := ctx.Err(); err != nil {
			return Count{}, err
		}
	}
}

// count is Count with the index that the account has now. Error: errEvicted.
func (s *Service) count(ctx context.Context, account id.Account, q Query) (c Count, err error) {
	var x *index
	if q.Search != nil {
		if x, err = s.ready(ctx, account); err != nil {
			return c, err
		}
	}
	holders, err := s.Mailboxes.Holders(ctx, account, q.holders())
	if err != nil {
		return c, err
	}
	if x == nil {
		for _, h := range holders {
			c.Messages, c.Unread = c.Messages+h.Messages, c.Unread+h.Unread
		}
		return c, nil
	}
	done, err := s.slot(ctx)
	if err != nil {
		return c, err
	}
	defer done()
	return x.count(ctx, q.Search, boxesOf(holders), x.top())
}

// Box returns the mailbox of a message of an account. The error is the same for a message of another account and one that never existed:
// message.not_found.
func (s *Service) Box(ctx context.Context, account id.Account, m id.Message) (id.Mailbox, error) {
	found, err := s.lookUp(ctx, account, []id.Message{m})
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", problem.New(problem.MessageNotFound)
	}
	return found[0].Box, nil
}
