package clock_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

func TestStampIsUTCInMilliseconds(t *testing.T) {
	hanoi := time.FixedZone("", 7*3600)
	at := clock.Stamp{Time: time.Date(2026, 2, 28, 6, 30, 0, 123_987_000, hanoi)}
	got, err := json.Marshal(at)
	if want := `"2026-02-27T23:30:00.123Z"`; err != nil || string(got) != want {
		t.Errorf("Marshal = %s, %v; want %s", got, err, want)
	}
	if got, err := at.AppendText([]byte("at ")); err != nil || string(got) != "at 2026-02-27T23:30:00.123Z" {
		t.Errorf("AppendText = %s, %v; want at 2026-02-27T23:30:00.123Z", got, err)
	}
	var back clock.Stamp
	if err := json.Unmarshal(got, &back); err != nil || back.String() != "2026-02-27T23:30:00.123Z" {
		t.Errorf("Unmarshal(%s) = %s, %v, want 2026-02-27T23:30:00.123Z", got, back, err)
	}
	for _, bad := range []string{`"yesterday"`, `5`, `""`, `"`} {
		if err := back.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s was read as %s, want an error", bad, back)
		}
	}
}
