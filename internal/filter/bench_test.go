package filter_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/id"
)

// BenchmarkMatch measures 500 filters on a mail in which none finds a code: ordinary patterns, and some of the costliest.
// cpu-ms/mail is processor time, independent of the machine's load.
func BenchmarkMatch(b *testing.B) {
	for _, c := range []struct {
		name     string
		patterns filter.Patterns
		mail     filter.Mail
	}{
		{"ordinary", filter.Patterns{From: `@shop%d\.example$`, Extract: `(?i)code[^0-9]{0,20}(\d{6})`}, filter.Mail{Text: strings.Repeat("Thanks for your order. ", 200)}},
		{"code alone", filter.Patterns{Extract: `code%d: (\d{6})`}, filter.Mail{Text: strings.Repeat("Thanks for your order. ", 200)}},
		{"optional", filter.Patterns{Extract: `(?:x?){70}y%d`}, filter.Mail{Text: strings.Repeat("x", 64<<10)}},
		{"nested", filter.Patterns{Extract: `(x+x+)+y%d`}, filter.Mail{Text: strings.Repeat("x", 64<<10)}},
		{"groups", filter.Patterns{Extract: strings.Repeat("(x?)", 50) + "y%d"}, filter.Mail{Text: strings.Repeat("x", 64<<10)}},
		{"letters", filter.Patterns{Extract: `(?i)(?:[b-zà-ÿ]?){40}!%d`}, filter.Mail{Text: strings.Repeat("xé ", 16<<10)}},
		{"subjects", filter.Patterns{Subject: `(?:x?){40}y%d`, Extract: `(x+x+)+y%d`}, filter.Mail{Subject: strings.Repeat("x", 1000), Text: strings.Repeat("x", 64<<10)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := filter.New(dbtest.Open(b, db.Options{}), clock.NewFake(noon), plans(500), noDomains{})
			account := id.New[id.Account](noon)
			for i := range 500 {
				p := c.patterns
				p.From, p.Subject, p.Extract = numbered(p.From, i), numbered(p.Subject, i), numbered(p.Extract, i)
				if _, err := s.Create(b.Context(), account, "", settings(p)); err != nil {
					b.Fatal(err)
				}
			}
			c.mail.From = "sender@example.org"
			match(b, s, account, c.mail)
			before := processorTime(b)
			for b.Loop() {
				match(b, s, account, c.mail)
			}
			b.ReportMetric(float64(processorTime(b)-before)/1e3/float64(b.N), "cpu-ms/mail")
		})
	}
}

func numbered(pattern string, i int) string {
	if !strings.Contains(pattern, "%d") {
		return pattern
	}
	return fmt.Sprintf(pattern, i)
}

func match(b *testing.B, s *filter.Service, account id.Account, m filter.Mail) {
	b.Helper()
	if found, err := s.Match(b.Context(), account, "", m, 1); err != nil || found != nil {
		b.Fatalf("Match = %v, %v, want nothing found", found, err)
	}
}

// processorTime returns the processor time of this process in microseconds.
func processorTime(b *testing.B) int64 {
	b.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return (use.Utime.Nano() + use.Stime.Nano()) / 1000
}
