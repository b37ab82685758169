package message

import (
	"encoding/binary"
	"fmt"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/raw"
)

// What reading a message for the first time makes of its detail is kept with it, so that reading it again only sends that. It is kept for
// the program that made it, since another may have stricter rules for HTML (docs/decisions/0079).

// keptMax bounds the octets of a detail, as JSON, that is kept.
const keptMax = 64 << 10

// keptHead is the length of the checksum before what is kept.
const keptHead = 4

// keep returns the column that keeps a detail as JSON, or nil if it is too long.
func keep(detail []byte) []byte {
	if len(detail) > keptMax {
		return nil
	}
	kept := raw.Compress(make([]byte, keptHead), detail)
	binary.BigEndian.PutUint32(kept, uint32(blob.Checksum(kept[keptHead:])))
	return kept
}

// kept returns what keep has kept. It calls reserve, unless that is nil, before it decompresses it. Error: blob.ErrDamaged.
func kept(column []byte, reserve Reserve) (detail []byte, err error) {
	if len(column) < keptHead || int64(binary.BigEndian.Uint32(column)) != blob.Checksum(column[keptHead:]) {
		return nil, fmt.Errorf("what is kept of a message: %w", blob.ErrDamaged)
	}
	data := column[keptHead:]
	if reserve != nil {
		if err := reserve(raw.DecompressedLen(data, int64(len(data)))); err != nil {
			return nil, err
		}
	}
	return raw.Decompress(data)
}
