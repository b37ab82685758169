package fault_test

import (
	"context"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/fault"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

const owner id.Account = "acc_0195k3v0f2e8qaxtk4n5r6s7t8"

// The same rules, seeds and mails result in the same actions, also when two processes decide in turns.
func TestDecisionsAreTheSameEachTime(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		rules := []fault.Settings{
			{Stage: fault.AtRcpt, Reply: "451 4.3.2 a", Every: 5},
			{Stage: fault.AtRcpt, Reply: "450 4.2.0 b", Probability: 0.3, Seed: 7},
			{Stage: fault.AtRcpt, To: "*@company.test", Reply: "421 4.3.2 c", Times: 1},
			{Stage: fault.AtRcpt, Delay: time.Second, PerMinute: 4},
		}
		run := func(processes int) string {
			c := clock.NewFake(noon)
			var all []*fault.Service
			for range processes {
				all = append(all, fault.New(d, c))
			}
			for _, r := range rules {
				if _, err := all[0].Create(t.Context(), owner, r); err != nil {
					t.Fatalf("Create(%+v): %v", r, err)
				}
			}
			for _, s := range all {
				s.Forget(owner)
			}
			var text strings.Builder
			for i := range 25 {
				m := &fault.Mail{Account: owner, Stage: fault.AtRcpt, From: "app@company.test", To: []string{fmt.Sprintf("ada%d@company.test", i%12)}}
				a, err := all[i%processes].Decide(t.Context(), m)
				if err != nil {
					t.Fatalf("Decide(%+v): %v", m, err)
				}
				fmt.Fprintf(&text, "%+v\n", a)
			}
			if err := all[0].DeleteAll(t.Context(), owner); err != nil {
				t.Fatalf("DeleteAll: %v", err)
			}
			return text.String()
		}
		first := run(1)
		if got := run(1); got != first {
			t.Errorf("the second run:\n%s\nwant what the first was:\n%s", got, first)
		}
		if got := run(2); got != first {
			t.Errorf("two processes in turns:\n%s\nwant what one did:\n%s", got, first)
		}
		for _, want := range []string{"451 4.3.2", "450 4.2.0", "421 4.3.2", "Delay:1s"} {
			if !strings.Contains(first, want) {
				t.Errorf("the actions are\n%s\nwant one with %s", first, want)
			}
		}
	})
}

// A thousand runs of the same rules and mails give the same replies. The clock is the test's, so no run depends on the time it takes.
func TestThousandRunsAreTheSame(t *testing.T) {
	d := dbtest.Open(t, db.Options{})
	c := clock.NewFake(noon)
	s := fault.New(d, c)
	first := ""
	for run := range 1000 {
		r, err := s.Create(t.Context(), owner, fault.Settings{Stage: fault.AtMessage, Reply: "451 4.3.0 a", Probability: 0.5, Seed: 42, Every: 2})
		if err != nil {
			t.Fatalf("Create: %v", err)
		}
		replies := ""
		for i := range 8 {
			a, err := s.Decide(t.Context(), &fault.Mail{Account: owner, Stage: fault.AtMessage, From: "a@b.test", To: []string{fmt.Sprintf("%d@c.test", i%4)}})
			if err != nil {
				t.Fatalf("Decide: %v", err)
			}
			replies += fmt.Sprintf("%q ", a.Reply)
		}
		if err := s.Delete(t.Context(), owner, r.ID); err != nil {
			t.Fatalf("Delete: %v", err)
		}
		if run == 0 {
			first = replies
		}
		if replies != first {
			t.Fatalf("run %d has the replies %s, want %s as the first", run, replies, first)
		}
	}
}

// An account has a bounded number of presets and of rules in them, and none after DeleteAll.
func TestPresetsAreBounded(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		s := fault.New(d, clock.NewFake(noon))
		set := func(project int, rules int) error {
			p := fault.Preset{Account: owner, Project: fmt.Sprint("p", project), Name: "test"}
			return s.SetPreset(t.Context(), p, []byte("{}"), slices.Repeat([]fault.Settings{{Stage: fault.AtRcpt, Close: true}}, rules))
		}
		for project := range fault.Max {
			if err := set(project, 1); err != nil {
				t.Fatalf("SetPreset() of project %d with a rule: %v", project, err)
			}
		}
		for _, project := range []int{0, fault.Max} {
			if err := set(project, 2); !problem.Has(err, problem.FaultLimitReached) {
				t.Errorf("SetPreset() of project %d with two rules: %v, want fault.limit_reached", project, err)
			}
		}
		if err := set(fault.Max, 0); !problem.Has(err, problem.FaultLimitReached) {
			t.Errorf("SetPreset() of project %d without rules: %v, want fault.limit_reached", fault.Max, err)
		}
		if err := set(0, 1); err != nil {
			t.Errorf("SetPreset() of project 0 with a rule again: %v", err)
		}
		if err := s.DeleteAll(t.Context(), owner); err != nil {
			t.Fatalf("DeleteAll: %v", err)
		}
		value, err := s.PresetValue(t.Context(), fault.Preset{Account: owner, Project: "p0", Name: "test"})
		rules, err2 := s.List(t.Context(), owner)
		if value != nil || len(rules) > 0 || err != nil || err2 != nil {
			t.Errorf("after DeleteAll the value is %q, %v, and there are %d rules, %v; want none", value, err, len(rules), err2)
		}
		if err := set(fault.Max, 0); err != nil {
			t.Errorf("SetPreset() after DeleteAll: %v", err)
		}
	})
}

// A greylist remembers a bounded number of mails, and forgets them after a day.
func TestGreylistIsBounded(t *testing.T) {
	d := dbtest.Open(t, db.Options{})
	c := clock.NewFake(noon)
	s := fault.New(d, c)
	try := func(to string) bool {
		t.Helper()
		ok, err := s.Greylist(t.Context(), &fault.Mail{Account: owner, From: "a@b.test", To: []string{to}}, time.Minute)
		if err != nil {
			t.Fatalf("Greylist(%s): %v", to, err)
		}
		return ok
	}
	count := func() (n int) {
		t.Helper()
		if err := d.QueryRow(t.Context(), "SELECT count(*) FROM fault_try").Scan(&n); err != nil {
			t.Fatalf("count: %v", err)
		}
		return n
	}
	if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for i := range 10_000 {
			if _, err := tx.Exec(ctx, "INSERT INTO fault_try (scope, mail, tries, first_at) VALUES ($1, $2, 1, $3)", "greylist "+string(owner), fmt.Appendf(nil, "%032d", i), noon.UnixMicro()+int64(i)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatalf("insert tries: %v", err)
	}
	c.Advance(time.Hour)
	if try("ada@c.test") {
		t.Error("Greylist() takes the first try of a mail, want it refused")
	}
	if n := count(); n != 10_000 {
		t.Errorf("%d tries are remembered, want 10000", n)
	}
	c.Advance(time.Minute)
	if !try("ada@c.test") {
		t.Error("Greylist() refuses a try after its delay, want it taken")
	}
	c.Advance(24 * time.Hour)
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatalf("Sweep: %v", err)
	}
	if n := count(); n != 0 {
		t.Errorf("after a day %d tries are remembered, want 0", n)
	}
}

// A report is a mail that others read, whatever the values of the envelope are.
func FuzzReport(f *testing.F) {
	f.Add("a@b.test", "QQ+2B1", "rfc822;x+40y", "Subject: x\r\n\r\nbody\r\n", true)
	f.Add("", "+0D+0A.", "utf-8;ö", "no header", false)
	f.Fuzz(func(t *testing.T, to, envelope, original, raw string, full bool) {
		if strings.ContainsAny(to+envelope+original, "\r\n\x00<>") {
			t.Skip("not possible in a command")
		}
		report := fault.Report{
			Hostname: "mx.example.test", ID: "evt_1", At: noon, To: "app@company.test", EnvelopeID: envelope, ReceivedAt: noon, Full: full, Mail: []byte(raw),
			Recipients: []fault.ReportedRecipient{{Address: to, Original: original}},
		}
		text := string(report.Append(nil))
		m, err := mail.ReadMessage(strings.NewReader(text))
		if err != nil || m.Header.Get("To") != "<app@company.test>" {
			t.Fatalf("ReadMessage of the report = %v, want no error and the recipient <app@company.test>:\n%q", err, text)
		}
		status, _, _ := strings.Cut(text, "--report-evt_1\r\nContent-Type: message/rfc822")
		if n := strings.Count(status, "\r\nAction: "); n != 1 && !strings.Contains(raw, "Action: ") {
			t.Errorf("%d recipients have failed, want 1: %q", n, text)
		}
	})
}

// FuzzTag parses any address.
func FuzzTag(f *testing.F) {
	for _, seed := range []string{"ada+fault-550@x", "ada+fault-451-4.7.1@x", "+fault-data-552@", `"a+fault-close"@x`, "a+fault-greylist-86401@x", "a+fault-delay-99999999999@x", "a+fault--@x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		tag := fault.TagOf(address)
		if (tag.Reply != "") != (tag.Kind == fault.ReplyTag || tag.Kind == fault.ContentTag || tag.Kind == fault.GreylistTag) || tag.Time < 0 || tag.Time > 24*time.Hour {
			t.Errorf("TagOf(%q) = %+v, want a reply of a kind that has one, and a time of a day at most", address, tag)
		}
		if tag.Reply != "" && tag.Reply[0] != '4' && tag.Reply[0] != '5' {
			t.Errorf("TagOf(%q) has the reply %q, want one of 4yz or 5yz", address, tag.Reply)
		}
	})
}
