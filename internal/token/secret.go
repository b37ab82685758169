package token

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

// A secret is 43 random base62 characters, 256 bits, and a checksum: the CRC-32 (IEEE) of the
// credential up to it, as 6 base62 characters.
const (
	secretLen   = 43
	checksumLen = 6
	tailLen     = secretLen + checksumLen

	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

	// A developer key's prefix is 50 random bits in the base32 of our identifiers.
	developerPrefixLen = 10
	base32             = "0123456789abcdefghjkmnpqrstvwxyz"
)

// MintSecret returns a random credential of kind Guest or User, and its SHA-256, which is stored instead of it. For another
// kind it returns one that every parser here rejects.
func MintSecret(k Kind) (credential string, hash [32]byte) {
	return mint(string(k))
}

// MintDeveloper returns a random developer key, the prefix that identifies it in listings and paths, and the key's SHA-256,
// which is stored instead of it. Prefixes are random, not unique: if one is taken, mint again.
func MintDeveloper() (credential, prefix string, hash [32]byte) {
	prefix = random(base32, developerPrefixLen)
	credential, hash = mint(string(Developer) + prefix + "_")
	return credential, prefix, hash
}

// ParseSecret returns the kind of a User, Guest or Developer credential and the hash to look it up by. Error:
// auth.invalid_token, if the checksum is wrong.
func ParseSecret(credential string) (k Kind, hash [32]byte, err error) {
	k, _ = KindOf(credential)
	switch k {
	case User, Guest:
		hash, err = check(credential, len(k))
	case Developer:
		_, hash, err = ParseDeveloper(credential)
	default:
		err = invalid()
	}
	if err != nil {
		return "", [32]byte{}, err
	}
	return k, hash, nil
}

// ParseDeveloper returns a developer key's prefix and the hash to look it up by. Error: auth.invalid_token, if it is not a
// developer key or its checksum is wrong.
func ParseDeveloper(credential string) (prefix string, hash [32]byte, err error) {
	rest, ok := strings.CutPrefix(credential, string(Developer))
	if !ok {
		return "", [32]byte{}, invalid()
	}
	prefix, _, ok = strings.Cut(rest, "_")
	if !ok || len(prefix) != developerPrefixLen || !spelt(prefix, base32) {
		return "", [32]byte{}, mistyped()
	}
	hash, err = check(credential, len(Developer)+developerPrefixLen+1)
	if err != nil {
		return "", [32]byte{}, err
	}
	return prefix, hash, nil
}

// DeveloperFrom returns the developer key that belongs to a secret seed, always the same.
func DeveloperFrom(seed [32]byte) (credential string) {
	var stream [32]byte
	fill := func(pool []byte) {
		for len(pool) > 0 {
			mac := hmac.New(sha256.New, seed[:])
			mac.Write(stream[:])
			mac.Sum(stream[:0])
			pool = pool[copy(pool, stream[:]):]
		}
	}
	head := string(Developer) + draw(base32, developerPrefixLen, fill) + "_" + draw(base62, secretLen, fill)
	return head + checksum(head)
}

func mint(prefix string) (credential string, hash [32]byte) {
	head := prefix + random(base62, secretLen)
	credential = head + checksum(head)
	return credential, sha256.Sum256([]byte(credential))
}

// check verifies the secret and the checksum, which begin at start, and returns the hash of the whole credential.
func check(credential string, start int) (hash [32]byte, err error) {
	if len(credential) != start+tailLen || !spelt(credential[start:], base62) {
		return hash, mistyped()
	}
	head, sum := credential[:start+secretLen], credential[start+secretLen:]
	if checksum(head) != sum {
		return hash, mistyped()
	}
	return sha256.Sum256([]byte(credential)), nil
}

func checksum(head string) string {
	var text [checksumLen]byte
	rest := crc32.ChecksumIEEE([]byte(head))
	for i := checksumLen - 1; i >= 0; i-- {
		text[i] = base62[rest%62]
		rest /= 62
	}
	return string(text[:])
}

func spelt(s, alphabet string) bool {
	return strings.Trim(s, alphabet) == ""
}

// random returns n random characters of alphabet.
func random(alphabet string, n int) string {
	return draw(alphabet, n, func(pool []byte) { rand.Read(pool) }) // never fails, as crypto/rand documents
}

// draw returns n characters of alphabet, each equally likely where the octets that fill writes are.
func draw(alphabet string, n int, fill func(pool []byte)) string {
	text := make([]byte, 0, n)
	fair := byte(256 / len(alphabet) * len(alphabet) % 256) // bytes from here on would favour the first letters; 0: there are none
	var pool [64]byte
	for {
		fill(pool[:])
		for _, b := range pool {
			if fair != 0 && b >= fair {
				continue
			}
			if text = append(text, alphabet[int(b)%len(alphabet)]); len(text) == n {
				return string(text)
			}
		}
	}
}
