package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"
	"sync"
	"sync/atomic"
)

// Key signs mailbox tokens. Tokens contain its id. Several keys may have the same id.
type Key struct {
	ID     byte
	Secret [32]byte // from Derive
}

// Keyring signs with one key and verifies with all of its keys. It is safe for concurrent use.
type Keyring struct {
	keys atomic.Pointer[[]*signer] // the first one signs
}

// NewKeyring returns a Keyring that signs with current and also accepts signatures of the old keys. It fails if a secret is all
// zeros, that is, not set.
func NewKeyring(current Key, old ...Key) (*Keyring, error) {
	k := &Keyring{}
	return k, k.Replace(current, old...)
}

// Replace makes the keyring sign with current and accept only signatures of current and the old keys from now on. It fails, and
// changes nothing, if a secret is all zeros.
func (k *Keyring) Replace(current Key, old ...Key) error {
	var keys []*signer
	for _, key := range append([]Key{current}, old...) {
		if key.Secret == [32]byte{} {
			return fmt.Errorf("token key %d has no secret", key.ID)
		}
		keys = append(keys, newSigner(key))
	}
	k.keys.Store(&keys)
	return nil
}

// signer computes MACs with one key. It pools the hashes: after a reset they have already absorbed the padded key, which
// saves half of the blocks.
type signer struct {
	id     byte
	hashes sync.Pool
}

// mac has buffers next to the hash, so that signing does not allocate.
type mac struct {
	hash.Hash
	in  [keyedSigned]byte
	sum [sha256.Size]byte
}

func newSigner(k Key) *signer {
	return &signer{id: k.ID, hashes: sync.Pool{New: func() any {
		return &mac{Hash: hmac.New(sha256.New, k.Secret[:])}
	}}}
}

// sign fills dst with the beginning of the MAC of signed, which is at most keyedSigned long.
func (s *signer) sign(dst, signed []byte) {
	m := s.hashes.Get().(*mac)
	defer s.hashes.Put(m)
	n := copy(m.in[:], signed)
	m.Reset()
	m.Write(m.in[:n])
	copy(dst, m.Sum(m.sum[:0]))
}
