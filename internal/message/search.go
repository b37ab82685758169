package message

import (
	"context"

	"github.com/gonebox/gonebox/internal/id"
)

// A search with a Match decodes every message that it passes over. It reads searchBatch messages with one statement, and ends
// a page once it has read searchMax messages, or messages with searchOctets: one call must not occupy the process for longer
// than a page of long summaries does. A full mailbox of ordinary mail is below both.
const (
	searchBatch  = 100
	searchMax    = 5000
	searchOctets = 8 << 20
)

// read counts what one statement of a search has read.
type read struct {
	messages       int
	octets         int
	newest, oldest id.Message
	stopped        bool // the callback ended the statement before all rows were read
}

func (r *read) add(m *storedSummary) {
	if r.messages == 0 {
		r.newest = m.ID
	}
	r.messages, r.oldest = r.messages+1, m.ID
	r.octets += len(m.encoded.stored)
}

// searcher returns a function that returns the page that q asks for. Called again while nothing was found, it reads only what
// has arrived since, so that a wait costs no more with each mail that does not match. A message that was read already may become
// unread, and match Match.Unseen: that search always reads everything.
func (s *Service) searcher(box id.Mailbox, q Query, before id.Message) func(context.Context) (Page, error) {
	match := q.Match.compile()
	return func(ctx context.Context) (Page, error) {
		page, top, err := s.search(ctx, box, &match, q, before)
		if err == nil && len(page.Messages) == 0 && !match.Unseen {
			q.After = max(q.After, top)
		}
		return page, err
	}
}

// search returns a page, and the newest message that it has read.
func (s *Service) search(ctx context.Context, box id.Mailbox, match *matcher, q Query, before id.Message) (p Page, top id.Message, err error) {
	m := matching{match: match, after: q.After, before: before, since: q.since(), limit: searchBatch}
	messages, octets := 0, 0
	for {
		r, err := s.eachMatching(ctx, box, m, func(found *storedSummary) bool { return p.add(found.encoded, q) })
		if err != nil {
			return Page{}, "", err
		}
		top = max(top, r.newest)
		messages, octets = messages+r.messages, octets+r.octets
		switch {
		case r.stopped, r.messages < m.limit:
			return p, top, nil
		case messages >= searchMax, octets >= searchOctets:
			p.Next = cursor(r.oldest)
			return p, top, nil
		}
		m.before = r.oldest
	}
}
