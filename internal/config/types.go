package config

import (
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strconv"
	"strings"
)

// mask is printed in place of a secret.
const mask = "***"

// Secret is text that is never printed: every format shows *** instead, or nothing if it is empty. Convert it to a string
// to use it.
type Secret string

// String returns the mask.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString returns the mask.
func (s Secret) GoString() string { return strconv.Quote(s.String()) }

// LogValue returns the mask.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalYAML returns the mask.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// MarshalJSON returns the mask.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// Size is a number of octets. As text it is written like 25MiB.
type Size int64

var errSize = errors.New("is not a size; write it like 25MiB, 512KiB or 4096B")

type sizeUnit struct {
	suffix string
	octets Size
}

// sizeUnits returns the units from the largest to the smallest. An empty suffix stands for octets.
func sizeUnits() []sizeUnit {
	return []sizeUnit{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}
}

// ParseSize parses a whole number followed by TiB, GiB, MiB, KiB, B or nothing.
func ParseSize(text string) (Size, error) {
	for _, u := range sizeUnits() {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n > math.MaxInt64/int64(u.octets) || n < math.MinInt64/int64(u.octets) {
			return 0, errSize
		}
		return Size(n) * u.octets, nil
	}
	return 0, errSize
}

// String formats the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits() {
		if s != 0 && s%u.octets == 0 {
			return strconv.FormatInt(int64(s/u.octets), 10) + u.suffix
		}
	}
	return "0"
}
