package message

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gonebox/gonebox/internal/resource"
)

// detail is the part of a full message that its summary does not have. It is kept compressed, in one column: the length of its JSON as unsigned
// LEB128, the JSON, and the texts as they are, so that most of its octets are neither escaped nor parsed.
type detail struct {
	resource.Detail          // without texts, links, the recipients of the envelope, and the end of the raw message
	Uncut           *uncut   `json:"uncut,omitempty"`   // nil: the summary holds all of it
	Derived         bool     `json:"derived,omitempty"` // Text is the text of HTML
	Best            *string  `json:"best,omitempty"`    // Detail.BestLink
	Parts           []string `json:"parts,omitempty"`   // File.Part of the attachments; nil: they follow the first part
	TextLen         int      `json:"textLen"`           // octets of Text
	Text            string   `json:"-"`
	HTML            string   `json:"-"` // as the sender wrote it
}

// uncut holds the full values of fields that the summary has cut.
type uncut struct {
	Subject string    `json:"subject"`
	From    Address   `json:"from"`
	To      []Address `json:"to"`
}

// partsOf returns the positions of attachments in the tree of parts, or nil where they are those of defaultPart.
func partsOf(files []File) []string {
	parts, other := make([]string, len(files)), false
	for i, f := range files {
		parts[i] = f.Part
		other = other || f.Part != defaultPart(i)
	}
	if !other {
		return nil
	}
	return parts
}

// defaultPart returns the position of an attachment of a message that consists of its text and then its attachments.
func defaultPart(index int) string { return strconv.Itoa(index + 2) }

var errDetail = errors.New("not the detail of a message")

// plain appends the encoded detail to p, not compressed.
func (d *detail) plain(p []byte) []byte {
	d.TextLen = len(d.Text)
	w := jsonWriter{b: p, escaped: inHTML}
	w.detail(d)
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(w.b)-len(p)))
	p = slices.Insert(w.b, len(p), length[:n]...)
	p = append(p, d.Text...)
	return append(p, d.HTML...)
}

// parseDetail decodes the output of plain. Error: errDetail. Damaged input may also decode to a wrong detail; the checksum of its row
// detects that.
func parseDetail(plain []byte) (d detail, err error) {
	length, n := binary.Uvarint(plain)
	if n <= 0 || length > uint64(len(plain)-n) {
		return d, errDetail
	}
	text, rest := plain[n:n+int(length)], plain[n+int(length):]
	if err := json.Unmarshal(text, &d); err != nil {
		return detail{}, fmt.Errorf("%w: %w", errDetail, err)
	}
	if d.TextLen < 0 || d.TextLen > len(rest) {
		return detail{}, errDetail
	}
	d.Text, d.HTML = string(rest[:d.TextLen]), string(rest[d.TextLen:])
	return d, nil
}
