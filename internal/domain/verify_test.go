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
	run(t, func(t *testing.T, f *fixture) {
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
				p := f.claim(t, alice, "shop.dev")
				proof := f.Records(p)[0].Value
				for i := range c.txt {
					c.txt[i] = strings.ReplaceAll(c.txt[i], "proof", proof)
				}
				f.dns.setTXT("_gonebox.shop.dev", c.txt...)
				f.dns.setMX("shop.dev", c.mx...)
				f.dns.fail(c.fault)
				_, err := f.Verify(t.Context(), alice, p.ID, f.boxes)
				failed, _ := problem.From(err)
				if failed.Code != problem.DomainVerificationFailed {
					t.Fatalf("Verify = %v, want the problem %v", err, problem.DomainVerificationFailed)
				}
				fields := failed.Fields
				for i, want := range c.failed {
					if want == "" {
						continue
					}
					if len(fields) == 0 || fields[0].Pointer != "/records/"+string(rune('0'+i)) || !strings.Contains(fields[0].Message, want) {
						t.Fatalf("Verify finds the faults %+v, want those of the records %q", failed.Fields, c.failed)
					}
					fields = fields[1:]
				}
				if len(fields) != 0 || strings.Contains(err.Error(), "192.0.2.53") || f.status(t, p) != domain.Pending {
					t.Errorf("Verify fails with %+v: %v; the status is %q; want no fields, no address of a server, and the claim pending", failed.Fields, err, f.status(t, p))
				}
				f.checkShown(t, p, c.failed, c.fault == nil)
				wantCode(t, f.Delete(t.Context(), alice, p.ID, f.boxes), "")
			})
		}
	})
}

// checkShown compares the records' ok and checkedAt with the result of a lookup.
func (f *fixture) checkShown(t *testing.T, p *domain.Private, failed []string, authoritative bool) {
	t.Helper()
	all, err := f.List(t.Context(), p.Account, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range f.Records(all[0]) {
		if r.OK != (failed[i] == "") {
			t.Errorf(`r of f.Records(all[0]) = %+v, want OK %v`, r, failed[i] == "")
		}
	}
	if all[0].CheckedAt.IsZero() == authoritative || !all[0].VerifiedAt.IsZero() {
		t.Errorf("CheckedAt is %s, want it set: %t; VerifiedAt is %s, want it unset", all[0].CheckedAt, authoritative, all[0].VerifiedAt)
	}
}

func TestVerifyAcceptsVariantsOfTheRecords(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		p := f.claim(t, alice, "shop.dev")
		proof := f.Records(p)[0].Value
		f.dns.setTXT("_gonebox.shop.dev", "another thing", " "+strings.ToUpper(proof)+" ")
		f.dns.setMX("shop.dev", "first.elsewhere.dev.", strings.ToUpper(hostname)+".")
		f.clock.Advance(time.Minute)
		p, err := f.Verify(t.Context(), alice, p.ID, f.boxes)
		if err != nil {
			t.Fatal(err)
		}
		if p.Status != domain.Verified || !p.VerifiedAt.Equal(f.clock.Now()) || !p.CheckedAt.Equal(f.clock.Now()) {
			t.Errorf("f.Verify(alice, p.ID, f.boxes) = %+v, want Status %v, VerifiedAt %v and CheckedAt %v", p, domain.Verified, f.clock.Now(), f.clock.Now())
		}
		for _, r := range f.Records(p) {
			if !r.OK {
				t.Errorf("r of f.Records(p) = %+v, want r.OK", r)
			}
		}
	})
}

// Verifying a verified domain again changes only the results of the lookups, whether it succeeds or fails.
func TestVerifyKeepsAVerifiedDomainVerified(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		p := f.verified(t, alice, "shop.dev")
		first := p.VerifiedAt
		f.clock.Advance(time.Hour)
		p, err := f.Verify(t.Context(), alice, p.ID, f.boxes)
		if err != nil || !p.VerifiedAt.Equal(first) || !p.CheckedAt.Equal(f.clock.Now()) {
			t.Errorf("f.Verify(alice, p.ID, f.boxes) = %+v %v, want no error, VerifiedAt %v and CheckedAt %v", p, err, first, f.clock.Now())
		}
		f.dns.setMX("shop.dev")
		for range 5 {
			_, err = f.Verify(t.Context(), alice, p.ID, f.boxes)
			wantCode(t, err, problem.DomainVerificationFailed)
		}
		if got := f.status(t, p); got != domain.Verified {
			t.Errorf("the domain has the status %q, want %q", got, domain.Verified)
		}
		for range 3 { // re-checks continue
			f.recheck(t)
		}
		if got := f.status(t, p); got != domain.Suspended {
			t.Errorf("the domain has the status %q, want %q", got, domain.Suspended)
		}
	})
}

// A domain that is deleted during the lookup stays deleted.
func TestVerifyDoesNotRestoreADeletedDomain(t *testing.T) {
	for name, records := range map[string]bool{"right": true, "wrong": false} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, f *fixture) {
				p := f.claim(t, alice, "shop.dev")
				if records {
					f.prove(p)
				}
				f.dns.onLookup = func() { _ = f.Delete(t.Context(), alice, p.ID, f.boxes) }
				_, err := f.Verify(t.Context(), alice, p.ID, f.boxes)
				wantCode(t, err, problem.DomainNotFound)
				if got := f.status(t, p); got != "" {
					t.Errorf("the deleted claim has the status %q, want it gone", got)
				}
			})
		})
	}
}

// An account that verifies a suspended domain of another account gets the domain, but none of its mailboxes.
func TestSuspendedDomainIsTakenOverByVerify(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		former := f.verified(t, alice, "shop.dev")
		next := f.claimSuspended(t, former)
		f.prove(next)
		f.boxes.between = func(id.Domain) {
			_, _, err := f.Served(t.Context(), "shop.dev")
			wantCode(t, err, problem.MailDomainNotServed)
		}
		next, err := f.Verify(t.Context(), bob, next.ID, f.boxes)
		if err != nil || next.Status != domain.Verified {
			t.Fatalf("Verify = %+v, %v, want the status %v and no error", next, err, domain.Verified)
		}
		if f.status(t, former) != "" || f.boxes.ended[former.ID] != 1 {
			t.Errorf("the former claim has the status %q and its mailboxes were ended %d times, want it gone and 1", f.status(t, former), f.boxes.ended[former.ID])
		}
		if owner, private, err := f.Served(t.Context(), "shop.dev"); owner != bob || private != next.ID || err != nil {
			t.Errorf(`f.Served("shop.dev") = %s %s %v, want %v, %v and no error`, owner, private, err, bob, next.ID)
		}
	})
}
