package token

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
)

// Sealer keeps secrets that the service must read again unreadable at rest, with AES-256-GCM. A secret is bound to its
// owner: copied into another's row, it does not open.
type Sealer struct{ aead cipher.AEAD }

// NewSealer returns the sealer of a key that Derive made for its purpose alone.
func NewSealer(key [32]byte) (Sealer, error) {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return Sealer{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return Sealer{aead}, err
}

// Seal makes a secret unreadable; owner is the identifier of what it belongs to.
func (s Sealer) Seal(secret []byte, owner string) []byte {
	return s.aead.Seal(nil, nil, secret, []byte(owner))
}

// Open is the inverse of Seal. It fails where the key or the owner is another one.
func (s Sealer) Open(sealed []byte, owner string) ([]byte, error) {
	secret, err := s.aead.Open(nil, nil, sealed, []byte(owner))
	if err != nil {
		return nil, fmt.Errorf("open the secret of %s: %w", owner, errors.New("it was sealed under another master secret or damaged"))
	}
	return secret, nil
}
