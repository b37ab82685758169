package raw

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// inRowPrefix is the beginning of references to records that the caller stores with the rows of their messages.
const inRowPrefix = "r."

// InRow returns the reference to a record of length octets that neither Segments nor a Table keeps: the caller stores it with the rows of
// its message, so that it is erased with them (docs/decisions/0078).
func InRow(length int) Ref { return Ref(inRowPrefix + strconv.FormatInt(int64(length), 36)) }

// IsInRow reports whether r was returned by InRow.
func (r Ref) IsInRow() bool { return strings.HasPrefix(string(r), inRowPrefix) }

// NewReaderFrom returns a reader of the record that a reference of InRow stands for. read fills p with the octets of the record from off on;
// it may return ErrGone. ctx bounds this call only. Errors: ErrGone, ErrDamaged.
func NewReaderFrom(ctx context.Context, ref Ref, read func(ctx context.Context, p []byte, off int64) error) (*Reader, error) {
	text, ok := strings.CutPrefix(string(ref), inRowPrefix)
	length, err := strconv.ParseInt(text, 36, 64)
	if !ok || err != nil || length <= 0 || length > maxRecord {
		return nil, fmt.Errorf("read raw message: %w: not a reference: %q", ErrDamaged, ref.Redacted())
	}
	return newReader(ctx, ref, inRow{read, length}, length)
}

// inRow is a record that a function reads.
type inRow struct {
	readAt func(ctx context.Context, p []byte, off int64) error
	length int64
}

func (r inRow) read(ctx context.Context, p []byte, off int64) error { return r.readAt(ctx, p, off) }

func (r inRow) whole(ctx context.Context) ([]byte, error) {
	data := make([]byte, r.length)
	return data, r.readAt(ctx, data, 0)
}
