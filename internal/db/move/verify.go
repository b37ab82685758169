package move

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"

	"github.com/gonebox/gonebox/internal/db"
)

// verify reads both sides again and checks that every row and every raw message is the same on both.
func (m *mover) verify(ctx context.Context) error {
	whole := sha256.New()
	for _, t := range tables() {
		s, err := m.shape(ctx, t)
		if err != nil {
			return fmt.Errorf("verify %s: %w", t.name, err)
		}
		progress, err := m.progress(ctx, Verify, t.name)
		if err != nil {
			return err
		}
		want, wantRefs, err := m.digestTable(ctx, s, m.source)
		if err != nil {
			return fmt.Errorf("verify %s: %w", t.name, err)
		}
		got, gotRefs, err := m.digestTable(ctx, s, m.target)
		if err != nil {
			return fmt.Errorf("verify %s: %w", t.name, err)
		}
		if got != want || gotRefs != wantRefs {
			return fmt.Errorf("verify %s: %w: %d rows of %d", t.name, ErrUnlike, got.Rows, want.Rows)
		}
		progress(int(want.Rows))
		m.addTable(want, whole)
	}
	m.report.Digest = sum(whole)
	return m.compareRaw(ctx)
}

// digest computes the digest of the source alone.
func (m *mover) digest(ctx context.Context) error {
	whole := sha256.New()
	for _, t := range tables() {
		s, err := m.shape(ctx, t)
		if err != nil {
			return err
		}
		table, _, err := m.digestTable(ctx, s, m.source)
		if err != nil {
			return fmt.Errorf("read %s: %w", t.name, err)
		}
		m.addTable(table, whole)
	}
	m.report.Digest = sum(whole)
	return nil
}

// addTable adds a table to the report and to the digest of all tables.
func (m *mover) addTable(t Table, whole hash.Hash) {
	m.report.Tables = append(m.report.Tables, t)
	m.report.Rows += t.Rows
	fmt.Fprintf(whole, "%s %d %s\n", t.Name, t.Rows, t.Digest)
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// digestTable reads a table in the order of its keys. The table's digest leaves out the references to raw messages, which differ between
// the sides; refs is the digest of those that the target should have, or has.
func (m *mover) digestTable(ctx context.Context, s shape, tx *db.Tx) (t Table, refs string, err error) {
	all, references := sha256.New(), sha256.New()
	n, err := s.each(ctx, tx, func(r row) error {
		ref := s.refOf(r)
		if tx == m.source {
			r = m.convert(r)
			if moved, ok := m.moved(s, r); ok {
				ref = moved
			}
		}
		all.Write(encode(r, s.ref))
		references.Write(encode(row{string(ref)}, -1))
		return nil
	})
	return Table{Name: s.name, Rows: n, Digest: sum(all)}, sum(references), err
}

// encode encodes the values of a row, without the column at skip, so that different rows have different encodings. The drivers tell text
// from octets differently, so both have the same encoding.
func encode(r row, skip int) []byte {
	var text []byte
	for i, v := range r {
		if i == skip {
			continue
		}
		switch v := v.(type) {
		case nil:
			text = append(text, 'n')
		case int64:
			text = binary.BigEndian.AppendUint64(append(text, 'i'), uint64(v))
		case string:
			text = append(binary.BigEndian.AppendUint64(append(text, 's'), uint64(len(v))), v...)
		case []byte:
			text = append(binary.BigEndian.AppendUint64(append(text, 's'), uint64(len(v))), v...)
		}
	}
	return text
}

// compareRaw reads every raw message that was moved from both sides.
func (m *mover) compareRaw(ctx context.Context) error {
	all := sha256.New()
	for _, ref := range slices.Sorted(maps.Keys(m.refs)) {
		want, err := m.from.RawMessages.Read(ctx, m.source, ref)
		if err != nil {
			return err
		}
		got, err := m.to.RawMessages.Read(ctx, m.target, m.refs[ref])
		if err != nil {
			return err
		}
		if string(got) != string(want) {
			return fmt.Errorf("%w: raw message %s", ErrUnlike, ref.Redacted())
		}
		all.Write(encode(row{want}, -1))
		m.report.RawMessages.Count++
		m.report.RawMessages.Octets += int64(len(want))
	}
	m.report.RawMessages.Digest = sum(all)
	return nil
}
