package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/id"
)

// secretSize is the length of a signing secret in octets; Standard Webhooks demands 24 to 64.
const secretSize = 32

// newSecret returns a random signing secret.
func newSecret() []byte {
	secret := make([]byte, secretSize)
	rand.Read(secret) // never fails, as crypto/rand documents
	return secret
}

// shownSecret returns a secret as its owner sees it, in the form that the libraries of Standard Webhooks take.
func shownSecret(secret []byte) string {
	return "whsec_" + base64.StdEncoding.EncodeToString(secret)
}

// signatures returns the value of webhook-signature: one signature for each secret, separated by spaces (Standard
// Webhooks, Signature scheme). A receiver accepts the delivery if one of them is valid.
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

// timestamp returns the value of webhook-timestamp: seconds since 1970.
func timestamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// secrets returns the secrets with which a delivery at a time is signed, the current one first. It fails if the secrets
// were sealed under another key than Parts.Seal.
func (s *Service) secrets(e *Endpoint, at time.Time) ([][]byte, error) {
	secret, err := s.sealer.Open(e.secret, string(e.ID))
	if err != nil {
		return nil, err
	}
	all := [][]byte{secret}
	if e.oldSecret != nil && at.Before(e.oldSecretUntil) {
		old, err := s.sealer.Open(e.oldSecret, string(e.ID))
		if err != nil {
			return nil, err
		}
		all = append(all, old)
	}
	return all, nil
}
