package clock

import (
	"fmt"
	"time"
)

// Stamp is a moment as the interface writes it: RFC 3339, UTC, millisecond precision (decisions §1).
type Stamp struct{ time.Time }

const stampLayout = "2006-01-02T15:04:05.000Z"

// Micro returns the stamp of a time kept as microseconds since 1970.
func Micro(us int64) Stamp { return Stamp{time.UnixMicro(us).UTC()} }

// String is the stamp as the interface writes it.
func (s Stamp) String() string { return s.UTC().Format(stampLayout) }

// MarshalText writes the stamp.
func (s Stamp) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON writes the stamp in quotes; it hides the method of time.Time, whose precision is another.
func (s Stamp) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// UnmarshalText reads any RFC 3339 time.
func (s *Stamp) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("%q is not an RFC 3339 time such as 2026-01-31T12:00:00.000Z", text)
	}
	s.Time = t.UTC()
	return nil
}

// UnmarshalJSON reads any RFC 3339 time in quotes.
func (s *Stamp) UnmarshalJSON(text []byte) error {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return fmt.Errorf("%s is not a time in quotes", text)
	}
	return s.UnmarshalText(text[1 : len(text)-1])
}
