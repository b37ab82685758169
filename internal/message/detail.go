package message

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gonebox/gonebox/internal/original"
)

// detail is what reading one message adds to its summary. It is kept compressed, in one column.
type detail struct {
	CC             []Address      `json:"cc,omitempty"`
	ReplyTo        []Address      `json:"replyTo,omitempty"`
	MessageID      string         `json:"messageId,omitempty"`
	Headers        []Header       `json:"headers,omitempty"`
	Attachments    []Attachment   `json:"attachments,omitempty"`
	Authentication Authentication `json:"authentication"`
	EnvelopeFrom   string         `json:"envelopeFrom,omitempty"`
	Helo           string         `json:"helo,omitempty"`
	RemoteIP       string         `json:"remoteIp,omitempty"`
	TLS            bool           `json:"tls,omitempty"`

	// Text and HTML, by far the largest, stand behind the JSON as they are: escaping them would cost more than storing them.
	Text string `json:"-"`
	HTML string `json:"-"`
}

var errDetail = errors.New("not the detail of a message")

// pack gives the lengths of JSON and text as unsigned LEB128, then JSON, text and HTML, all of it compressed.
func (d *detail) pack() ([]byte, error) {
	fields, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, 0, 2*binary.MaxVarintLen64+len(fields)+len(d.Text)+len(d.HTML))
	plain = binary.AppendUvarint(plain, uint64(len(fields)))
	plain = binary.AppendUvarint(plain, uint64(len(d.Text)))
	plain = append(append(append(plain, fields...), d.Text...), d.HTML...)
	return original.Compress(nil, plain), nil
}

// unpackDetail is the inverse of pack.
func unpackDetail(packed []byte) (d detail, err error) {
	plain, err := original.Decompress(packed)
	if err != nil {
		return d, err
	}
	fields, n := binary.Uvarint(plain)
	if n <= 0 {
		return d, errDetail
	}
	text, m := binary.Uvarint(plain[n:])
	if m <= 0 {
		return d, errDetail
	}
	rest := plain[n+m:]
	if fields > uint64(len(rest)) || text > uint64(len(rest))-fields {
		return d, errDetail
	}
	if err := json.Unmarshal(rest[:fields], &d); err != nil {
		return d, fmt.Errorf("decode the detail: %w", err)
	}
	d.Text, d.HTML = string(rest[fields:fields+text]), string(rest[fields+text:])
	return d, nil
}
