package message

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// TagManyTx gives messages other tags, as many messages as fit into a statement. Those that do not exist, and those that have
// the tags already, are ignored. Package sink decides what is a tag.
func (s *Service) TagManyTx(ctx context.Context, tx *db.Tx, refs []Ref, tags []string) error {
	if len(refs) == 0 {
		return nil
	}
	pairs, args := Pairs(refs)
	stored, err := db.Collect(ctx, tx, scanEncoded, fmt.Sprintf(selectSummaries, pairs), args...)
	if err != nil {
		return fmt.Errorf("find %d messages to tag: %w", len(refs), err)
	}
	var boxes, messages, summaries db.Texts
	changed := make(map[id.Mailbox][]id.Message)
	for _, e := range stored {
		m, err := e.Decode()
		if err != nil {
			return err
		}
		if slices.Equal(m.Tags, tags) {
			continue
		}
		m.Tags, m.Seen = tags, false // the column has what was seen
		text, err := encode(&m)
		if err != nil {
			return err
		}
		boxes, messages, summaries = append(boxes, string(m.MailboxID)), append(messages, string(m.ID)), append(summaries, text)
		changed[m.MailboxID] = append(changed[m.MailboxID], m.ID)
	}
	if len(summaries) == 0 {
		return nil
	}
	if err := tx.QueueEach(ctx, updateSummary, boxes, messages, summaries); err != nil {
		return fmt.Errorf("tag %d messages: %w", len(summaries), err)
	}
	for box, messages := range changed {
		if err := s.boxes.TaggedTx(ctx, tx, box, messages...); err != nil {
			return err
		}
	}
	return nil
}

// Tags returns the tags of those of some messages that have any.
func (s *Service) Tags(ctx context.Context, refs []Ref) (map[id.Message][]string, error) {
	tags := make(map[id.Message][]string)
	for some := range slices.Chunk(refs, searchedBatch) {
		pairs, args := Pairs(some)
		stored, err := db.Collect(ctx, s.db, scanEncoded, fmt.Sprintf(selectSummaries, pairs), args...)
		if err != nil {
			return nil, fmt.Errorf("read the tags of %d messages: %w", len(some), err)
		}
		for _, e := range stored {
			m, err := e.Decode()
			if err != nil {
				return nil, err
			}
			if len(m.Tags) > 0 {
				tags[m.ID] = m.Tags
			}
		}
	}
	return tags, nil
}
