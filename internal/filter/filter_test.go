package filter_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// plans allows every account that many filters.
type plans int

func (p plans) FilterMax(context.Context, id.Account) (int, error) { return int(p), nil }

// noDomains is a filter.Domains without private domains.
type noDomains struct{}

func (noDomains) Owns(context.Context, id.Account, id.Domain) (bool, error) { return false, nil }

// fixture is a Service with two accounts, of which ann has a private domain.
type fixture struct {
	*filter.Service
	t        *testing.T
	db       *db.DB
	clock    *clock.Fake
	ann, ben id.Account
	domain   id.Domain
}

func run(t *testing.T, max int, test func(t *testing.T, h *fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		h := &fixture{
			t: t, db: d, clock: clock.NewFake(noon), ann: id.New[id.Account](noon), ben: id.New[id.Account](noon), domain: id.New[id.Domain](noon),
		}
		h.Service = filter.New(d, h.clock, plans(max), h)
		test(t, h)
	})
}

// Owns makes the fixture a filter.Domains.
func (h *fixture) Owns(_ context.Context, account id.Account, domain id.Domain) (bool, error) {
	return account == h.ann && domain == h.domain, nil
}

func settings(p filter.Patterns) filter.Settings {
	return filter.Settings{Name: "test", Patterns: p, Priority: filter.PriorityDefault, Active: true}
}

// add creates a filter of ann's a second after the previous one.
func (h *fixture) add(domain id.Domain, priority int, p filter.Patterns) *filter.Filter {
	h.t.Helper()
	w := settings(p)
	w.Priority = priority
	h.clock.Advance(time.Second)
	f, err := h.Create(h.t.Context(), h.ann, domain, w)
	if err != nil {
		h.t.Fatal(err)
	}
	return f
}

// match returns the code that ann's filters find, and the filter.
func (h *fixture) match(domain id.Domain, m filter.Mail) (code string, by id.Filter) {
	h.t.Helper()
	found, err := h.Match(h.t.Context(), h.ann, domain, m, 1)
	if err != nil {
		h.t.Fatal(err)
	}
	if found == nil {
		return "", ""
	}
	return found.Code, found.Filter
}

func (h *fixture) wantCode(err error, code problem.Code) *problem.Problem {
	h.t.Helper()
	if !problem.Has(err, code) {
		h.t.Fatalf("the error is %v, want the problem %s", err, code)
	}
	p, _ := problem.From(err)
	return p
}

func TestFirstFilterWithACodeWins(t *testing.T) {
	run(t, 10, func(t *testing.T, h *fixture) {
		h.add("", 1, filter.Patterns{Extract: `nothing (\d+)`})
		h.add("", 1, filter.Patterns{Extract: `(\s*)`}) // an empty code is none
		late := h.add("", 100, filter.Patterns{Extract: `late (\d+)`})
		younger := h.add("", 50, filter.Patterns{Extract: `(?P<any>x)?code (?P<code>\d+)`})
		h.add("", 50, filter.Patterns{Extract: `code \d+`})
		sender := h.add("", 2, filter.Patterns{From: `@SHOP\.example$`, Subject: `^order`, Extract: `\d+`})
		own := h.add(h.domain, 3, filter.Patterns{Extract: `own (\d+)`})
		for _, c := range []struct {
			name   string
			domain id.Domain
			mail   filter.Mail
			code   string
			by     id.Filter
		}{
			{"priority", "", filter.Mail{Text: "late 1, code 2"}, "2", younger.ID},
			{"what is left", "", filter.Mail{Text: "late 1"}, "1", late.ID},
			{"none", "", filter.Mail{Text: "123456"}, "", ""},
			{"the subject is searched", "", filter.Mail{Subject: "late 7"}, "7", late.ID},
			{"sender and subject", "", filter.Mail{From: "a@shop.example", Subject: "Order 5", Text: "code 2"}, "5", sender.ID},
			{"another sender", "", filter.Mail{From: "a@shop.example.org", Subject: "Order 5", Text: "code 2"}, "2", younger.ID},
			{"another subject", "", filter.Mail{From: "a@shop.example", Subject: "Your order 5", Text: "code 2"}, "2", younger.ID},
			{"in the domain", h.domain, filter.Mail{Text: "code 2 own 3"}, "3", own.ID},
			{"outside of the domain", "", filter.Mail{Text: "code 2 own 3"}, "2", younger.ID},
			{"in another domain", id.New[id.Domain](noon), filter.Mail{Text: "own 3"}, "", ""},
		} {
			if code, by := h.match(c.domain, c.mail); code != c.code || by != c.by {
				t.Errorf("%s: %q by %s, want %q by %s", c.name, code, by, c.code, c.by)
			}
		}
		if found, err := h.Match(t.Context(), h.ben, "", filter.Mail{Text: "code 2"}, 1); err != nil || found != nil {
			t.Errorf("Match of another account's mail = %v, %v, want nothing found", found, err)
		}
	})
}

func TestCodesAreNormalized(t *testing.T) {
	for _, c := range []struct {
		extract, text, code, display string
		numeric                      bool
	}{
		{`code (.+)`, "code 123-456", "123456", "123-456", true},
		{`code (.+)`, "code 12 34 56", "123456", "12 34 56", true},
		{`code (.+)`, "code ١٢٣٤", "1234", "١٢٣٤", true},
		{`code (.+)`, "code 𝟗𝟘𝟙", "901", "𝟗𝟘𝟙", true},
		{`code (.+)`, "code AB-12", "AB-12", "AB-12", false},
		{`code (.+)`, "code 12,5", "12,5", "12,5", false},
		{`code (.+)`, "code --", "--", "--", false},
		{`code (.+)`, "code " + strings.Repeat("a", 64), strings.Repeat("a", 64), strings.Repeat("a", 64), false},
		{`code (.+)`, "code " + strings.Repeat("a", 65), "", "", false},
	} {
		trial, err := filter.Try(filter.Patterns{Extract: c.extract}, filter.Mail{Text: c.text}, "")
		if err != nil {
			t.Fatal(err)
		}
		var got filter.Found
		if trial.Found != nil {
			got = *trial.Found
		}
		if diff := cmp.Diff(filter.Found{Code: c.code, Display: c.display, Numeric: c.numeric}, got); diff != "" {
			t.Errorf("Try on %q (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestCreateRejectsInvalidFilters(t *testing.T) {
	run(t, 2, func(t *testing.T, h *fixture) {
		for _, c := range []struct {
			patterns filter.Patterns
			pointer  string
			says     string
		}{
			{filter.Patterns{Extract: `(\d+`}, "/extractRegex", "position 0"},
			{filter.Patterns{Extract: `ab[`}, "/extractRegex", "position 2"},
			{filter.Patterns{Extract: `(?<=x)y`}, "/extractRegex", "position"},
			{filter.Patterns{Extract: `x`, From: `*`}, "/fromPattern", "position 0"},
			{filter.Patterns{Extract: `x`, Subject: `é\q`}, "/subjectPattern", "position 1"},
			{filter.Patterns{Extract: `(((x{30}){30}){30})`}, "/extractRegex", "repeat"},
			{filter.Patterns{}, "/extractRegex", "empty"},
		} {
			_, err := h.Create(t.Context(), h.ann, "", settings(c.patterns))
			p := h.wantCode(err, problem.FilterInvalidRegex)
			if p.Fields[0].Pointer != c.pointer || !strings.Contains(p.Fields[0].Message, c.says) {
				t.Errorf("Create(%+v): the faults are %+v, want one at %s that says %q", c.patterns, p.Fields, c.pointer, c.says)
			}
		}
		_, err := h.Create(t.Context(), h.ben, h.domain, settings(filter.Patterns{Extract: "x"}))
		if p := h.wantCode(err, problem.RequestInvalid); p.Fields[0].Pointer != "/domainId" {
			t.Errorf("Create of a filter for an unknown domain: the faults are %+v, want one at /domainId", p.Fields)
		}
		h.add("", 1, filter.Patterns{Extract: "x"})
		h.add("", 1, filter.Patterns{Extract: "x"})
		_, err = h.Create(t.Context(), h.ann, "", settings(filter.Patterns{Extract: "x"}))
		h.wantCode(err, problem.FilterLimitReached)
	})
}

func TestPatternsOfAnAccountAreBounded(t *testing.T) {
	run(t, 1000, func(t *testing.T, h *fixture) {
		small, large := h.add("", 1, filter.Patterns{Extract: "x"}), filter.Patterns{Extract: `[a-z]{300}`}
		err := h.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { // as if there were hundreds
			_, err := tx.Exec(ctx, "INSERT INTO filter SELECT 'flt_many', account_id, name, domain_id, from_pattern, subject_pattern, extract_regex, priority, 0, $1, created_at, updated_at FROM filter", 128<<10-310)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		h.add("", 1, large)
		_, err = h.Create(t.Context(), h.ann, "", settings(large))
		h.wantCode(err, problem.FilterLimitReached)
		_, err = h.Update(t.Context(), h.ann, small.ID, filter.Change{Extract: &large.Extract})
		h.wantCode(err, problem.FilterLimitReached)
		name := "renamed"
		if _, err = h.Update(t.Context(), h.ann, small.ID, filter.Change{Name: &name}); err != nil {
			t.Error(err)
		}
	})
}

func TestUpdateChangesOnlyGivenFields(t *testing.T) {
	run(t, 5, func(t *testing.T, h *fixture) {
		f := h.add(h.domain, 7, filter.Patterns{From: "a", Subject: "b", Extract: "c"})
		empty, number, off := "", 9, false
		h.clock.Advance(time.Second)
		got, err := h.Update(t.Context(), h.ann, f.ID, filter.Change{From: &empty, Priority: &number, Active: &off})
		if err != nil {
			t.Fatal(err)
		}
		want := filter.Settings{Name: "test", Patterns: filter.Patterns{Subject: "b", Extract: "c"}, Priority: 9}
		if diff := cmp.Diff(want, got.Settings); diff != "" || got.Domain != h.domain || !got.CreatedAt.Equal(f.CreatedAt) || !got.UpdatedAt.Equal(h.clock.Now()) {
			t.Errorf("cmp.Diff(want, got.Settings) = %+v\n%s, want \"\", Domain %v, CreatedAt %v and UpdatedAt %v", got, diff, h.domain, f.CreatedAt, h.clock.Now())
		}
		listed, err := h.List(t.Context(), h.ann, "", 10)
		if err != nil || len(listed) != 1 {
			t.Fatalf("List = %v, %v, want 1 filter and no error", listed, err)
		}
		if diff := cmp.Diff(want, listed[0].Settings); diff != "" {
			t.Errorf("the stored settings (-want +got):\n%s", diff)
		}
		broken := "("
		_, err = h.Update(t.Context(), h.ann, f.ID, filter.Change{Subject: &broken})
		h.wantCode(err, problem.FilterInvalidRegex)
		_, err = h.Update(t.Context(), h.ben, f.ID, filter.Change{Priority: &number})
		h.wantCode(err, problem.FilterNotFound)
		h.wantCode(h.Delete(t.Context(), h.ben, f.ID), problem.FilterNotFound)
		if err := h.Delete(t.Context(), h.ann, f.ID); err != nil {
			t.Fatal(err)
		}
		h.wantCode(h.Delete(t.Context(), h.ann, f.ID), problem.FilterNotFound)
		_, err = h.Update(t.Context(), h.ann, f.ID, filter.Change{Priority: &number})
		h.wantCode(err, problem.FilterNotFound)
	})
}

// Concurrent changes of different fields do not undo each other.
func TestConcurrentUpdatesAreAllApplied(t *testing.T) {
	run(t, 5, func(t *testing.T, h *fixture) {
		f := h.add("", 1, filter.Patterns{Extract: "x"})
		name, from, subject, extract, priority := "n", "f", "s", "e", 42
		var all sync.WaitGroup
		errs := make(chan error, 5)
		for _, c := range []filter.Change{{Name: &name}, {From: &from}, {Subject: &subject}, {Extract: &extract}, {Priority: &priority}} {
			all.Go(func() {
				_, err := h.Update(t.Context(), h.ann, f.ID, c)
				errs <- err
			})
		}
		all.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		listed, err := h.List(t.Context(), h.ann, "", 1)
		want := filter.Settings{Name: "n", Patterns: filter.Patterns{From: "f", Subject: "s", Extract: "e"}, Priority: 42, Active: true}
		if err != nil || cmp.Diff(want, listed[0].Settings) != "" {
			t.Errorf("List = %+v, %v, want %+v", listed[0].Settings, err, want)
		}
	})
}

func TestChangesTakeEffectInEveryProcess(t *testing.T) {
	run(t, 5, func(t *testing.T, h *fixture) {
		elsewhere := filter.New(h.db, h.clock, plans(5), h)
		mail := filter.Mail{Text: "a 1 b 2"}
		there := func() string {
			found, err := elsewhere.Match(t.Context(), h.ann, "", mail, 1)
			if err != nil {
				t.Fatal(err)
			}
			if found == nil {
				return ""
			}
			return found.Code
		}
		check := func(what, here, before, after string) {
			t.Helper()
			if code, _ := h.match("", mail); code != here {
				t.Errorf("%s: %q here, want %q", what, code, here)
			}
			h.clock.Advance(4 * time.Second)
			if code := there(); code != before {
				t.Errorf("%s: %q elsewhere, want %q for a while", what, code, before)
			}
			h.clock.Advance(time.Second)
			if code := there(); code != after {
				t.Errorf("%s: %q elsewhere after 5 s, want %q", what, code, after)
			}
		}
		h.match("", mail)
		there()
		f, err := h.Create(t.Context(), h.ann, "", settings(filter.Patterns{Extract: `a (\d)`}))
		if err != nil {
			t.Fatal(err)
		}
		check("created", "1", "", "1")
		other := `b (\d)`
		if _, err := h.Update(t.Context(), h.ann, f.ID, filter.Change{Extract: &other}); err != nil {
			t.Fatal(err)
		}
		check("changed", "2", "1", "2")
		off, on := false, true
		if _, err := h.Update(t.Context(), h.ann, f.ID, filter.Change{Active: &off}); err != nil {
			t.Fatal(err)
		}
		check("disabled", "", "2", "")
		if _, err := h.Update(t.Context(), h.ann, f.ID, filter.Change{Active: &on}); err != nil {
			t.Fatal(err)
		}
		check("enabled", "2", "", "2")
		if err := h.Delete(t.Context(), h.ann, f.ID); err != nil {
			t.Fatal(err)
		}
		check("deleted", "", "2", "")
	})
}

func TestListPagesNewestFirst(t *testing.T) {
	run(t, 5, func(t *testing.T, h *fixture) {
		var made []id.Filter
		for range 4 {
			made = append([]id.Filter{h.add("", 1, filter.Patterns{Extract: "x"}).ID}, made...)
		}
		var listed []id.Filter
		var last id.Filter
		for {
			page, err := h.List(t.Context(), h.ann, last, 3)
			if err = errors.Join(err, t.Context().Err()); err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, f := range page {
				listed, last = append(listed, f.ID), f.ID
			}
		}
		if diff := cmp.Diff(made, listed); diff != "" {
			t.Errorf("listed (-want +got):\n%s", diff)
		}
	})
}
