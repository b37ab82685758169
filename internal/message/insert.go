package message

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
)

// InsertTx stores copies, those of a whole set of mail at once.
func (s *Service) InsertTx(ctx context.Context, tx *db.Tx, copies []Copy) error {
	var messages messageRows
	var files fileRows
	for _, c := range copies {
		messages.add(c)
		for _, f := range c.files {
			files.add(c, f)
		}
	}
	if err := messages.insertTx(ctx, tx); err != nil {
		return fmt.Errorf("store %d messages: %w", len(copies), err)
	}
	if err := files.insertTx(ctx, tx); err != nil {
		return fmt.Errorf("store %d attachments: %w", len(files.ids), err)
	}
	return nil
}

// messageRows are rows of messages, column by column.
type messageRows struct {
	boxes, ids, refs, summaries    db.Texts
	received, sizes, coded, untils db.Numbers
	details                        db.Octets
}

func (r *messageRows) add(c Copy) {
	kept := c.in(c.Place)
	var coded int64
	if kept.OTP != nil {
		coded = 1
	}
	r.boxes, r.ids = append(r.boxes, string(c.Box)), append(r.ids, string(c.Message))
	r.received, r.sizes, r.coded = append(r.received, c.ReceivedAt.UnixMicro()), append(r.sizes, c.size), append(r.coded, coded)
	r.refs, r.untils = append(r.refs, string(c.Raw)), append(r.untils, c.RawUntil.UnixMicro())
	r.summaries, r.details = append(r.summaries, string(kept.appendJSON(make([]byte, 0, 1<<10)))), append(r.details, c.detail)
}

func (r *messageRows) insertTx(ctx context.Context, tx *db.Tx) error {
	return tx.QueueEach(ctx, insertMessages, r.boxes, r.ids, r.received, r.sizes, r.coded, r.refs, r.untils, r.summaries, r.details)
}

// fileRows are rows of attachments, likewise.
type fileRows struct {
	boxes, messages, ids db.Texts
	data                 db.Octets
}

func (r *fileRows) add(c Copy, f blob) {
	r.boxes, r.messages = append(r.boxes, string(c.Box)), append(r.messages, string(c.Message))
	r.ids, r.data = append(r.ids, string(f.id)), append(r.data, f.data)
}

func (r *fileRows) insertTx(ctx context.Context, tx *db.Tx) error {
	return tx.QueueEach(ctx, insertAttachments, r.boxes, r.messages, r.ids, r.data)
}
