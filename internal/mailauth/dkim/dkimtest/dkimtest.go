// Package dkimtest makes keys for tests of DKIM.
package dkimtest

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"testing"
)

// Key is a private key. Public is its public key as the tag p= of a key record has it (RFC 6376 §3.6.1, RFC 8463 §4.2).
type Key struct {
	Signer crypto.Signer
	Public string
}

// NewEd25519 returns a new key for the tag k=ed25519.
func NewEd25519(t testing.TB) Key {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return Key{key, base64.StdEncoding.EncodeToString(public)}
}

// NewRSA returns a new key of so many bits for the tag k=rsa.
func NewRSA(t testing.TB, bits int) Key {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return Key{key, base64.StdEncoding.EncodeToString(der)}
}
