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
//	 0  version, 1
//	 1  key id
//	 2  mailbox id, 16 bytes
//	18  epoch, 4 bytes
//	22  expiry, 4 bytes: seconds since 1970
//	26  HMAC-SHA-256 of the bytes before it, cut to 16 bytes
//
// 42 bytes are 56 characters with no bit to spare, so a token has exactly one spelling.
const (
	mailboxVersion = 1
	signedSize     = 26
	macSize        = 16
	mailboxSize    = signedSize + macSize
	mailboxTextLen = mailboxSize / 3 * 4
)

// MailboxClaims is what a mailbox token says.
type MailboxClaims struct {
	Mailbox   id.Mailbox
	Epoch     uint32    // must equal the mailbox's; the mailbox's rises when its tokens are to end
	ExpiresAt time.Time // in the token: whole seconds, never later than given
}

// MintMailbox returns a signed token of 59 characters. The expiry is cut to whole seconds; beyond the year
// 2106 it becomes the last second a token can carry.
func (k *Keyring) MintMailbox(m MailboxClaims) string {
	var raw [mailboxSize]byte
	raw[0], raw[1] = mailboxVersion, k.current.id
	mailbox := id.Bytes(m.Mailbox)
	copy(raw[2:18], mailbox[:])
	binary.BigEndian.PutUint32(raw[18:22], m.Epoch)
	binary.BigEndian.PutUint32(raw[22:26], expirySeconds(m.ExpiresAt))
	k.current.sign(raw[signedSize:], raw[:signedSize])

	var text [len(Mailbox) + mailboxTextLen]byte
	copy(text[:], Mailbox)
	base64.RawURLEncoding.Encode(text[len(Mailbox):], raw[:])
	return string(text[:])
}

// CheckMailbox returns what a token says if this keyring signed it, else auth.invalid_token. It checks form
// and MAC only, in constant time. The caller goes on in this order (decisions §2 Mailbox):
//
//  1. the expiry has passed, or the mailbox's row is gone: mailbox.expired (410);
//  2. the epoch is not the mailbox's: auth.invalid_token (401).
//
// The MAC comes before both, or anybody could ask which mailboxes have been; the expiry comes before the epoch,
// so that an expired token says so for ever, with or without a row to look at.
func (k *Keyring) CheckMailbox(token string) (MailboxClaims, error) {
	raw, ok := decodeMailbox(token)
	if !ok {
		return MailboxClaims{}, invalid()
	}
	key := k.byID[raw[1]]
	if key == nil {
		return MailboxClaims{}, invalid()
	}
	var want [macSize]byte
	key.sign(want[:], raw[:signedSize])
	if subtle.ConstantTimeCompare(want[:], raw[signedSize:]) != 1 {
		return MailboxClaims{}, invalid()
	}
	return MailboxClaims{
		Mailbox:   id.FromBytes[id.Mailbox]([16]byte(raw[2:18])),
		Epoch:     binary.BigEndian.Uint32(raw[18:22]),
		ExpiresAt: time.Unix(int64(binary.BigEndian.Uint32(raw[22:26])), 0).UTC(),
	}, nil
}

func decodeMailbox(token string) (raw [mailboxSize]byte, ok bool) {
	text, ok := strings.CutPrefix(token, string(Mailbox))
	if !ok || len(text) != mailboxTextLen {
		return raw, false
	}
	// The decoder skips line ends; then fewer bytes come out than must.
	n, err := base64.RawURLEncoding.Decode(raw[:], []byte(text))
	return raw, err == nil && n == mailboxSize && raw[0] == mailboxVersion
}

func expirySeconds(t time.Time) uint32 {
	return uint32(min(max(t.Unix(), 0), math.MaxUint32))
}
