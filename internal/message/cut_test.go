package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// What a summary costs as JSON, in an event at worst.
const summaryMax = 64<<10 - 512

func TestTheCostliestSummaryFitsAnEvent(t *testing.T) {
	for _, costly := range []string{"<", "\x01", "\xff", "😀", "\u2028", `"`} {
		long := strings.Repeat(costly, 10_000)
		whole := Summary{From: Address{Name: long, Address: long}, Subject: long, Preview: strings.Repeat(costly, 200)}
		whole.OTP = &OTP{Code: strings.Repeat(costly, 64), Display: strings.Repeat(costly, 64), Links: []string{long[:2048], long[:2048], long[:2048], long[:2048], long[:2048]}}
		var to []string
		for i := range 1000 {
			whole.To, to = append(whole.To, Address{Name: fmt.Sprint(long, i), Address: long}), append(to, long[:254])
		}
		before, _ := json.Marshal(whole)
		for _, header := range [][]Address{whole.To, nil} {
			m := whole
			m.To = header
			shown := (&Draft{summary: cut(m)}).Summary(Delivery{To: to, Tags: slices.Repeat([]string{strings.Repeat("t", 100)}, 20)})
			text, err := json.Marshal(shown)
			if err != nil || len(text) > summaryMax {
				t.Errorf("%q: a summary of %d octets, %v, want at most %v", costly, len(text), err, summaryMax)
			}
			if len(shown.To) == 0 {
				t.Errorf("the summary with the recipients %q shows none, want at least one", costly)
			}
		}
		if after, _ := json.Marshal(whole); !bytes.Equal(after, before) {
			t.Errorf("the summary was changed to\n%s\nwant it as before:\n%s", after, before)
		}
	}
}

func TestShortFieldsAreNotCut(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "short": "short", strings.Repeat("ü", textMax): strings.Repeat("ü", textMax),
		strings.Repeat("ü", textMax+1): strings.Repeat("ü", textMax), strings.Repeat("x", textMax+1): strings.Repeat("x", textMax),
	} {
		if got := cutText(text); got != want {
			t.Errorf("%d code points became %d, want %v", utf8.RuneCountInString(text), utf8.RuneCountInString(got), want)
		}
	}
}

func FuzzJSONLen(f *testing.F) {
	f.Add("Grüße \"<a&b>\" \u2028\x00\x7f\xff\\")
	f.Fuzz(func(t *testing.T, s string) {
		text, _ := json.Marshal(s)
		if n := jsonLen(s); n < len(text)+1 || n > len(`"",`)+6*utf8.RuneCountInString(s) {
			t.Errorf("%q takes %d octets as JSON, counted as %d, want the count between %d and %d", s, len(text), n, len(text)+1, len(`"",`)+6*utf8.RuneCountInString(s))
		}
	})
}
