package message

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Query narrows a list of messages (docs/spec/conventions.md#paging, docs/spec/conventions.md#waiting).
type Query struct {
	After      id.Message // only what came after this message; "": all
	Since      time.Time  // only what was received later, in whole milliseconds; zero: all
	Cursor     string     // where the previous page ended; "": the newest
	Limit      int        // messages a page, 1 to 100
	Octets     int        // the most octets of a page as JSON, which ends before the message that would exceed them; 0: no bound
	Match      Match
	Wait       time.Duration // how long to wait for a message if there is none
	Credential CredentialCheck
}

// since is the earliest time that a query asks for, as it is stored. Clients see times in milliseconds, so a message is
// later than Since from the next millisecond on; no two transactions give a mailbox messages of the same one.
func (q Query) since() int64 {
	if q.Since.IsZero() {
		return 0
	}
	return q.Since.Truncate(time.Millisecond).Add(time.Millisecond).UnixMicro()
}

// Bound returns an identifier that sorts before those of all messages that a query asks for by After and Since, "" for none.
func (q Query) Bound() id.Message {
	if q.Since.IsZero() {
		return q.After
	}
	return max(q.After, id.Last[id.Message](time.UnixMicro(q.since()-1)))
}

// newest sorts after every identifier of a message.
const newest id.Message = "msg_~"

// Page is a part of a list of messages.
type Page struct {
	Messages []Encoded
	Octets   int    // as JSON
	Next     string // the cursor of the next page; "": this is the last
	Short    bool   // the page ended because of Query.Octets
}

// add adds a message to the page that q asks for, or reports that the page is complete. A page has at least one message.
func (p *Page) add(m Encoded, q Query) bool {
	n := len(m.stored) + len(",")
	p.Short = len(p.Messages) > 0 && q.Octets > 0 && p.Octets+n > q.Octets
	if p.Short || len(p.Messages) == q.Limit {
		p.Next = cursor(p.Messages[len(p.Messages)-1].ID())
		return false
	}
	p.Messages, p.Octets = append(p.Messages, m), p.Octets+n
	return true
}

// List returns a page of summaries, newest first. With a wait, an empty page is held back until a message arrives, the mailbox
// ends or the wait has passed. A page of a query with a Match may have fewer messages than the limit, or none, and still be followed by
// another (searchMax). Errors: request.invalid, and those of the credential's check.
func (s *Service) List(ctx context.Context, box id.Mailbox, q Query) (Page, error) {
	before, err := parseCursor(q.Cursor)
	if err != nil {
		return Page{}, err
	}
	look := func(ctx context.Context) (Page, error) { return s.summaries(ctx, box, q, before) }
	if q.Match != (Match{}) {
		look = s.searcher(box, q, before)
	}
	return wait(ctx, s, box, q.Wait, q.Credential, func(ctx context.Context) (page Page, found bool, err error) {
		page, err = look(ctx)
		return page, len(page.Messages) > 0 || page.Next != "", err
	})
}

// CodeQuery narrows the search for the latest code.
type CodeQuery struct {
	After      id.Message
	Since      time.Time
	Match      Match // From, Subject and To only
	Wait       time.Duration
	Credential CredentialCheck
}

// EncodedCode is a code as it is stored: the JSON of an OTP.
type EncodedCode string

// LatestCode returns the newest code of a mailbox. Errors: otp.not_found, after the wait, and those of the credential's
// check.
func (s *Service) LatestCode(ctx context.Context, box id.Mailbox, q CodeQuery) (EncodedCode, error) {
	look := s.newestCode
	if q.Match != (Match{}) {
		look = s.matchingCode
	}
	code, err := wait(ctx, s, box, q.Wait, q.Credential, func(ctx context.Context) (code EncodedCode, found bool, err error) {
		code, err = look(ctx, box, q)
		return code, code != "", err
	})
	if err == nil && code == "" {
		err = problem.New(problem.OTPNotFound)
	}
	return code, err
}

// matchingCode returns the newest code of a message that matches, or "".
func (s *Service) matchingCode(ctx context.Context, box id.Mailbox, q CodeQuery) (EncodedCode, error) {
	q.Match.Code = true
	match := q.Match.compile()
	m := matching{match: &match, after: q.After, before: newest, since: Query{Since: q.Since}.since(), limit: searchBatch}
	var code EncodedCode
	for {
		r, err := s.eachMatching(ctx, box, m, func(m *storedSummary) bool {
			code = m.encoded.code()
			return false
		})
		if err != nil || r.stopped || r.messages < m.limit {
			return code, err
		}
		m.before = r.oldest
	}
}

func cursor(last id.Message) string { return base64.RawURLEncoding.EncodeToString([]byte(last)) }

// CheckCursor checks the cursor of a page. Error: request.invalid.
func CheckCursor(text string) error {
	_, err := parseCursor(text)
	return err
}

func parseCursor(text string) (before id.Message, err error) {
	if text == "" {
		return newest, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		before, err = id.Parse[id.Message](string(raw))
	}
	if err != nil || cursor(before) != text { // the decoder accepts line breaks, which no cursor of ours has
		return "", problem.Invalid("?cursor", "is not a cursor returned in nextCursor")
	}
	return before, nil
}
