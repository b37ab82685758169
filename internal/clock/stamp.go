package clock

import (
	"fmt"
	"time"
)

// Stamp is a time in the form of the API: RFC 3339, UTC, with milliseconds (docs/spec/conventions.md#paths-and-bodies).
type Stamp struct{ time.Time }

const stampLayout = "2006-01-02T15:04:05.000Z"

// Micro returns the stamp of a time kept as microseconds since 1970.
func Micro(us int64) Stamp { return Stamp{time.UnixMicro(us).UTC()} }

// Optional returns the stamp of a time that may be absent: nil for the zero time, which JSON writes as null.
func Optional(at time.Time) *Stamp {
	if at.IsZero() {
		return nil
	}
	return &Stamp{at}
}

// String returns the stamp in the form of the API.
func (s Stamp) String() string { return s.UTC().Format(stampLayout) }

// AppendText implements encoding.TextAppender by String. It hides the method of time.Time, which has another precision.
func (s Stamp) AppendText(b []byte) ([]byte, error) { return s.UTC().AppendFormat(b, stampLayout), nil }

// MarshalText implements encoding.TextMarshaler by String.
func (s Stamp) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON returns the stamp in quotes. It hides the method of time.Time, which has another precision.
func (s Stamp) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// UnmarshalText parses an RFC 3339 time in the years 1970 to 9999 UTC: an earlier time could be confused with the zero that is stored for
// an absent one, and a later one has no RFC 3339 form.
func (s *Stamp) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("%q is not an RFC 3339 time such as 2026-01-31T12:00:00.000Z", text)
	}
	if t = t.UTC(); t.Year() < 1970 || t.Year() > 9999 {
		return fmt.Errorf("%q is not in the years 1970 to 9999 UTC", text)
	}
	s.Time = t
	return nil
}

// UnmarshalJSON parses a time in quotes, as UnmarshalText does.
func (s *Stamp) UnmarshalJSON(text []byte) error {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return fmt.Errorf("%s is not a time in quotes", text)
	}
	return s.UnmarshalText(text[1 : len(text)-1])
}
