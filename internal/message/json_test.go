package message

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What is appended is read as what the library writes would be.
func FuzzSummaryJSON(f *testing.F) {
	f.Add("Ann \"A\" <x>", "ann@example.org", "Grüße\u2028\\", "493021", 0.875, int64(1773489600123456), true)
	f.Add("", "", "\x00\x1f\xff", "", 0.0, int64(0), false)
	f.Fuzz(func(t *testing.T, name, address, text, code string, confidence float64, sent int64, more bool) {
		if !(confidence >= 0 && confidence <= 1) {
			t.Skip()
		}
		s := stored{From: Address{name, address}, Subject: text, Preview: name, SentAt: sent, HasAttachments: more, EnvelopeTo: []string{address}}
		if code != "" {
			s.OTP = &storedOTP{Code: code, Display: text, Confidence: confidence, Source: "builtin", Kind: "numeric"}
		}
		if more {
			s.To, s.EnvelopeTo = []Address{{text, code}, {}}, append(s.EnvelopeTo, text, "")
			if s.OTP != nil {
				s.OTP.FilterID, s.OTP.Links = &name, []string{address, text}
			}
		}
		wanted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var got, want stored
		if err := json.Unmarshal(wanted, &want); err != nil {
			t.Fatal(err)
		}
		appended := s.appendJSON(nil)
		if err := json.Unmarshal(appended, &got); err != nil {
			t.Fatalf("%v: %s", err, appended)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s\n%s", appended, diff)
		}
	})
}
