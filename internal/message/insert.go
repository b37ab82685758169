package message

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/db"
)

// InsertTx stores the copies of a batch of mail. Large drafts must have been staged; InsertTx then claims the staged content. Error:
// blob.ErrStageLost if that was swept.
func (s *Service) InsertTx(ctx context.Context, tx *db.Tx, copies []Copy) error {
	messages := newMessageRows(len(copies))
	var files fileRows
	copiesOf := make(map[*Draft]int)
	for _, c := range copies {
		if len(c.pending) > 0 {
			return fmt.Errorf("store %s: the draft was not staged", c.Message)
		}
		messages.add(c)
		for _, f := range c.files {
			files.add(c, f)
		}
		if len(c.blobs) > 0 || len(c.staged) > 0 {
			copiesOf[c.Draft]++
		}
	}
	if err := messages.insertTx(ctx, tx); err != nil {
		return fmt.Errorf("store %d messages: %w", len(copies), err)
	}
	if err := files.insertTx(ctx, tx); err != nil {
		return fmt.Errorf("store %d attachments: %w", len(files.ids), err)
	}
	if len(copiesOf) == 0 {
		return nil
	}
	var refs blob.References
	for d, n := range copiesOf {
		for _, b := range d.blobs {
			refs.Add(b, n)
		}
		for _, staged := range d.staged {
			refs.AddStaged(staged, n)
		}
	}
	return blob.InsertTx(ctx, tx, &refs)
}

// messageRows collects rows of messages, column by column.
type messageRows struct {
	boxes, ids, refs, summaries, rests   db.Texts
	received, sizes, coded, untils, crcs db.Numbers
	details                              db.Octets
	blobs                                db.OptionalOctets

	json jsonWriter // of one row after the other
}

// newMessageRows returns a collection with room for n rows.
func newMessageRows(n int) *messageRows {
	texts := func() db.Texts { return make(db.Texts, 0, n) }
	numbers := func() db.Numbers { return make(db.Numbers, 0, n) }
	const summary = 1 << 10 // octets of most
	return &messageRows{
		boxes: texts(), ids: texts(), refs: texts(), summaries: texts(), rests: texts(),
		received: numbers(), sizes: numbers(), coded: numbers(), untils: numbers(), crcs: numbers(),
		details: make(db.Octets, 0, n), blobs: make(db.OptionalOctets, 0, n), json: jsonWriter{b: make([]byte, 0, summary), escaped: inJSON},
	}
}

func (r *messageRows) add(c Copy) {
	m := c.Summary(c.Delivery)
	r.json.b = r.json.b[:0]
	r.json.summary(&m)
	summary := string(r.json.b)
	kept := c.internal
	kept.EnvelopeTo, kept.Client = c.To, c.Client
	r.json.b = r.json.b[:0]
	r.json.internal(&kept)
	rest := string(r.json.b)
	var coded int64
	if m.OTP != nil {
		coded = 1
	}
	r.boxes, r.ids = append(r.boxes, string(c.Box)), append(r.ids, string(c.Message))
	r.received, r.sizes, r.coded = append(r.received, c.ReceivedAt.UnixMicro()), append(r.sizes, c.size), append(r.coded, coded)
	r.refs, r.untils = append(r.refs, string(c.Raw)), append(r.untils, c.RawUntil.UnixMicro())
	r.summaries, r.rests = append(r.summaries, summary), append(r.rests, rest)
	r.details, r.crcs, r.blobs = append(r.details, c.body.data), append(r.crcs, c.body.crc), append(r.blobs, c.body.key)
}

func (r *messageRows) insertTx(ctx context.Context, tx *db.Tx) error {
	return tx.QueueEach(ctx, insertMessages,
		r.boxes, r.ids, r.received, r.sizes, r.coded, r.refs, r.untils, r.summaries, r.rests, r.details, r.crcs, r.blobs)
}

// fileRows collects rows of attachments, column by column.
type fileRows struct {
	boxes, messages, ids db.Texts
	data                 db.Octets
	crcs                 db.Numbers
	blobs                db.OptionalOctets
}

func (r *fileRows) add(c Copy, f file) {
	r.boxes, r.messages, r.ids = append(r.boxes, string(c.Box)), append(r.messages, string(c.Message)), append(r.ids, string(f.id))
	r.data, r.crcs, r.blobs = append(r.data, f.data), append(r.crcs, f.crc), append(r.blobs, f.key)
}

func (r *fileRows) insertTx(ctx context.Context, tx *db.Tx) error {
	return tx.QueueEach(ctx, insertAttachments, r.boxes, r.messages, r.ids, r.data, r.crcs, r.blobs)
}
