package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"
	"sync"
)

// Key signs mailbox tokens. Its id travels in the token, so that keys can be changed while tokens are out.
type Key struct {
	ID     byte
	Secret [32]byte // from Derive
}

// Keyring signs with one key and accepts what any of its keys signed. It is safe for concurrent use.
type Keyring struct {
	current *signer
	byID    [256]*signer
}

// NewKeyring returns a keyring that signs with current and still accepts what the old keys signed. It fails
// if two keys share an id or a secret is all zeros, which is one that was never set.
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

// signer computes MACs under one key. The hashes are kept: a reset one has the padded key already absorbed,
// which saves half of the blocks.
type signer struct {
	id     byte
	hashes sync.Pool
}

// mac holds the sum beside the hash, so that signing allocates nothing.
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
