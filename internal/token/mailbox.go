package token

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/id"
)

// A mailbox token is `xm_` and the base64url (RFC 4648 §5) of these bytes, big endian:
//
//	 0  version: 1, or 2 if the token is bound to a developer key
//	 1  key id
//	 2  mailbox id, 16 bytes
//	18  epoch, 4 bytes
//	22  expiry, 4 bytes: seconds since 1970
//	26  only in version 2: the developer key's prefix, 10 bytes
//	    HMAC-SHA-256 of the bytes before it, truncated to 16 bytes, in version 2 to 18
//
// 42 bytes are 56 characters and 54 bytes are 72, without unused bits, so that a token has exactly one spelling.
const (
	plainVersion = 1
	keyedVersion = 2
	plainSigned  = 26
	keyedSigned  = plainSigned + developerPrefixLen
	plainSize    = plainSigned + 16
	keyedSize    = keyedSigned + 18
	plainTextLen = plainSize / 3 * 4
	keyedTextLen = keyedSize / 3 * 4
)

// MailboxClaims are the contents of a mailbox token.
type MailboxClaims struct {
	Mailbox   id.Mailbox
	Epoch     uint32    // must equal the mailbox's, which is incremented to invalidate its tokens
	ExpiresAt time.Time // in the token: whole seconds, never later than given
	Developer string    // the prefix of the developer key that the token is bound to; "": none
}

// MintMailbox returns a signed token of 59 characters, or 75 if it is bound to a developer key. The expiry is truncated to
// whole seconds, and to the maximum of 32 bits in the year 2106.
func (k *Keyring) MintMailbox(m MailboxClaims) string {
	var buf [keyedSize]byte
	raw, signed := buf[:plainSize], plainSigned
	raw[0] = plainVersion
	if m.Developer != "" {
		raw, signed = buf[:], keyedSigned
		raw[0] = keyedVersion
		copy(raw[plainSigned:keyedSigned], m.Developer)
	}
	current := (*k.keys.Load())[0]
	raw[1] = current.id
	mailbox := id.Bytes(m.Mailbox)
	copy(raw[2:18], mailbox[:])
	binary.BigEndian.PutUint32(raw[18:22], m.Epoch)
	binary.BigEndian.PutUint32(raw[22:26], expirySeconds(m.ExpiresAt))
	current.sign(raw[signed:], raw[:signed])

	var text [len(Mailbox) + keyedTextLen]byte
	n := copy(text[:], Mailbox)
	base64.RawURLEncoding.Encode(text[n:], raw)
	return string(text[:n+base64.RawURLEncoding.EncodedLen(len(raw))])
}

// CheckMailbox returns the claims of a token that this keyring signed. Error: auth.invalid_token. It checks only the form
// and the MAC, in constant time. The caller must then check, in this order (docs/spec/conventions.md#credentials):
//
//  1. the developer key, if any, exists and has not expired, else auth.invalid_token (401), and allows the client's address,
//     else auth.address_not_allowed (403);
//  2. the expiry has not passed and the mailbox's row exists, else mailbox.expired (410);
//  3. the epoch is the mailbox's, else auth.invalid_token (401).
//
// The MAC comes first, so that clients cannot probe which mailboxes have existed. The expiry comes before the epoch, so that
// an expired token gets the same response with and without the mailbox's row.
func (k *Keyring) CheckMailbox(token string) (MailboxClaims, error) {
	var buf [keyedSize]byte
	raw, signed := decodeMailbox(buf[:], token)
	if raw == nil {
		return MailboxClaims{}, invalid()
	}
	if !k.signed(raw[:signed], raw[signed:]) {
		return MailboxClaims{}, invalid()
	}
	return MailboxClaims{
		Mailbox:   id.FromBytes[id.Mailbox]([16]byte(raw[2:18])),
		Epoch:     binary.BigEndian.Uint32(raw[18:22]),
		ExpiresAt: time.Unix(int64(binary.BigEndian.Uint32(raw[22:26])), 0).UTC(),
		Developer: string(raw[plainSigned:signed]),
	}, nil
}

// signed reports whether mac, of the lengths that tokens have, is that of one of the keys for text, the beginning of a token.
func (k *Keyring) signed(text, mac []byte) bool {
	var sum [keyedSize - keyedSigned]byte
	want := sum[:len(mac)]
	for _, key := range *k.keys.Load() {
		if key.id != text[1] {
			continue
		}
		key.sign(want, text)
		if subtle.ConstantTimeCompare(want, mac) == 1 {
			return true
		}
	}
	return false
}

// decodeMailbox decodes a token into buf and returns its bytes and how many of them are signed, or nil if it is malformed.
func decodeMailbox(buf []byte, token string) (raw []byte, signed int) {
	text, ok := strings.CutPrefix(token, string(Mailbox))
	var version byte
	switch {
	case ok && len(text) == plainTextLen:
		raw, signed, version = buf[:plainSize], plainSigned, plainVersion
	case ok && len(text) == keyedTextLen:
		raw, signed, version = buf[:keyedSize], keyedSigned, keyedVersion
	default:
		return nil, 0
	}
	// The decoder skips line breaks, in which case it returns too few bytes.
	if n, err := base64.RawURLEncoding.Decode(raw, []byte(text)); err != nil || n != len(raw) || raw[0] != version {
		return nil, 0
	}
	return raw, signed
}

func expirySeconds(t time.Time) uint32 {
	return uint32(min(max(t.Unix(), 0), math.MaxUint32))
}
