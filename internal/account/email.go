package account

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// emailMax is the maximum length of an e-mail address in characters, before and after folding, which can change the
// length.
const emailMax = 255

// Fold returns the form in which e-mail addresses are stored and compared: Unicode lower case in NFC. NFC is applied
// before and after, since lower-casing may return a text that is not in NFC. The local part is folded too: RFC 5321
// §2.4 lets a host distinguish its case, but hardly any provider does, and two accounts that differ only in case would confuse
// their owners. Any text is accepted; parseEmail checks.
func Fold(email string) string {
	return norm.NFC.String(strings.ToLower(norm.NFC.String(email)))
}

// Identity returns what attempts to sign in with an e-mail address are counted by, whether or not there is an account.
// It is a hash, so that counters do not reveal addresses. It is 32 hexadecimal digits: half of a SHA-256 is enough to
// make collisions improbable.
func Identity(email string) string {
	sum := sha256.Sum256([]byte(Fold(email)))
	return hex.EncodeToString(sum[:16])
}

// parseEmail folds an address to register. The check is lenient, since only a delivered mail proves an address: one @ with
// text on both sides, and no spaces and control characters. Error: request.invalid.
func parseEmail(text string) (string, error) {
	email := Fold(text)
	local, domain, found := strings.Cut(email, "@")
	switch {
	case !found || local == "" || domain == "" || strings.Contains(domain, "@"):
		return "", problem.Invalid("/email", "must be of the form name@domain")
	case utf8.RuneCountInString(email) > emailMax || utf8.RuneCountInString(text) > emailMax:
		return "", problem.Invalid("/email", "must be at most %d characters long", emailMax)
	case strings.ContainsFunc(email, invisible):
		return "", problem.Invalid("/email", "must not contain spaces or control characters")
	}
	return email, nil
}

// ConfirmedEmail returns the e-mail address that an account has confirmed, as mail is sent to it; "" if it has confirmed none, or is
// disabled or gone.
func (s *Service) ConfirmedEmail(ctx context.Context, account id.Account) (string, error) {
	var email string
	err := s.db.QueryRow(ctx, selectConfirmed, account).Scan(&email)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the e-mail address of %s: %w", account, err)
	}
	address, _ := mailable(email)
	return address, nil
}

// mailable returns a stored e-mail address as mail is sent to it: with the domain in A-labels (RFC 5890). ok is false for one that
// no mail can be sent to: the relay may not take others than ASCII, and what it would read in several ways is left out.
func mailable(email string) (address string, ok bool) {
	local, domain, _ := strings.Cut(email, "@")
	domain, err := idna.Lookup.ToASCII(domain)
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`<>()[]\,;:"%!|`, r) }
	if err != nil || domain == "" || strings.ContainsFunc(local, odd) || strings.HasPrefix(local, "-") || len(local)+len(domain) > mailableMax {
		return "", false
	}
	return local + "@" + domain, true
}

// mailableMax is the maximum length of an address in octets, without the @ (RFC 5321 §4.5.3.1.3).
const mailableMax = 253

// invisible reports whether r is a space, a control or format character, or invalid UTF-8. Two addresses that look
// equal must not be two accounts.
func invisible(r rune) bool {
	return r == utf8.RuneError || unicode.In(r, unicode.Z, unicode.C)
}
