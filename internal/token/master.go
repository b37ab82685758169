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
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MasterFile is the file in data_dir with the master secret if secrets.key is not configured: the base64 of 32 random bytes,
// which can be copied into the configuration unchanged.
const MasterFile = "secret.key"

// PreviousFile is the file in data_dir with the master secrets that RotateMaster replaced, one on a line, the latest first. Removing it
// ends the tokens that they signed.
const PreviousFile = "secret.previous"

// previousMax is how many replaced master secrets PreviousFile keeps. Every wrong token is compared with each.
const previousMax = 32

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

// Masters are the master secrets of a service.
type Masters struct {
	Current  []byte
	Previous [][]byte // replaced ones whose tokens are still accepted, the latest first
}

// All returns all of the secrets, the current one first.
func (m Masters) All() [][]byte { return append([][]byte{m.Current}, m.Previous...) }

// LoadMaster returns the master secrets: the configured ones (secrets.key and secrets.previous, separated by commas), or if key
// is empty those in MasterFile and PreviousFile under dataDir. MasterFile is generated at the first start. A configured secret is
// at least 32 random bytes in hex, or in base64 of either alphabet with or without padding. Passphrases are not accepted, since
// the security of everything that the service signs depends on this secret. It is an error if others than its owner may access a
// file, or if it does not contain secrets of exactly 32 bytes. No error quotes a secret.
func LoadMaster(dataDir, key, previous string) (m Masters, err error) {
	if key != "" {
		if m.Current, err = ParseMaster(key); err != nil {
			return Masters{}, err
		}
		m.Previous, err = ParsePrevious(previous)
		return m, err
	}
	path := filepath.Join(dataDir, MasterFile)
	m.Current, err = readMaster(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := createMaster(dataDir, path); err != nil {
			return m, fmt.Errorf("generate the master secret %s: %w", path, err)
		}
		m.Current, err = readMaster(path) // another process may have been first: then its secret is used
	}
	if err != nil {
		return Masters{}, err
	}
	m.Previous, err = readMasters(filepath.Join(dataDir, PreviousFile), previousMax)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return m, err
}

// ParsePrevious parses secrets.previous: none, one or several master secrets, separated by commas.
func ParsePrevious(text string) (all [][]byte, err error) {
	for one := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(text) == "" {
			return nil, nil
		}
		secret, err := ParseMaster(one)
		if err != nil {
			return nil, err
		}
		all = append(all, secret)
	}
	return all, nil
}

// FormatMaster writes a secret as ParseMaster reads it.
func FormatMaster(secret []byte) string { return base64.StdEncoding.EncodeToString(secret) }

// NewMaster returns a random master secret.
func NewMaster() []byte {
	secret := make([]byte, masterSize)
	rand.Read(secret) // never fails, as crypto/rand documents
	return secret
}

// RotateMaster replaces the secret in MasterFile under dataDir by a new one and adds the old one to PreviousFile. After a crash at
// any point LoadMaster returns a current secret, and every earlier one is among All. Calls must not overlap.
func RotateMaster(dataDir string) (Masters, error) {
	m, err := LoadMaster(dataDir, "", "")
	if err != nil {
		return Masters{}, err
	}
	m = Masters{Current: NewMaster(), Previous: m.All()}
	m.Previous = m.Previous[:min(len(m.Previous), previousMax)]
	if err := replaceMasters(dataDir, PreviousFile, m.Previous); err != nil {
		return Masters{}, err
	}
	return m, replaceMasters(dataDir, MasterFile, [][]byte{m.Current})
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
	all, err := readMasters(path, 1)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// readMasters reads a file of at least one and at most max secrets, one on a line.
func readMasters(path string, max int) (all [][]byte, err error) {
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
	text, err := io.ReadAll(io.LimitReader(f, int64(2*masterSize*max))) // a line is 45 bytes
	if err != nil {
		return nil, err
	}
	for line := range bytes.FieldsSeq(text) {
		secret, err := base64.StdEncoding.DecodeString(string(line))
		if err != nil || len(secret) != masterSize {
			all = nil
			break
		}
		all = append(all, secret)
	}
	if len(all) == 0 || len(all) > max {
		if filepath.Base(path) == PreviousFile {
			return nil, fmt.Errorf("the earlier master secrets in %s are not each the base64 of %d bytes, at most %d of them: restore it, or remove it (tokens that they signed then end)", path, masterSize, max)
		}
		return nil, fmt.Errorf("the master secret %s does not hold the base64 of %d bytes: restore it; if it is lost, remove the file and run gonebox secret rotate --lost (every token and two-factor secret then ends)", path, masterSize)
	}
	return all, nil
}

// createMaster creates the file at path, unless another process does so meanwhile. The file gets its name when its content is
// on stable storage, so that a crash leaves either no file or a complete one.
func createMaster(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temporary, err := writeMasters(dir, MasterFile, [][]byte{NewMaster()})
	defer os.Remove(temporary)
	if err != nil {
		return err
	}
	if err := os.Link(temporary, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(dir)
}

// replaceMasters writes the file name in dir, or replaces it at once.
func replaceMasters(dir, name string, all [][]byte) error {
	temporary, err := writeMasters(dir, name, all)
	defer os.Remove(temporary) // fails after the rename
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, filepath.Join(dir, name)); err != nil {
		return err
	}
	return syncFolder(dir)
}

// writeMasters writes secrets to a new file in dir, with mode 0600, and syncs it.
func writeMasters(dir, name string, all [][]byte) (path string, err error) {
	f, err := os.CreateTemp(dir, name+".*") // O_EXCL, mode 0600
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, secret := range all {
		text.WriteString(FormatMaster(secret) + "\n")
	}
	_, err = f.WriteString(text.String())
	return f.Name(), errors.Join(err, f.Sync(), f.Close())
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
