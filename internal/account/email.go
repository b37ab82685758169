package account

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/gonebox/gonebox/internal/problem"
)

// emailMax is the longest e-mail address in characters (spec §2).
const emailMax = 255

// Fold gives an e-mail address the form in which addresses are kept and compared: lower case (Unicode), NFC.
func Fold(email string) string {
	return norm.NFC.String(strings.ToLower(norm.NFC.String(email)))
}

// Identity is what attempts to sign in as an e-mail address are counted by, whether there is such an account or not. It
// tells the address to nobody.
func Identity(email string) string {
	sum := sha256.Sum256([]byte(Fold(email)))
	return hex.EncodeToString(sum[:16])
}

// parseEmail folds an address that somebody wants to register. The check is lenient, since only mail to an address shows whether
// it is one: one @ with something on both sides, and nothing that cannot be seen. Error: request.invalid.
func parseEmail(text string) (string, error) {
	email := Fold(text)
	local, domain, found := strings.Cut(email, "@")
	switch {
	case !found || local == "" || domain == "" || strings.Contains(domain, "@"):
		return "", problem.Invalid("/email", "must be of the form name@domain")
	case utf8.RuneCountInString(email) > emailMax || utf8.RuneCountInString(text) > emailMax:
		return "", problem.Invalid("/email", "must be at most %d characters long", emailMax)
	case strings.ContainsFunc(email, unseen):
		return "", problem.Invalid("/email", "must not hold blanks and control characters")
	}
	return email, nil
}

// unseen tells blanks, control and format characters, and what is no character.
func unseen(r rune) bool {
	return r == utf8.RuneError || unicode.In(r, unicode.Z, unicode.C)
}
