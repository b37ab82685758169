package account

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Cost has the parameters of Argon2id (RFC 9106 §3.1). The default of the service is 19 MiB, two passes and one thread,
// the minimum that OWASP recommends.
type Cost struct {
	Memory  uint32 // m, in KiB
	Passes  uint32 // t
	Threads uint8  // p
}

// Bounds of a parsed hash. This service writes none beyond them.
const (
	// Without them a manipulated row could make the process allocate and compute without bound.
	memoryMax = 4 << 20 // KiB
	passesMax = 1000
	saltMin   = 8
	keyMin    = 16
	bytesMax  = 64 // of salt and key each
)

// phc is a password hash with its parameters. Its text is a PHC string: $argon2id$v=19$m=19456,t=2,p=1$<salt>$<key>,
// base64 without padding. It contains the cost, so that the cost of new hashes can change and old ones can still be
// checked.
type phc struct {
	cost      Cost
	salt, key []byte
}

const phcHead = "$argon2id$v=19$" // 19 is version 1.3, the only one of RFC 9106

// String returns the PHC string.
func (h phc) String() string {
	b := base64.RawStdEncoding
	return fmt.Sprintf("%sm=%d,t=%d,p=%d$%s$%s", phcHead, h.cost.Memory, h.cost.Passes, h.cost.Threads,
		b.EncodeToString(h.salt), b.EncodeToString(h.key))
}

// errPHC does not quote the text, which is as secret as a password.
var errPHC = errors.New("not the PHC string of an Argon2id hash")

// parsePHC parses what String returns, and nothing else. It is strict, so that each hash has one text. Error: errPHC.
func parsePHC(text string) (h phc, err error) {
	rest, ok := strings.CutPrefix(text, phcHead)
	parts := strings.Split(rest, "$")
	if !ok || len(parts) != 3 {
		return phc{}, errPHC
	}
	if h.cost, err = parseCost(parts[0]); err != nil {
		return phc{}, err
	}
	if h.salt, err = parseBytes(parts[1], saltMin); err != nil {
		return phc{}, err
	}
	if h.key, err = parseBytes(parts[2], keyMin); err != nil {
		return phc{}, err
	}
	return h, nil
}

// parseCost parses m=…,t=…,p=… in this order. Error: errPHC.
func parseCost(text string) (c Cost, err error) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return Cost{}, errPHC
	}
	m, errM := parseNumber(parts[0], "m=", memoryMax)
	t, errT := parseNumber(parts[1], "t=", passesMax)
	p, errP := parseNumber(parts[2], "p=", 255)
	if err := errors.Join(errM, errT, errP); err != nil || m < 8*p { // RFC 9106 §3.1
		return Cost{}, errPHC
	}
	return Cost{Memory: m, Passes: t, Threads: uint8(p)}, nil
}

// parseNumber parses a decimal number from 1 to max without a sign and leading zeros. Error: errPHC.
func parseNumber(text, name string, max uint64) (uint32, error) {
	digits, ok := strings.CutPrefix(text, name)
	n, err := strconv.ParseUint(digits, 10, 32)
	if !ok || err != nil || n > max || !strings.ContainsRune("123456789", rune(digits[0])) {
		return 0, errPHC
	}
	return uint32(n), nil
}

// parseBytes decodes base64 without padding into min to bytesMax octets. Error: errPHC.
func parseBytes(text string, min int) ([]byte, error) {
	b, err := base64.RawStdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") || len(b) < min || len(b) > bytesMax { // the decoder skips line ends
		return nil, errPHC
	}
	return b, nil
}
