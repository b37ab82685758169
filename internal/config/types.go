package config

import (
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"
)

// mask stands for a secret wherever one would be printed.
const mask = "***"

// Secret is a text that is never printed: it shows itself as ***, or as nothing when it is empty. Convert it to a
// string to use it.
type Secret string

// String is the mask.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString is the mask.
func (s Secret) GoString() string { return strconv.Quote(s.String()) }

// LogValue is the mask.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalYAML gives the mask.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// MarshalJSON gives the mask.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// Size is a number of octets, written like 25MiB.
type Size int64

var errSize = errors.New("is not a size; write it like 25MiB, 512KiB or 4096B")

// sizeUnits are the units of a Size from the largest to the smallest.
func sizeUnits() []struct {
	suffix string
	octets Size
} {
	return []struct {
		suffix string
		octets Size
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}
}

// ParseSize reads a whole number with one of the units TiB, GiB, MiB, KiB and B, or of octets without a unit.
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

// String writes the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits() {
		if s != 0 && s%u.octets == 0 {
			return strconv.FormatInt(int64(s/u.octets), 10) + u.suffix
		}
	}
	return "0"
}

var errDuration = errors.New("is not a duration; write it like 15s, 30m, 720h or 30d")

// parseDuration reads what time.ParseDuration reads, and days in front of it: 30d, 1d12h.
func parseDuration(text string) (time.Duration, error) {
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		days, rest = "0", text
	} else if rest == "" {
		rest = "0"
	}
	const day = 24 * time.Hour
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil || n > uint64(math.MaxInt64/day) {
		return 0, errDuration
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d > math.MaxInt64-time.Duration(n)*day {
		return 0, errDuration
	}
	return time.Duration(n)*day + d, nil
}

// durationText writes d without the zeros that Duration.String puts behind hours and minutes.
func durationText(d time.Duration) string {
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}
