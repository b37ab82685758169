package mailbox_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
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
			t.Fatalf("Generated(0) = %q, want two words and digits that are allowed, in at most 30 characters", name)
		}
		seen[name] = true
	}
	// Among a thousand of 200 million, three that are the same would be a fault of the source.
	if n := len(mailbox.Adjectives) * len(mailbox.Animals) * 10_000; len(seen) < 998 || n < 100_000_000 {
		t.Errorf("1000 names have %d different ones of %d, want at least 998 of at least 100 million", len(seen), n)
	}
	for _, words := range [][]string{mailbox.Adjectives, mailbox.Animals} {
		if sorted := slices.Compact(slices.Sorted(slices.Values(words))); len(sorted) != len(words) {
			t.Errorf("the list has %d different words, want each of its %d once", len(sorted), len(words))
		}
	}
}

// A name that is taken more and more gets more digits, so that no service runs out of names.
func TestGeneratedNamesGrowWithTheirTries(t *testing.T) {
	for try, digits := range []int{4, 4, 4, 6, 6, 6, 8, 8, 8, 8} {
		name := mailbox.Generated(try)
		if !regexp.MustCompile(fmt.Sprintf(`^[a-z]+-[a-z]+-[0-9]{%d}$`, digits)).MatchString(name) {
			t.Errorf("Generated(%d) = %s, want two words and %d digits", try, name, digits)
		}
	}
}

func FuzzLocalPart(f *testing.F) {
	for _, seed := range []string{"ann", "a", "-a", "a.b_c-d", "Ann", "a+b", "a\n", "postmaster", "ä", "", "ann.", "a..b", "post.master", "adm1n"} {
		f.Add(seed)
	}
	characters := regexp.MustCompile(`\A[a-z0-9][a-z0-9._-]{0,63}\z`)
	f.Fuzz(func(t *testing.T, local string) {
		if local == "" {
			return // one is generated
		}
		s := newWithoutDomain("Owner")
		_, err := s.Create(t.Context(), mailbox.CreateParams{LocalPart: local}, mailbox.Owner{})
		valid := characters.MatchString(local) && !strings.HasSuffix(local, ".") && !strings.Contains(local, "..")
		reserved := problem.Has(err, problem.MailboxLocalPartReserved)
		switch {
		case !valid && !problem.Has(err, problem.RequestInvalid),
			(local == "postmaster" || local == "owner") != reserved && slices.Contains([]string{"postmaster", "owner"}, local),
			valid && !reserved && !errors.Is(err, errNoDomain):
			t.Errorf("Create with the local part %q: %v (valid: %t, reserved: %t), want a problem if it is invalid or reserved, and else %v", local, err, valid, reserved, errNoDomain)
		}
	})
}
