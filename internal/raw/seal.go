package raw

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
)

// seal is the secret part of a Ref: the key under which the data of one record is encrypted, and the CRC-32C of that data. It is stored only
// with the rows of the messages, so deleting the last of them makes the record unreadable (docs/decisions/0082).
type seal struct {
	key [16]byte // random, and never used for another record
	sum uint32
}

// Seal returns the record of a raw message, which both stores can append. data is the result of Compress, CompressChunks or Store. It is
// encrypted in place and belongs to the record from then on. Sealing once for all attempts to store a record keeps them from encrypting
// what is encrypted already.
func Seal(class time.Duration, data []byte) Record {
	s := seal{sum: crc32.Checksum(data, castagnoli)}
	rand.Read(s.key[:]) // never fails, as crypto/rand documents
	s.crypt(data, 0)
	return Record{Class: class, Data: data, seal: s}
}

// Read returns the octets that were passed to Compress before Seal. Error: ErrDamaged.
func (r Record) Read() ([]byte, error) {
	data := bytes.Clone(r.Data)
	r.seal.crypt(data, 0)
	return Decompress(data)
}

// crypt encrypts or decrypts in place the octets of a record from offset off on, with AES in counter mode. The counter begins at zero,
// since each record has a key of its own; any part of a record can therefore be decrypted alone.
func (s seal) crypt(p []byte, off int64) {
	block, err := aes.NewCipher(s.key[:])
	if err != nil {
		panic(err) // only for a key of another length
	}
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(off/aes.BlockSize))
	stream := cipher.NewCTR(block, counter[:])
	var skipped [aes.BlockSize]byte
	stream.XORKeyStream(skipped[:off%aes.BlockSize], skipped[:off%aes.BlockSize])
	stream.XORKeyStream(p, p)
}

// unseal decrypts all data of a record in place. It fails with ErrDamaged if the data is not what was sealed.
func (s seal) unseal(data []byte) ([]byte, error) {
	s.crypt(data, 0)
	if crc32.Checksum(data, castagnoli) != s.sum {
		return nil, fmt.Errorf("%w: another checksum of the content", ErrDamaged)
	}
	return data, nil
}

// text returns the seal as the last part of a Ref.
func (s seal) text() string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(s.key[:], s.sum))
}

// parseSeal is the inverse of seal.text. For anything else it returns a seal with another text.
func parseSeal(text string) (s seal) {
	if b, err := base64.RawURLEncoding.DecodeString(text); err == nil && len(b) == len(s.key)+4 {
		copy(s.key[:], b)
		s.sum = binary.BigEndian.Uint32(b[len(s.key):])
	}
	return s
}

// Redacted returns a reference without its seal, for errors: the key must not get into a log, which outlives the rows of the message.
func (r Ref) Redacted() string {
	text := string(r)
	if at := strings.LastIndexByte(text, '.'); at >= 0 && !r.IsInRow() {
		return text[:at]
	}
	return text
}

// sealed is a source of a record's encrypted data as a source of its data.
type sealed struct {
	source
	seal seal
}

func (s sealed) read(ctx context.Context, p []byte, off int64) error {
	if err := s.source.read(ctx, p, off); err != nil {
		return err
	}
	s.seal.crypt(p, off)
	return nil
}

func (s sealed) whole(ctx context.Context) ([]byte, error) {
	data, err := s.source.whole(ctx)
	if err != nil {
		return nil, err
	}
	return s.seal.unseal(data)
}
