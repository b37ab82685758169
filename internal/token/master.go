package token

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MasterFile is the file in data_dir with the master secret if secrets.key is not configured: the base64 of 32 random bytes,
// which can be copied into the configuration unchanged.
const MasterFile = "secret.key"

// masterSize is the minimum length of a master secret in bytes, and the length of a generated one.
const masterSize = 32

// Derive returns the secret for one purpose from the master secret, by HKDF-SHA-256 (RFC 5869) with the
// purpose as info. It fails if the master secret is shorter than 32 bytes or the purpose is empty.
func Derive(master []byte, purpose string) (secret [32]byte, err error) {
	if len(master) < masterSize || purpose == "" {
		return secret, fmt.Errorf("derive a secret for %q from %d bytes: need a purpose and at least %d bytes", purpose, len(master), masterSize)
	}
	key, err := hkdf.Key(sha256.New, master, nil, purpose, len(secret))
	if err != nil {
		return secret, fmt.Errorf("derive a secret for %q: %w", purpose, err)
	}
	return [32]byte(key), nil
}

// LoadMaster returns the master secret: the configured one (secrets.key), else the one in MasterFile under dataDir,
// which is generated at the first start. A configured secret is at least 32 random bytes in hex, or in base64 of either
// alphabet with or without padding. Passphrases are not accepted, since the security of
// everything that the service signs depends on this secret. It is an error if others than its owner may access the file, or
// if it does not contain exactly 32 bytes. No error quotes the secret.
func LoadMaster(dataDir, configured string) (secret []byte, err error) {
	if configured != "" {
		return ParseMaster(configured)
	}
	path := filepath.Join(dataDir, MasterFile)
	secret, err = readMaster(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := createMaster(dataDir, path); err != nil {
		return nil, fmt.Errorf("generate the master secret %s: %w", path, err)
	}
	return readMaster(path) // another process may have been first: then its secret is used
}

// ParseMaster returns a master secret written as hex or as base64 of either alphabet, with or without padding. It fails if it is
// shorter than 32 bytes. No error quotes the secret.
func ParseMaster(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	secret, err := hex.DecodeString(text) // first, since hex is base64 as well
	if err != nil {
		plain := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
		secret, err = base64.RawStdEncoding.DecodeString(plain)
	}
	if err != nil {
		return nil, errors.New("the master secret is neither hex nor base64; `openssl rand -base64 32` makes one")
	}
	if len(secret) < masterSize {
		return nil, fmt.Errorf("the master secret has %d bytes, at least %d are needed; `openssl rand -base64 32` makes one", len(secret), masterSize)
	}
	return secret, nil
}

func readMaster(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the master secret %s is not a regular file", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("the master secret %s has mode %04o, so others may use it: chmod 600 it", path, mode)
	}
	var text [2 * masterSize]byte // more than the file should have
	n, _ := f.Read(text[:])
	secret, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(text[:n])))
	if err != nil || len(secret) != masterSize {
		return nil, fmt.Errorf("the master secret %s does not hold the base64 of %d bytes: restore it, or remove it to have a new one made (every token and two-factor secret then ends)", path, masterSize)
	}
	return secret, nil
}

// createMaster creates the file at path, unless another process does so meanwhile. The file gets its name when its content is
// on stable storage, so that a crash leaves either no file or a complete one.
func createMaster(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, MasterFile+".*") // O_EXCL, mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := writeMaster(f); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(dir)
}

func writeMaster(f *os.File) error {
	var secret [masterSize]byte
	rand.Read(secret[:]) // never fails, as crypto/rand documents
	_, err := f.WriteString(base64.StdEncoding.EncodeToString(secret[:]) + "\n")
	return errors.Join(err, f.Sync(), f.Close())
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
