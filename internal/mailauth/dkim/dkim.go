// Package dkim verifies DKIM signatures (RFC 6376, with RFC 8301, RFC 8463 and RFC 8616). It does no I/O: Parse reads
// a signature field, ParseKey the record with its public key, which the caller has looked up, and Message.Verify
// compares both with a message.
//
// Tag lists are parsed in tags.go, the two fields in signature.go and key.go, and messages are canonicalized in
// canonical.go. Work is bounded by the size of the message: each body is hashed once for each canonicalization,
// whatever the number of signatures, and a signature names at most maxNames header fields.
package dkim

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
)

// ErrMismatch is wrapped by the errors of Message.Verify where the signature is well-formed but not that of the
// message. All other errors are about the signature or its key alone.
var ErrMismatch = errors.New("the signature does not match the message")

// Message is a message that signatures are verified against. It refers to the slices it was made from. It is used by
// one goroutine at a time.
type Message struct {
	fields [][]byte
	names  map[string][]int // the fields of each name in lower case, from the top
	body   []byte
	bodies map[string]bodyHash // by canonicalization
}

// bodyHash is the hash of a canonicalized body, and its length in octets.
type bodyHash struct {
	sum  [sha256.Size]byte
	size int64
}

// NewMessage returns a message of header fields, each with its line end and folded lines, and a body.
func NewMessage(fields [][]byte, body []byte) *Message {
	m := &Message{fields: fields, names: make(map[string][]int, len(fields)), body: body, bodies: make(map[string]bodyHash)}
	for i, f := range fields {
		name := fieldName(f)
		m.names[name] = append(m.names[name], i)
	}
	return m
}

// fieldName returns the name of a field in lower case.
func fieldName(field []byte) string {
	name, _, _ := bytes.Cut(field, []byte(":"))
	return strings.ToLower(string(bytes.TrimRight(name, " \t\r\n")))
}

// Verify returns nil if s is a valid signature of the message by the key. Errors wrap ErrMismatch where the message
// differs from what was signed.
func (m *Message) Verify(s *Signature, k *Key) error {
	if err := k.permits(s); err != nil {
		return err
	}
	if name := m.unsignedTwin(s); name != "" {
		return fmt.Errorf("one of several %s fields is not signed", name)
	}
	body := m.hashBody(s.body)
	if s.length >= 0 && s.length != body.size {
		// What follows the signed part would be unsigned text that the reader takes for signed (RFC 6376 §8.2).
		return fmt.Errorf("%w: l=%d of a body of %d octets", ErrMismatch, s.length, body.size)
	}
	if subtle.ConstantTimeCompare(body.sum[:], s.bodyHash) != 1 {
		return fmt.Errorf("%w: its body differs", ErrMismatch)
	}
	if err := k.verify(m.hashHeader(s), s.signature); err != nil {
		return fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	return nil
}

// unsignedTwin returns the name of a field that decides what is shown of a message, which has it once (RFC 5322 §3.6, RFC
// 2045 §3), and that is signed, but of which this message has more than are signed; "" if there is none. Readers show the uppermost of several fields, and a
// signature covers the lowest: without this check, a field on top of a signed mail would pass for a signed one (RFC
// 6376 §8.15).
func (m *Message) unsignedTwin(s *Signature) string {
	for _, name := range [...]string{"from", "subject", "date", "reply-to", "to", "content-type", "content-transfer-encoding"} {
		signed := 0
		for _, n := range s.names {
			if n == name {
				signed++
			}
		}
		if signed > 0 && len(m.names[name]) > max(1, signed) {
			return name
		}
	}
	return ""
}

// hashBody returns the hash of the body, which is computed once for each canonicalization.
func (m *Message) hashBody(c canonicalization) bodyHash {
	if h, ok := m.bodies[string(c)]; ok {
		return h
	}
	hash := sha256.New()
	h := bodyHash{size: c.writeBody(hash, m.body)}
	hash.Sum(h.sum[:0])
	m.bodies[string(c)] = h
	return h
}

// hashHeader returns the hash of the signed fields and of the signature field itself (RFC 6376 §3.7). Of fields of one
// name the lowest comes first, and names beyond those in the header contribute nothing (§5.4.2).
func (m *Message) hashHeader(s *Signature) []byte {
	hash := sha256.New()
	picked := make(map[string]int, len(s.names))
	for _, name := range s.names {
		all := m.names[name]
		n := picked[name]
		if n >= len(all) {
			continue
		}
		picked[name]++
		hash.Write(s.header.field(m.fields[all[len(all)-1-n]]))
	}
	hash.Write(bytes.TrimSuffix(s.header.field(s.unsigned), []byte("\r\n")))
	return hash.Sum(nil)
}
