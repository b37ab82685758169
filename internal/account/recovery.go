package account

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"strings"
	"unicode"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// recoveryAlphabet has no characters that look alike: no 0 and o, no 1, i and l.
const recoveryAlphabet = "23456789abcdefghjkmnpqrstuvwxyz"

// recoveryLen is the length of a recovery code: 49 bits, of which nobody may try more than attemptsMax an hour.
const recoveryLen = 10

// recoveryKey hashes recovery codes. A plain hash of 49 bits could be searched by whoever gets hold of the database.
type recoveryKey []byte

func (k recoveryKey) hash(account id.Account, code string) []byte {
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(account))
	mac.Write([]byte{0})
	mac.Write([]byte(code))
	return mac.Sum(nil)
}

// plainCode gives a code the form that is compared, however it was copied: without blanks and hyphens, in lower case.
func plainCode(code string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Pd) {
			return -1
		}
		return r
	}, code))
}

func newRecoveryCode() (string, error) {
	code, size := make([]byte, recoveryLen), big.NewInt(int64(len(recoveryAlphabet)))
	for i := range code {
		n, err := rand.Int(rand.Reader, size)
		if err != nil {
			return "", fmt.Errorf("make a recovery code: %w", err)
		}
		code[i] = recoveryAlphabet[n.Int64()]
	}
	return string(code), nil
}

// handOutTx replaces an account's recovery codes and returns the new ones, which are told this once.
func (s *Service) handOutTx(ctx context.Context, tx *db.Tx, account id.Account) (codes []string, err error) {
	if _, err := tx.Exec(ctx, deleteRecoveryCodes, account); err != nil {
		return nil, err
	}
	for range s.policy.RecoveryCodes {
		code, err := newRecoveryCode()
		if err != nil {
			return nil, err
		}
		if _, err := tx.Exec(ctx, insertRecoveryCode, account, s.recovery.hash(account, code)); err != nil {
			return nil, err
		}
		codes = append(codes, code)
	}
	return codes, nil
}

// recoverTx uses up a recovery code; it tells whether the code was one.
func (s *Service) recoverTx(ctx context.Context, tx *db.Tx, account id.Account, code string) (bool, error) {
	n, err := tx.Exec(ctx, deleteRecoveryCode, account, s.recovery.hash(account, code))
	return n > 0, err
}
