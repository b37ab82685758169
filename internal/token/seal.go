package token

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
)

// Sealer encrypts stored secrets that the service must read again, with AES-256-GCM. A secret is bound to its owner: copied
// into another owner's row, it cannot be decrypted. It is safe for concurrent use.
type Sealer struct{ aead cipher.AEAD }

// NewSealer returns a Sealer for a key from Derive, which must be used for nothing else.
func NewSealer(key [32]byte) (Sealer, error) {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return Sealer{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return Sealer{aead}, err
}

// Seal encrypts a secret; owner is the identifier of what it belongs to.
func (s Sealer) Seal(secret []byte, owner string) []byte {
	return s.aead.Seal(nil, nil, secret, []byte(owner))
}

// Open decrypts a sealed secret. It fails if the key or the owner is a different one.
func (s Sealer) Open(sealed []byte, owner string) ([]byte, error) {
	secret, err := s.aead.Open(nil, nil, sealed, []byte(owner))
	if err != nil {
		return nil, fmt.Errorf("open the secret of %s: %w", owner, errors.New("it was sealed under another master secret or damaged"))
	}
	return secret, nil
}
