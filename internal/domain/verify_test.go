package domain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

func TestVerifyReportsWhatWasFound(t *testing.T) {
	const right = hostname + "."
	long := strings.Repeat("x", 1000)
	run(t, func(t *testing.T, w *fixture) {
		for _, c := range []struct {
			name    string
			txt, mx []string
			fault   error
			failed  []string // by record, "" for one that is right
		}{
			{"nothing", nil, nil, nil, []string{"no TXT record was found", "no MX record was found"}},
			{"others", []string{"v=spf1 -all"}, []string{"Mail.Example.NET."}, nil, []string{`found "v=spf1 -all", which`, `found "mail.example.net", none of which is ` + hostname}},
			{"no mail", []string{"proof"}, []string{"."}, nil, []string{"", "null MX"}},
			{"no proof", nil, []string{right}, nil, []string{"no TXT", ""}},
			{"half a proof", []string{"proof0", "gonebox-verify="}, []string{right}, nil, []string{"found", ""}},
			{"many", []string{"a", "b", "c", "d", "e"}, []string{right}, nil, []string{`found "a", "b", "c" and 2 more`, ""}},
			{"long", []string{long}, []string{right}, nil, []string{strings.Repeat("x", 100) + `…", which`, ""}},
			{"hostile", []string{"\"\x00\xff\u202e"}, []string{right}, nil, []string{`found "\"\x00\xff\u202e", which`, ""}},
			{"below", []string{"proof"}, []string{"a." + right, hostname + ".net."}, nil, []string{"", "none of which"}},
			{"timeout", nil, nil, timeout, []string{"in time; try again", "in time; try again"}},
			{"servfail", nil, nil, servfail, []string{"failed to answer", "failed to answer"}},
			{"unknown", nil, nil, errUnknown, []string{"failed to answer", "failed to answer"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				p := w.claim(t, alice, "shop.dev")
				proof := w.Records(p)[0].Value
				for i := range c.txt {
					c.txt[i] = strings.ReplaceAll(c.txt[i], "proof", proof)
				}
				w.dns.setTXT("_gonebox.shop.dev", c.txt...)
				w.dns.setMX("shop.dev", c.mx...)
				w.dns.fail(c.fault)
				_, err := w.Verify(t.Context(), alice, p.ID, w.boxes)
				failed, _ := problem.From(err)
				if failed.Code != problem.DomainVerificationFailed {
					t.Fatal(err)
				}
				fields := failed.Fields
				for i, want := range c.failed {
					if want == "" {
						continue
					}
					if len(fields) == 0 || fields[0].Pointer != "/records/"+string(rune('0'+i)) || !strings.Contains(fields[0].Message, want) {
						t.Fatalf("%+v, want %v", failed.Fields, c.failed)
					}
					fields = fields[1:]
				}
				if len(fields) != 0 || strings.Contains(err.Error(), "192.0.2.53") || w.status(t, p) != domain.Pending {
					t.Errorf("%+v, %s", failed.Fields, w.status(t, p))
				}
				w.checkShown(t, p, c.failed, c.fault == nil)
				wantCode(t, w.Delete(t.Context(), alice, p.ID, w.boxes), "")
			})
		}
	})
}

// checkShown compares the records' ok and checkedAt with the result of a lookup.
func (w *fixture) checkShown(t *testing.T, p *domain.Private, failed []string, authoritative bool) {
	t.Helper()
	all, err := w.List(t.Context(), p.Account, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range w.Records(all[0]) {
		if r.OK != (failed[i] == "") {
			t.Errorf("%+v", r)
		}
	}
	if all[0].CheckedAt.IsZero() == authoritative || !all[0].VerifiedAt.IsZero() {
		t.Errorf("checked %s, verified %s", all[0].CheckedAt, all[0].VerifiedAt)
	}
}

func TestVerifyAcceptsVariantsOfTheRecords(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		p := w.claim(t, alice, "shop.dev")
		proof := w.Records(p)[0].Value
		w.dns.setTXT("_gonebox.shop.dev", "another thing", " "+strings.ToUpper(proof)+" ")
		w.dns.setMX("shop.dev", "first.elsewhere.dev.", strings.ToUpper(hostname)+".")
		w.clock.Advance(time.Minute)
		p, err := w.Verify(t.Context(), alice, p.ID, w.boxes)
		if err != nil {
			t.Fatal(err)
		}
		if p.Status != domain.Verified || !p.VerifiedAt.Equal(w.clock.Now()) || !p.CheckedAt.Equal(w.clock.Now()) {
			t.Errorf("%+v", p)
		}
		for _, r := range w.Records(p) {
			if !r.OK {
				t.Errorf("%+v", r)
			}
		}
	})
}

// Verifying a verified domain again changes only the results of the lookups, whether it succeeds or fails.
func TestVerifyKeepsAVerifiedDomainVerified(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		p := w.verified(t, alice, "shop.dev")
		first := p.VerifiedAt
		w.clock.Advance(time.Hour)
		p, err := w.Verify(t.Context(), alice, p.ID, w.boxes)
		if err != nil || !p.VerifiedAt.Equal(first) || !p.CheckedAt.Equal(w.clock.Now()) {
			t.Errorf("%+v %v", p, err)
		}
		w.dns.setMX("shop.dev")
		for range 5 {
			_, err = w.Verify(t.Context(), alice, p.ID, w.boxes)
			wantCode(t, err, problem.DomainVerificationFailed)
		}
		if got := w.status(t, p); got != domain.Verified {
			t.Error(got)
		}
		for range 3 { // re-checks continue
			w.recheck(t)
		}
		if got := w.status(t, p); got != domain.Suspended {
			t.Error(got)
		}
	})
}

// A domain that is deleted during the lookup stays deleted.
func TestVerifyDoesNotRestoreADeletedDomain(t *testing.T) {
	for name, records := range map[string]bool{"right": true, "wrong": false} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *fixture) {
				p := w.claim(t, alice, "shop.dev")
				if records {
					w.prove(p)
				}
				w.dns.onLookup = func() { _ = w.Delete(t.Context(), alice, p.ID, w.boxes) }
				_, err := w.Verify(t.Context(), alice, p.ID, w.boxes)
				wantCode(t, err, problem.DomainNotFound)
				if got := w.status(t, p); got != "" {
					t.Error(got)
				}
			})
		})
	}
}

// An account that verifies a suspended domain of another account gets the domain, but none of its mailboxes.
func TestSuspendedDomainIsTakenOverByVerify(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		former := w.verified(t, alice, "shop.dev")
		next := w.claimSuspended(t, former)
		w.prove(next)
		w.boxes.between = func(id.Domain) {
			_, _, err := w.Served(t.Context(), "shop.dev")
			wantCode(t, err, problem.MailDomainNotServed)
		}
		next, err := w.Verify(t.Context(), bob, next.ID, w.boxes)
		if err != nil || next.Status != domain.Verified {
			t.Fatal(next, err)
		}
		if w.status(t, former) != "" || w.boxes.ended[former.ID] != 1 {
			t.Errorf("the former: %q, ended %v", w.status(t, former), w.boxes.ended)
		}
		if owner, private, err := w.Served(t.Context(), "shop.dev"); owner != bob || private != next.ID || err != nil {
			t.Errorf("%s %s %v", owner, private, err)
		}
	})
}
