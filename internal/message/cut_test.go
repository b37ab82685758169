package message

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// What a summary costs as JSON, in an event at worst.
const summaryMax = 64<<10 - 512

func TestTheCostliestSummaryFitsAnEvent(t *testing.T) {
	for _, costly := range []string{"<", "\x01", "\xff", "😀", "\u2028", `"`} {
		long := strings.Repeat(costly, 10_000)
		s := stored{From: Address{long, long}, Subject: long, Preview: strings.Repeat(costly, 200)}
		s.OTP = &storedOTP{Code: strings.Repeat(costly, 64), Display: strings.Repeat(costly, 64), Links: []string{long[:2048], long[:2048], long[:2048], long[:2048], long[:2048]}}
		for i := range 1000 {
			s.To, s.EnvelopeTo = append(s.To, Address{fmt.Sprint(long, i), long}), append(s.EnvelopeTo, long[:254])
		}
		before, _ := json.Marshal(s)
		for _, to := range [][]Address{s.To, nil} {
			s.To = to
			kept := s.cut()
			var m Summary
			kept.show(&m)
			text, err := json.Marshal(m)
			if err != nil || len(text) > summaryMax || m.octets() < len(text) {
				t.Errorf("%q: a summary of %d octets, counted as %d, %v", costly, len(text), m.octets(), err)
			}
			if len(m.To) == 0 {
				t.Errorf("%q: no recipient is shown", costly)
			}
		}
		s.To = nil
		if after, _ := json.Marshal(s); len(after) > len(before) {
			t.Error("the summary was changed")
		}
	}
}

func TestShortFieldsAreNotCut(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "short": "short", strings.Repeat("ü", textMax): strings.Repeat("ü", textMax),
		strings.Repeat("ü", textMax+1): strings.Repeat("ü", textMax), strings.Repeat("x", textMax+1): strings.Repeat("x", textMax),
	} {
		if got := cutText(text); got != want {
			t.Errorf("%d code points became %d", utf8.RuneCountInString(text), utf8.RuneCountInString(got))
		}
	}
}

func FuzzJSONLen(f *testing.F) {
	f.Add("Grüße \"<a&b>\" \u2028\x00\x7f\xff\\")
	f.Fuzz(func(t *testing.T, s string) {
		text, _ := json.Marshal(s)
		if n := jsonLen(s); n < len(text)+1 || n > len(`"",`)+6*utf8.RuneCountInString(s) {
			t.Errorf("%q is %d octets as JSON, counted as %d", s, len(text), n)
		}
	})
}
