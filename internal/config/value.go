package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/ratelimit"
)

// parseScalar reads text into the scalar that p points to. Its errors continue a sentence that begins with the value.
func parseScalar(p any, text string) (err error) {
	switch p := p.(type) {
	case *string:
		*p, err = text, printable(text)
	case *Secret:
		*p, err = Secret(text), unmasked(text)
	case *bool:
		*p, err = parseBool(text)
	case *int:
		*p, err = parseInt[int](text)
	case *int64:
		*p, err = parseInt[int64](text)
	case *Size:
		if text == "" { // refused as zero is, but where zero means something
			text = "0"
		}
		*p, err = ParseSize(text)
	case *time.Duration:
		*p, err = parseDuration(text)
	case *slog.Level:
		*p, err = parseLevel(text)
	case *netip.Prefix:
		*p, err = parsePrefix(text)
	case *ratelimit.Limit:
		if *p, err = ratelimit.ParseLimit(text); err != nil {
			err = fmt.Errorf("is not a rate: %w", err)
		}
	default:
		err = fmt.Errorf("cannot be read: no reader for %T", p)
	}
	return err
}

// scalarText is the inverse of parseScalar, with secrets masked.
func scalarText(v any) string {
	switch v := v.(type) {
	case time.Duration:
		return durationText(v)
	case slog.Level:
		return strings.ToLower(v.String())
	}
	return fmt.Sprint(v)
}

// printable refuses what would break a log line or the printed configuration.
func printable(text string) error {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return errors.New("has control characters or is not UTF-8")
	}
	return nil
}

func unmasked(text string) error {
	if text == mask {
		return errors.New("is the mask of a printed configuration; put the secret itself in")
	}
	return printable(text)
}

func parseBool(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, errors.New("is neither true nor false")
	}
	return text == "true", nil
}

func parseInt[T int | int64](text string) (T, error) {
	n, err := strconv.ParseInt(text, 10, reflect.TypeFor[T]().Bits())
	if err != nil {
		return 0, errors.New("is not a whole number")
	}
	return T(n), nil
}

func parseLevel(text string) (slog.Level, error) {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if text == scalarText(level) {
			return level, nil
		}
	}
	return 0, errors.New("is none of debug, info, warn, error")
}

// parsePrefix takes a single address for the network of that address alone.
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
