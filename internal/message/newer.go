package message

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// newerBoxes bounds the mailboxes in one statement.
const newerBoxes = 256

// Newer returns the messages of mailboxes with identifiers after a given one, oldest first, at most max of them and at least one
// unless there is none. It returns fewer where they would have more than octets as JSON.
func (s *Service) Newer(ctx context.Context, boxes []id.Mailbox, after id.Message, max, octets int) ([]Summary, error) {
	var all []Summary
	for some := range slices.Chunk(boxes, newerBoxes) {
		list, args := db.In(1, some)
		query := fmt.Sprintf(selectNewer, list, len(args)+1, len(args)+2)
		page, err := db.Collect(ctx, s.db, scanNewer, query, append(args, after, max)...)
		if err != nil {
			return nil, fmt.Errorf("list new messages: %w", err)
		}
		all = append(all, page...)
		if len(boxes) > newerBoxes {
			slices.SortFunc(all, func(a, b Summary) int { return cmp.Compare(a.ID, b.ID) })
			all = all[:min(len(all), max)]
		}
	}
	sum := 0
	for i := range all {
		if sum += all[i].octets(); i > 0 && sum > octets {
			return all[:i], nil
		}
	}
	return all, nil
}

// Summary returns the summary of a message. Error: message.not_found.
func (s *Service) Summary(ctx context.Context, box id.Mailbox, m id.Message) (*Summary, error) {
	summary, err := scanSummary(s.db.QueryRow(ctx, selectSummary, box, m), box)
	if err != nil {
		return nil, missing(err, problem.MessageNotFound)
	}
	return &summary, nil
}

func scanNewer(row db.Row) (Summary, error) {
	var box id.Mailbox
	m, kept, err := scanStored(row, "", &box)
	m.MailboxID = box
	kept = kept.cut()
	kept.show(&m)
	return m, err
}
