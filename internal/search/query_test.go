package search_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/resource"
	"github.com/gonebox/gonebox/internal/search"
)

func TestQueriesAreBounded(t *testing.T) {
	for _, text := range []string{"", " ", "-", `""`, `" "`, `-"  "`, strings.Repeat("a", 1001), strings.Repeat("a ", 17), "after:x", "larger:-1", "larger:9999999999999999"} {
		_, err := search.Parse("?q", text, time.UTC)
		if p, ok := problem.From(err); !ok || p.Code != problem.RequestInvalid || len(p.Fields) != 1 || p.Fields[0].Pointer != "?q" {
			t.Errorf("Parse of %.20q: %v, want %s of ?q", text, err, problem.RequestInvalid)
		}
	}
}

func TestSelectionsNeedValues(t *testing.T) {
	for text, ok := range map[string]bool{
		"subject:": false, "SUBJECT:": false, "-subject:": false, `subject:""`: false, `subject:" "`: false, "hello to:": false, "from: hello": false,
		"addressed:": false, "message-id:<>": false, "tag:": false, "is:": false, "has:": false, "before:": false, "larger:": false, `""`: false,
		"hello": true, "subject:x": true, "is:read": true, "http://x": true, "note:": true, `"subject: hello"`: true, "larger:1": true,
	} {
		if _, err := search.ParseSelection("/q", text, time.UTC); (err == nil) != ok {
			t.Errorf("ParseSelection of %q: %v, want an error: %t", text, err, !ok)
		} else if p, is := problem.From(err); err != nil && (!is || p.Code != problem.RequestInvalid) {
			t.Errorf("ParseSelection of %q: %v, want %s", text, err, problem.RequestInvalid)
		}
	}
}

// repetitive returns a text of two letters, of which the second is the rarer one.
func repetitive(r *rand.Rand, length int) string {
	return strings.Map(func(rune) rune { return rune("az"[min(r.IntN(8), 1)]) }, strings.Repeat("-", length))
}

// What a word is found in does not depend on how often its beginning or its rarest letter occurs before.
func TestWordsInRepetitiveTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		text, word := repetitive(r, r.IntN(200)), repetitive(r, 1+r.IntN(12))
		q, err := search.Parse("?q", word, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		d := search.New(search.Mail{Text: text})
		if got, want := q.Matches(&d), strings.Contains(text, word); got != want {
			t.Fatalf("Matches of %q in %q: %t, want %t", word, text, got, want)
		}
	}
}

// BenchmarkRepetitive searches a text that nearly matches everywhere. It takes some microseconds for each term.
func BenchmarkRepetitive(b *testing.B) {
	d := search.New(search.Mail{Text: strings.Repeat("z", search.TextMax)})
	var terms []string
	for i := range 16 {
		terms = append(terms, "-"+string(rune('a'+i))+strings.Repeat("z", 58-i))
	}
	q, err := search.Parse("?q", strings.Join(terms, " "), time.UTC)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !q.Matches(&d) {
			b.Fatal("Matches = false, want true, since the text has none of the 16 terms")
		}
	}
}

// A document whose texts were dropped, also all of them, can still be searched.
func TestDroppedTextsMatchNothing(t *testing.T) {
	d := search.New(search.Mail{Subject: "Welcome", Text: "Hello Ada", From: resource.Address{Address: "shop@example.org"}, Size: 10})
	matches := func(text string) bool {
		q, err := search.Parse("?q", text, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		return q.Matches(&d)
	}
	check := func(what string, want map[string]bool) {
		t.Helper()
		for text, want := range want {
			if got := matches(text); got != want {
				t.Errorf("%s: Matches %s: %t, want %t", what, text, got, want)
			}
		}
	}
	check("whole", map[string]bool{"ada": true, "subject:WELCOME": true, "addressed:shop": true, "to:shop": false, "larger:9": true})
	freed, before := d.DropText(), d.Octets()
	if freed != len("hello ada") || d.DropText() != 0 {
		t.Errorf("DropText freed %d octets, want %d, and none the second time", freed, len("hello ada"))
	}
	check("without text", map[string]bool{"ada": false, "subject:welcome": true, "addressed:shop": true})
	if freed := d.DropFields(); freed != before-d.Octets() || d.DropFields() != 0 {
		t.Errorf("DropFields freed %d octets of %d, want all but the %d that are left, and none the second time", freed, before, d.Octets())
	}
	check("without fields", map[string]bool{"ada": false, "subject:welcome": false, "addressed:shop": false, "larger:9": true})
	d.Clear()
	check("cleared", map[string]bool{"ada": false, "addressed:shop": false, "larger:9": true})
}

// Only a query about what was read may match a mail at one time and not at another.
func TestVaries(t *testing.T) {
	for text, want := range map[string]bool{"ada": false, "is:read": true, "hello -IS:unread": true, "subject:is:read": false, "has:attachment": false} {
		q, err := search.Parse("?q", text, time.UTC)
		if err != nil || q.Varies() != want {
			t.Errorf("Varies of %s: %t, %v, want %t", text, q.Varies(), err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{`to:"a b" -from:c`, `!is:read has:attachment`, `after:"2026-03-14 12:00" larger:3mb`, `"`, `a"b c"d`, "ÄÖ\xff"} {
		f.Add(text)
	}
	d := search.New(search.Mail{Subject: "a", Text: "b c", From: resource.Address{Name: "c", Address: "d@example.org"}})
	f.Fuzz(func(t *testing.T, text string) {
		q, err := search.Parse("?q", text, time.UTC)
		if err != nil && !problem.Has(err, problem.RequestInvalid) {
			t.Errorf("Parse of %q: %v, want %s", text, err, problem.RequestInvalid)
		}
		q.Matches(&d)
	})
}
