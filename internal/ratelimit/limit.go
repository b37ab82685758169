package ratelimit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxPer bounds a window, so that the arithmetic in microseconds stays far from overflow. It is a leap year.
const maxPer = 366 * 24 * time.Hour

// Window allows Count at once, and Count more spread evenly over each Per: after a burst of Count one more passes
// every Per/Count. A window outside the bounds below, which ParseLimit does not return, is treated as the nearest
// inside.
type Window struct {
	Count int           // at least 1, at most one a microsecond
	Per   time.Duration // whole microseconds, at most 366 days
}

// Limit is a limit of one or more windows, all of which must allow a request. The empty limit allows everything.
type Limit []Window

// ParseLimit parses a limit in the form of the configuration: "30/1m" or "30/1m, 300/24h", each a count and a duration
// in the form of time.ParseDuration. Two windows of one limit may not have the same duration. Errors are meant for
// operators and contain the text.
func ParseLimit(s string) (Limit, error) {
	var l Limit
	for text := range strings.SplitSeq(s, ",") {
		w, err := parseWindow(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("limit %q: %w", s, err)
		}
		for _, other := range l {
			if other.Per == w.Per {
				return nil, fmt.Errorf("limit %q: two counts for %s", s, span(w.Per))
			}
		}
		l = append(l, w)
	}
	return l, nil
}

// parseWindow parses one count/duration within the bounds that Window documents.
func parseWindow(text string) (Window, error) {
	count, per, ok := strings.Cut(text, "/")
	if !ok {
		return Window{}, fmt.Errorf("%q is not count/duration, as in 30/1m", text)
	}
	n, err := strconv.ParseUint(count, 10, 31)
	if err != nil || n == 0 {
		return Window{}, fmt.Errorf("%q is not a count above zero", count)
	}
	d, err := time.ParseDuration(per)
	if err != nil || d <= 0 || d > maxPer || d%time.Microsecond != 0 {
		return Window{}, fmt.Errorf("%q is not a duration in whole microseconds up to %s, as in 1m", per, span(maxPer))
	}
	if int64(n) > d.Microseconds() {
		return Window{}, fmt.Errorf("%q is more than one a microsecond", text)
	}
	return Window{Count: int(n), Per: d}, nil
}

// String returns the form that ParseLimit parses: "30/1m".
func (w Window) String() string { return strconv.Itoa(w.Count) + "/" + span(w.Per) }

// String returns the form that ParseLimit parses: "30/1m, 300/24h".
func (l Limit) String() string {
	texts := make([]string, len(l))
	for i, w := range l {
		texts[i] = w.String()
	}
	return strings.Join(texts, ", ")
}

// UnmarshalText implements encoding.TextUnmarshaler by ParseLimit. After an error l is unchanged.
func (l *Limit) UnmarshalText(text []byte) error {
	parsed, err := ParseLimit(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

// MarshalText implements encoding.TextMarshaler by String.
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// span formats a duration without trailing zero units: 24h, not 24h0m0s.
func span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
