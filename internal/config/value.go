package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/ratelimit"
)

// parseScalar parses text as a value of type t. Its errors continue a sentence that begins with the value.
func parseScalar(t reflect.Type, text string) (reflect.Value, error) {
	v, err := reflect.New(t).Elem(), error(nil)
	switch p := v.Addr().Interface().(type) {
	case *time.Duration:
		*p, err = parseDuration(text)
	case *Size:
		*p, err = ParseSize(cmp.Or(text, "0")) // an empty variable means 0, which most settings refuse
	case *netip.Prefix:
		*p, err = parsePrefix(text)
	case *slog.Level:
		err = p.UnmarshalText([]byte(text)) // the tag oneof excludes forms like info+2
	case *ratelimit.Limit:
		if *p, err = ratelimit.ParseLimit(text); err != nil {
			err = fmt.Errorf("is not a rate: %w", err)
		}
	case *Secret:
		*p, err = Secret(text), checkPrintable(text)
		if text == mask {
			err = errors.New("is the mask of a printed configuration; put the secret itself in")
		}
	case *string:
		*p, err = text, checkPrintable(text)
	case *bool:
		if *p = text == "true"; text != "true" && text != "false" {
			err = errors.New("is neither true nor false")
		}
	case *int, *int64:
		n, parseErr := strconv.ParseInt(text, 10, t.Bits())
		if parseErr != nil {
			err = errors.New("is not a whole number")
		}
		v.SetInt(n)
	default:
		panic(fmt.Sprintf("a setting of type %s", t))
	}
	return v, err
}

// scalarText formats v as parseScalar reads it, except that a secret is masked.
func scalarText(v any) string {
	switch v := v.(type) {
	case time.Duration:
		return durationText(v)
	case slog.Level:
		return strings.ToLower(v.String())
	}
	return fmt.Sprint(v)
}

// isNumber reports whether t counts something, so that bounds apply to it.
func isNumber(t reflect.Type) bool {
	return (t.Kind() == reflect.Int || t.Kind() == reflect.Int64) && t != reflect.TypeFor[slog.Level]()
}

// checkPrintable refuses text that would break a log line or the printed configuration.
func checkPrintable(text string) error {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return errors.New("has control characters or is not UTF-8")
	}
	return nil
}

// parsePrefix parses a network. A single address stands for the network of that address alone.
func parsePrefix(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return prefix, errors.New("is not a network; write it like 10.0.0.0/8 or fd00::/8")
	}
	if prefix != prefix.Masked() {
		return prefix, fmt.Errorf("has bits beyond its mask; write %s", prefix.Masked())
	}
	return prefix, nil
}

var errDuration = errors.New("is not a duration; write it like 15s, 30m, 720h or 30d")

// parseDuration parses what time.ParseDuration parses, optionally with days in front: 30d, 1d12h.
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

// durationText formats d without the zero minutes and seconds that Duration.String appends: 24h, not 24h0m0s.
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
