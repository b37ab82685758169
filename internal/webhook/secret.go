package webhook

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/id"
)

// secretSize is the length of a signing secret in octets.
const secretSize = 32

func newSecret() []byte {
	secret := make([]byte, secretSize)
	rand.Read(secret) // never fails, as crypto/rand documents
	return secret
}

// shownSecret is a secret as its owner gets it, once.
func shownSecret(secret []byte) string {
	return "whsec_" + base64.StdEncoding.EncodeToString(secret)
}

// sealer keeps signing secrets unreadable at rest, with AES-256-GCM. A secret is bound to its endpoint: copied into
// another's row, it does not open.
type sealer struct{ aead cipher.AEAD }

func newSealer(key [32]byte) (sealer, error) {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return sealer{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return sealer{aead}, err
}

func (s sealer) seal(secret []byte, webhook id.Webhook) []byte {
	return s.aead.Seal(nil, nil, secret, []byte(webhook))
}

func (s sealer) open(box []byte, webhook id.Webhook) ([]byte, error) {
	secret, err := s.aead.Open(nil, nil, box, []byte(webhook))
	if err != nil {
		return nil, fmt.Errorf("open the secret of %s: %w", webhook, errors.New("it was sealed under another master secret or damaged"))
	}
	return secret, nil
}

// signatures are the values of webhook-signature: one for each secret that counts (Standard Webhooks, Signature scheme).
func signatures(ev id.Event, at time.Time, body []byte, secrets ...[]byte) string {
	all := make([]string, len(secrets))
	for i, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		fmt.Fprintf(mac, "%s.%s.", ev, timestamp(at))
		mac.Write(body)
		all[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(all, " ")
}

// timestamp is a time as webhook-timestamp says it: seconds since 1970.
func timestamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// secrets are those that sign at a time, the present one first.
func (s *Service) secrets(e *Endpoint, at time.Time) ([][]byte, error) {
	secret, err := s.sealer.open(e.secret, e.ID)
	if err != nil {
		return nil, err
	}
	all := [][]byte{secret}
	if e.old != nil && at.Before(e.oldUntil) {
		old, err := s.sealer.open(e.old, e.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, old)
	}
	return all, nil
}
