package mailbox_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
)

func TestGeneratedNames(t *testing.T) {
	form, allowed := regexp.MustCompile(`^[a-z]+-[a-z]+-[0-9]{4}$`), regexp.MustCompile(mailbox.LocalPartPattern)
	seen := make(map[string]bool)
	for range 1000 {
		name := mailbox.Generated(0)
		if !form.MatchString(name) || !allowed.MatchString(name) || len(name) > 30 {
			t.Fatalf("%q", name)
		}
		seen[name] = true
	}
	// Among a thousand of 200 million, three that are the same would be a fault of the source.
	if n := len(mailbox.Adjectives) * len(mailbox.Animals) * 10_000; len(seen) < 998 || n < 100_000_000 {
		t.Errorf("%d different ones of %d", len(seen), n)
	}
	for _, words := range [][]string{mailbox.Adjectives, mailbox.Animals} {
		if sorted := slices.Compact(slices.Sorted(slices.Values(words))); len(sorted) != len(words) {
			t.Error("a word is in the list twice")
		}
	}
}

// A name that is taken more and more gets more digits, so that no service runs out of names.
func TestGeneratedNamesGrowWithTheirTries(t *testing.T) {
	for try, digits := range []int{4, 4, 4, 6, 6, 6, 8, 8, 8, 8} {
		name := mailbox.Generated(try)
		if !regexp.MustCompile(fmt.Sprintf(`^[a-z]+-[a-z]+-[0-9]{%d}$`, digits)).MatchString(name) {
			t.Errorf("try %d: %s", try, name)
		}
	}
}

func FuzzLocalPart(f *testing.F) {
	for _, seed := range []string{"ann", "a", "-a", "a.b_c-d", "Ann", "a+b", "a\n", "postmaster", "ä", ""} {
		f.Add(seed)
	}
	pattern := regexp.MustCompile(`\A[a-z0-9][a-z0-9._-]{0,63}\z`)
	f.Fuzz(func(t *testing.T, local string) {
		if local == "" {
			return // one is generated
		}
		s := mailbox.New(mailbox.Parts{Plans: freely{}, Domains: nowhere{}, Policy: mailbox.Policy{Reserved: []string{"Owner"}}})
		_, err := s.Create(t.Context(), mailbox.CreateParams{LocalPart: local}, mailbox.Owner{})
		reserved := problem.Has(err, problem.MailboxLocalPartReserved)
		switch {
		case !pattern.MatchString(local) && !problem.Has(err, problem.RequestInvalid),
			(local == "postmaster" || local == "owner") != reserved && slices.Contains([]string{"postmaster", "owner"}, local),
			pattern.MatchString(local) && !reserved && !errors.Is(err, errNowhere):
			t.Errorf("%q: %v", local, err)
		}
	})
}
