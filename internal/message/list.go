package message

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Query narrows a list of messages (decisions §1 paging, long-poll).
type Query struct {
	After  id.Message    // only what came after this message; "": all
	Since  time.Time     // only what was received then or later; zero: all
	Cursor string        // where the previous page ended; "": the newest
	Limit  int           // messages a page, 1 to 100
	Wait   time.Duration // how long to wait for a message if there is none
}

func (q Query) since() int64 {
	if q.Since.IsZero() {
		return 0
	}
	return q.Since.UnixMicro()
}

// newest is above every identifier of a message.
const newest id.Message = "msg_~"

// List returns a page of summaries, newest first, and the cursor of the next page, "" where there is none. With a wait,
// an empty page is held back until a message arrives, the mailbox ends or the wait has passed. Error: request.invalid.
func (s *Service) List(ctx context.Context, box id.Mailbox, q Query) (page []Summary, next string, err error) {
	before, err := parseCursor(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	page, err = wait(ctx, s, box, q.Wait, func(ctx context.Context) (page []Summary, found bool, err error) {
		page, err = s.summaries(ctx, box, q, before, q.Limit+1)
		return page, len(page) > 0, err
	})
	if err != nil {
		return nil, "", err
	}
	if len(page) > q.Limit {
		page = page[:q.Limit]
		next = cursor(page[q.Limit-1].ID)
	}
	return page, next, nil
}

// CodeQuery narrows the search for the latest code.
type CodeQuery struct {
	After id.Message
	Since time.Time
	From  string // a part of the sender's address, in any case; "": every sender
	Wait  time.Duration
}

// LatestCode returns the newest code of a mailbox. Error: otp.not_found, after the wait.
func (s *Service) LatestCode(ctx context.Context, box id.Mailbox, q CodeQuery) (*OTP, error) {
	code, err := wait(ctx, s, box, q.Wait, func(ctx context.Context) (code *OTP, found bool, err error) {
		code, err = s.latestCode(ctx, box, q)
		return code, code != nil, err
	})
	if err == nil && code == nil {
		err = problem.New(problem.OTPNotFound)
	}
	return code, err
}

func (s *Service) latestCode(ctx context.Context, box id.Mailbox, q CodeQuery) (*OTP, error) {
	rows, err := s.db.Query(ctx, selectCodes, box, q.After, Query{Since: q.Since}.since())
	if err != nil {
		return nil, fmt.Errorf("find the code of %s: %w", box, err)
	}
	defer rows.Close()
	for rows.Next() {
		m, _, err := scanSummary(rows, box)
		if err != nil {
			return nil, fmt.Errorf("find the code of %s: %w", box, err)
		}
		if strings.Contains(strings.ToLower(m.From.Address), strings.ToLower(q.From)) {
			return m.OTP, nil
		}
	}
	return nil, rows.Err()
}

func cursor(last id.Message) string { return base64.RawURLEncoding.EncodeToString([]byte(last)) }

func parseCursor(text string) (before id.Message, err error) {
	if text == "" {
		return newest, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		before, err = id.Parse[id.Message](string(raw))
	}
	if err != nil || cursor(before) != text { // the decoder skips line ends
		return "", problem.Invalid("?cursor", "is not a cursor that an answer's nextCursor gave")
	}
	return before, nil
}
