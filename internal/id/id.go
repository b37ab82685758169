// Package id makes the identifiers of the service: a type prefix, an underscore, and a UUIDv7 in 26 characters of
// Crockford base32 (docs/spec/conventions.md#identifiers), such as mbx_0195k3v0f2e8qaxtk4n5r6s7t8. They sort by the
// time of their creation, to the microsecond.
//
// Each kind of resource has its own Go type, a string, whose method Prefix gives the prefix. The generic functions work
// for all of them: New makes an identifier, Parse checks one from outside, Bytes and FromBytes convert it to the 16
// octets that are stored in some tables, Time and Last relate it to times. Identifiers are unique by their 62 random
// bits, without coordination between processes, and they are not secret: knowing one gives no access.
package id

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// The kinds of identifiers. Each has its own type, so that one kind cannot be passed as another.
type (
	Mailbox      string
	Message      string
	Attachment   string
	Account      string
	Audit        string
	Block        string
	Domain       string
	Project      string
	Filter       string
	Webhook      string
	Event        string
	Delivery     string
	Subscription string
	Order        string
	Transaction  string
	Notice       string
	Invite       string
	SinkMail     string
	Arrival      string // an entry of the delivery log
	Outgoing     string // a mail for the relay
	Session      string // a user token
	Fault        string // a fault rule
	Transcript   string // of an SMTP dialog
)

// Prefix returns the part before the underscore.
func (Mailbox) Prefix() string      { return "mbx" }
func (Message) Prefix() string      { return "msg" }
func (Attachment) Prefix() string   { return "att" }
func (Account) Prefix() string      { return "acc" }
func (Audit) Prefix() string        { return "aud" }
func (Block) Prefix() string        { return "blk" }
func (Domain) Prefix() string       { return "dom" }
func (Filter) Prefix() string       { return "flt" }
func (Project) Prefix() string      { return "prj" }
func (Webhook) Prefix() string      { return "whk" }
func (Event) Prefix() string        { return "evt" }
func (Delivery) Prefix() string     { return "dlv" }
func (Subscription) Prefix() string { return "sub" }
func (Order) Prefix() string        { return "ord" }
func (Transaction) Prefix() string  { return "txn" }
func (Notice) Prefix() string       { return "ntc" }
func (Invite) Prefix() string       { return "inv" }
func (SinkMail) Prefix() string     { return "snk" }
func (Arrival) Prefix() string      { return "arr" }
func (Outgoing) Prefix() string     { return "out" }
func (Session) Prefix() string      { return "ses" }
func (Fault) Prefix() string        { return "fau" }
func (Transcript) Prefix() string   { return "trn" }

// Kind is any of the identifier types above. The functions call Prefix on the zero value, so it must not depend on the
// value.
type Kind interface {
	~string
	Prefix() string
}

// alphabet is Crockford's base32 in lower case. Its characters are in ASCII order, so identifiers sort by time.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// textLen is the length of 128 bits in base32.
const textLen = 26

// New returns a new identifier for something created at the given time. Identifiers of different microseconds sort in
// the order of their times. The time is rounded down to microseconds.
func New[K Kind](at time.Time) K {
	var k K
	return K(k.Prefix() + "_" + encode(newUUID(at)))
}

// Parse checks that s is an identifier of kind K. It accepts only the lower-case form that New makes. The error is for
// logs; callers respond that there is no such resource.
func Parse[K Kind](s string) (K, error) {
	var k K
	text, ok := strings.CutPrefix(s, k.Prefix()+"_")
	if !ok {
		return "", fmt.Errorf("identifier does not begin with %q", k.Prefix()+"_")
	}
	if _, ok := decode(text); !ok {
		return "", fmt.Errorf("identifier does not end with %d characters of Crockford base32", textLen)
	}
	return K(s), nil
}

// Bytes returns the UUID of an identifier that New or Parse returned; the zero UUID for any other string.
func Bytes[K Kind](k K) [16]byte {
	_, text, _ := strings.Cut(string(k), "_")
	uuid, _ := decode(text)
	return uuid
}

// FromBytes is the inverse of Bytes. Any 16 octets are accepted.
func FromBytes[K Kind](uuid [16]byte) K {
	var k K
	return K(k.Prefix() + "_" + encode(uuid))
}

// Time returns the time that an identifier was made for, in UTC with microseconds. For a string that is not an
// identifier it returns the beginning of 1970.
func Time[K Kind](k K) time.Time {
	uuid := Bytes(k)
	ms := int64(binary.BigEndian.Uint64(uuid[:8]) >> 16)
	fraction := int64(binary.BigEndian.Uint16(uuid[6:8]) & 0x0fff)
	return time.UnixMilli(ms).Add(time.Duration((fraction*1000+4095)/4096) * time.Microsecond).UTC()
}

// Last returns the greatest identifier for a time: identifiers of that microsecond and before sort before it or are
// equal to it, and those of later ones sort after it. It serves as a bound in lists that are ordered by identifier.
func Last[K Kind](at time.Time) K {
	u := newUUID(at)
	tail := u[8:]
	for i := range tail {
		tail[i] = 0xff
	}
	var k K
	return K(k.Prefix() + "_" + encode(u))
}

// newUUID returns a UUIDv7 (RFC 9562 §5.7) with the sub-millisecond fraction of §6.2 method 3 in rand_a. The first 48
// bits are milliseconds, the 12 bits of rand_a the fraction of the millisecond in 1/4096; version and variant take 6
// bits.
func newUUID(at time.Time) (u [16]byte) {
	rand.Read(u[8:]) // never fails, as crypto/rand documents
	micro := at.UnixMicro()
	ms, fraction := micro/1000, micro%1000*4096/1000
	binary.BigEndian.PutUint64(u[:8], uint64(ms)<<16|0x7000|uint64(fraction))
	u[8] = u[8]&0x3f | 0x80
	return u
}

// encode writes 128 bits as 26 characters of 5 bits each. The first one has only 3 bits, so it is at most 7.
func encode(u [16]byte) string {
	hi, lo := binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
	var text [textLen]byte
	for i := textLen - 1; i >= 0; i-- {
		text[i] = alphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(text[:])
}

// decode is the inverse of encode; ok is false for a text that encode does not return.
func decode(text string) (u [16]byte, ok bool) {
	if len(text) != textLen || text[0] > '7' {
		return u, false
	}
	var hi, lo uint64
	for i := range textLen {
		v := strings.IndexByte(alphabet, text[i])
		if v < 0 {
			return u, false
		}
		hi = hi<<5 | lo>>59
		lo = lo<<5 | uint64(v)
	}
	binary.BigEndian.PutUint64(u[:8], hi)
	binary.BigEndian.PutUint64(u[8:], lo)
	return u, true
}
