package ingress

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/problem"
)

// isBasic reports whether a request has the credentials of Basic authentication for an ingress (RFC 7617): its name and its secret.
func isBasic(h http.Header, c Config) bool {
	values := h.Values("Authorization")
	if len(values) != 1 || c.Secret == "" {
		return false
	}
	scheme, text, _ := strings.Cut(values[0], " ")
	credentials, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || !strings.EqualFold(scheme, "Basic") {
		return false
	}
	// Hashes have the same length, so that the time of the comparison does not depend on the length of the secret.
	given, want := sha256.Sum256(credentials), sha256.Sum256([]byte(c.Name+":"+c.Secret))
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// requireBasic is isBasic as an error: auth.required or auth.invalid_token.
func requireBasic(h http.Header, c Config) error {
	switch {
	case isBasic(h, c):
		return nil
	case h.Get("Authorization") == "":
		return problem.Detailf(problem.AuthRequired, "send Basic authentication with the name of the ingress and its secret")
	}
	return problem.New(problem.AuthInvalidToken)
}

// isMAC reports whether a text is the hexadecimal HMAC-SHA-256 of parts, one behind the other.
func isMAC(text, key string, parts ...[]byte) bool {
	given, err := hex.DecodeString(text)
	if err != nil || key == "" {
		return false
	}
	mac := hmac.New(sha256.New, []byte(key))
	for _, part := range parts {
		mac.Write(part) // never fails
	}
	return hmac.Equal(given, mac.Sum(nil))
}

// isRecent reports whether a text is a time in seconds since 1970 that is at most past before now, or a few minutes after it, as clocks
// differ.
func isRecent(text string, now time.Time, past time.Duration) bool {
	const ahead = 5 * time.Minute
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || len(text) > len("99999999999") {
		return false
	}
	age := now.Sub(time.Unix(seconds, 0))
	return age <= past && age >= -ahead
}
