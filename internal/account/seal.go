package account

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"

	"github.com/gonebox/gonebox/internal/id"
)

// sealer keeps two-factor secrets unreadable at rest, with AES-256-GCM. A secret is bound to its account: copied
// into another's row, it does not open.
type sealer struct{ aead cipher.AEAD }

func newSealer(key [32]byte) (sealer, error) {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return sealer{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return sealer{aead}, err
}

func (s sealer) seal(secret []byte, account id.Account) []byte {
	return s.aead.Seal(nil, nil, secret, []byte(account))
}

func (s sealer) open(sealed []byte, account id.Account) ([]byte, error) {
	secret, err := s.aead.Open(nil, nil, sealed, []byte(account))
	if err != nil {
		return nil, fmt.Errorf("open the two-factor secret of %s: %w", account, errors.New("it was sealed under another master secret or damaged"))
	}
	return secret, nil
}
