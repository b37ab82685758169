package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"
	"sync"
)

// Key signs mailbox tokens. Tokens contain its id, so that keys can be rotated while tokens are valid.
type Key struct {
	ID     byte
	Secret [32]byte // from Derive
}

// Keyring signs with one key and verifies with all of its keys. It is safe for concurrent use.
type Keyring struct {
	current *signer
	byID    [256]*signer
}

// NewKeyring returns a Keyring that signs with current and also accepts signatures of the old keys. It fails if two keys
// have the same id, or if a secret is all zeros, that is, not set.
func NewKeyring(current Key, old ...Key) (*Keyring, error) {
	k := &Keyring{}
	for _, key := range append([]Key{current}, old...) {
		if key.Secret == [32]byte{} {
			return nil, fmt.Errorf("token key %d has no secret", key.ID)
		}
		if k.byID[key.ID] != nil {
			return nil, fmt.Errorf("two token keys have the id %d", key.ID)
		}
		k.byID[key.ID] = newSigner(key)
	}
	k.current = k.byID[current.ID]
	return k, nil
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
