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

// Newer returns the messages of mailboxes with identifiers after one and up to another, oldest first, at most max of them and at
// least one unless there is none. It returns fewer where they would have more than octets as JSON. Of messages that are committed
// while it runs it may find any: all up to the last must have been committed before.
func (s *Service) Newer(ctx context.Context, boxes []id.Mailbox, after, last id.Message, max, octets int) ([]Summary, error) {
	var all []storedSummary
	for some := range slices.Chunk(boxes, newerBoxes) {
		list, args := db.In(1, some)
		query := fmt.Sprintf(selectNewer, list, len(args)+1, len(args)+2, len(args)+3)
		page, err := db.Collect(ctx, s.db, scanNewer, query, append(args, after, last, max)...)
		if err != nil {
			return nil, fmt.Errorf("list new messages: %w", err)
		}
		all = append(all, page...)
		if len(boxes) > newerBoxes {
			slices.SortFunc(all, func(a, b storedSummary) int { return cmp.Compare(a.ID, b.ID) })
			all = all[:min(len(all), max)]
		}
	}
	var summaries []Summary
	sum := 0
	for _, m := range all {
		if sum += len(m.encoded.stored); len(summaries) > 0 && sum > octets {
			break
		}
		summaries = append(summaries, m.Summary)
	}
	return summaries, nil
}

// Summary returns the summary of a message. Error: message.not_found.
func (s *Service) Summary(ctx context.Context, box id.Mailbox, m id.Message) (*Summary, error) {
	summary, err := scanSummary(s.db.QueryRow(ctx, selectSummary, box, m))
	if err != nil {
		return nil, missing(err, problem.MessageNotFound)
	}
	return &summary, nil
}

func scanNewer(row db.Row) (storedSummary, error) { return scanStored(row) }
