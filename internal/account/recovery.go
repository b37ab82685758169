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

// recoveryAlphabet has no characters that look alike: no 0 and o, no 1, i and l. Codes are written down and typed.
const recoveryAlphabet = "23456789abcdefghjkmnpqrstuvwxyz"

// recoveryLen is the length of a recovery code: 49 bits, at attemptsMax guesses an hour.
const recoveryLen = 10

// recoveryKey hashes recovery codes. A hash of 49 bits without a key could be brute-forced from a copy of the database.
// The key is derived from the data key, which is in the database only encrypted under the master secret.
type recoveryKey []byte

// hash returns the HMAC-SHA-256 of a normalized code. The account is part of it, so that equal codes of two accounts
// have different hashes; the zero octet separates the two, so that no other pair gives the same input.
func (k recoveryKey) hash(account id.Account, code string) []byte {
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(account))
	mac.Write([]byte{0})
	mac.Write([]byte(code))
	return mac.Sum(nil)
}

// normalizeCode returns the form of a code that is compared: lower case, without spaces and hyphens. Authenticator apps
// show codes in groups, and people copy the spaces or hyphens (any dash, Unicode Pd) between them.
func normalizeCode(code string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Pd) {
			return -1
		}
		return r
	}, code))
}

// newRecoveryCode returns a random code of recoveryLen characters, each equally likely.
func newRecoveryCode() (string, error) {
	code, size := make([]byte, recoveryLen), big.NewInt(int64(len(recoveryAlphabet)))
	for i := range code {
		n, err := rand.Int(rand.Reader, size)
		if err != nil {
			return "", fmt.Errorf("generate a recovery code: %w", err)
		}
		code[i] = recoveryAlphabet[n.Int64()]
	}
	return string(code), nil
}

// replaceRecoveryCodesTx replaces an account's recovery codes and returns the new ones, of which only hashes are stored.
func (s *Service) replaceRecoveryCodesTx(ctx context.Context, tx *db.Tx, account id.Account) (codes []string, err error) {
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

// useRecoveryCodeTx deletes a recovery code and reports whether there was one. Deleting is the check, so that of two
// concurrent calls one succeeds. The code is normalized.
func (s *Service) useRecoveryCodeTx(ctx context.Context, tx *db.Tx, account id.Account, code string) (bool, error) {
	n, err := tx.Exec(ctx, deleteRecoveryCode, account, s.recovery.hash(account, code))
	return n > 0, err
}
