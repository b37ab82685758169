package dkim

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// minRSABits is the shortest RSA key whose signatures count (RFC 8301 §3.2).
const minRSABits = 1024

// Key is a public key with what its record permits (RFC 6376 §3.6.1).
type Key struct {
	algorithm string   // rsa or ed25519
	hashes    []string // h=; nil: any
	services  []string // s=; nil: any
	flags     []string // t=
	rsa       *rsa.PublicKey
	ed25519   ed25519.PublicKey
}

// ParseKey parses a key record.
func ParseKey(record string) (*Key, error) {
	list, err := parseTags(record)
	if err != nil {
		return nil, err
	}
	if list.has("v") && list["v"].value != "DKIM1" {
		return nil, errors.New("unknown version of a key record")
	}
	if list.packed("p") == "" {
		return nil, errors.New("the key is missing or revoked")
	}
	der, err := base64.StdEncoding.DecodeString(list.packed("p"))
	if err != nil {
		return nil, fmt.Errorf("p=: %w", err)
	}
	k := &Key{algorithm: "rsa"}
	if list.has("k") {
		k.algorithm = list.packed("k")
	}
	if list.has("h") {
		k.hashes = list.list("h")
	}
	if list.has("s") {
		k.services = list.list("s")
	}
	k.flags = list.list("t")
	return k, k.read(der)
}

// read decodes the public key.
func (k *Key) read(der []byte) error {
	switch k.algorithm {
	case "ed25519": // RFC 8463 §4.2
		if len(der) != ed25519.PublicKeySize {
			return fmt.Errorf("an Ed25519 key of %d octets", len(der))
		}
		k.ed25519 = der
		return nil
	case "rsa":
	default:
		return fmt.Errorf("algorithm %q of a key", k.algorithm)
	}
	public, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		public, err = x509.ParsePKCS1PublicKey(der) // RFC 6376, erratum 3017
	}
	if err != nil {
		return fmt.Errorf("p=: %w", err)
	}
	key, ok := public.(*rsa.PublicKey)
	if !ok {
		return errors.New("p= is no RSA key")
	}
	if key.N.BitLen() < minRSABits {
		return fmt.Errorf("an RSA key of %d bits", key.N.BitLen())
	}
	k.rsa = key
	return nil
}

// permits returns an error if the record does not permit the signature.
func (k *Key) permits(s *Signature) error {
	algorithm, hash, _ := strings.Cut(s.Algorithm, "-")
	switch {
	case algorithm != k.algorithm:
		return fmt.Errorf("%s with a key for %s", s.Algorithm, k.algorithm)
	case k.hashes != nil && !slices.Contains(k.hashes, hash):
		return fmt.Errorf("the key is not for %s", hash)
	case k.services != nil && !slices.Contains(k.services, "*") && !slices.Contains(k.services, "email"):
		return errors.New("the key is not for mail")
	case slices.Contains(k.flags, "s") && s.identity != s.Domain: // i= must not be of a subdomain
		return errors.New("the key is not for subdomains")
	}
	return nil
}

// verify returns nil if signature is one of the hashed header by this key.
func (k *Key) verify(hashed, signature []byte) error {
	if k.rsa != nil {
		return rsa.VerifyPKCS1v15(k.rsa, crypto.SHA256, hashed, signature)
	}
	if !ed25519.Verify(k.ed25519, hashed, signature) {
		return errors.New("wrong Ed25519 signature")
	}
	return nil
}
