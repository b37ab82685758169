package message

import (
	"testing"
	"time"
)

// What is shown of a stored summary is what encoding the summary gives, whatever a sender writes into it.
func TestStoredSummaryIsShownAsItIs(t *testing.T) {
	received := time.Date(2026, 3, 14, 12, 0, 0, 123_000_000, time.UTC)
	d := &Draft{size: 7, summary: cut(Summary{
		From: Address{Name: `"seen":false`, Address: "ann@example.org"}, Subject: `","seen":false,"otp":{<&>}`, Preview: "\u2028\\", Size: 7,
		OTP: &OTP{Code: "246810", Display: "246 810", Confidence: 0.98, Source: "builtin", Kind: "numeric"}, Source: SourceSMTP,
	})}
	m := d.Summary(Delivery{Box: "mbx_1", Message: "msg_1", ReceivedAt: received, To: []string{"box@example.org"}})
	stored, err := encode(&m)
	if err != nil {
		t.Fatal(err)
	}
	for _, seen := range []bool{false, true} {
		m.Seen = seen
		want, err := encode(&m)
		if err != nil {
			t.Fatal(err)
		}
		e := Encoded{ID: m.ID, Seen: seen, JSON: stored}
		if got := string(e.AppendJSON(nil)); got != want {
			t.Errorf("seen is %v:\n%s\nwant\n%s", seen, got, want)
		}
		back, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := encode(&back); err != nil || again != want {
			t.Errorf("decoded it is %s, %v", again, err)
		}
		code, err := encode(m.OTP)
		if err != nil || string(e.code()) != code {
			t.Errorf("the code is %s, want %s, %v", e.code(), code, err)
		}
	}
}
