package blackbox_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// privateDomain is a private domain as a client reads it.
type privateDomain struct {
	ID, Domain, Status    string
	Records               []domainRecord
	CreatedAt             time.Time
	VerifiedAt, CheckedAt *time.Time
}

type domainRecord struct {
	Type, Name, Value string
	Priority          *int
	OK                bool
}

// domainFixture is a service with a DNS server of its own, and an account.
type domainFixture struct {
	*service
	dns *nameServer
	ada user
}

func startDomains(t testing.TB, set settings) *domainFixture {
	t.Helper()
	n := startNameServer(t)
	own := settings{"dns.resolver": n.addr, "dns.timeout": "2s"}
	maps.Copy(own, set)
	s := startAccounts(t, own)
	return &domainFixture{service: s, dns: n, ada: s.account("ada@example.org")}
}

// claim adds a domain to an account.
func (w *domainFixture) claim(u user, name string) (p privateDomain) {
	w.t.Helper()
	a := w.Call(http.MethodPost, "/me/domains", u.Token, body{"domain": name})
	if a.Status != http.StatusCreated {
		w.t.Fatalf("claim %s: %d %s, want Status %v", name, a.Status, a.Body, http.StatusCreated)
	}
	a.Into(w.t, &p)
	return p
}

// prove publishes a domain's records in DNS.
func (w *domainFixture) prove(p privateDomain) {
	w.t.Helper()
	w.dns.put(
		fmt.Sprintf("%s. 300 IN TXT %q", p.Records[0].Name, p.Records[0].Value),
		fmt.Sprintf("%s. 300 IN MX %d %s.", p.Records[1].Name, *p.Records[1].Priority, p.Records[1].Value),
	)
}

func (w *domainFixture) verify(u user, p privateDomain) apptest.Response {
	w.t.Helper()
	return w.Call(http.MethodPost, "/me/domains/"+p.ID+"/verify", u.Token, nil)
}

// verified is a domain that an account has claimed and verified.
func (w *domainFixture) verified(u user, name string) (p privateDomain) {
	w.t.Helper()
	p = w.claim(u, name)
	w.prove(p)
	var a apptest.Response
	eventually(w.t, "an answer of the DNS", func() bool { // a busy machine may take longer than its timeout
		a = w.verify(u, p)
		return !strings.Contains(string(a.Body), "DNS did not answer in time")
	})
	want(w.t, a, 200, "")
	a.Into(w.t, &p)
	return p
}

// refused sends a mail that must be refused with a reply that begins with want. Where there
// are several processes it tries again like any sender if the mailbox has ended since RCPT:
// another one may know it for a moment longer.
func (w *domainFixture) refused(to, reply string) {
	w.t.Helper()
	var got string
	eventually(w.t, "a lasting reply", func() bool {
		got = replyOf(w.TrySend(apptest.Mail{To: []string{to}, Subject: "refused"}))
		return processes(w.t) == nil || !strings.HasPrefix(got, "451 4.2.1 A mailbox has ended")
	})
	if !strings.HasPrefix(got, reply+" ") {
		w.t.Errorf("mail to %s: %s, want %s", to, got, reply)
	}
}

// replyOf returns the server's reply in an error of sending.
func replyOf(err error) string {
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		return fmt.Sprintf("%d %s", reply.Code, reply.Msg)
	}
	return fmt.Sprint(err)
}

// boxes are the account's newest mailboxes, at most a hundred, by address.
func (w *domainFixture) boxes(u user) map[string]mailbox {
	w.t.Helper()
	all := make(map[string]mailbox)
	for _, m := range get[[]mailbox](w.service, "/me/mailboxes?limit=100", u.Token) {
		all[m.Address] = m
	}
	return all
}

// recheck moves the clock to a domain's next re-check and waits until it is done.
func (w *domainFixture) recheck(p privateDomain) {
	w.t.Helper()
	d := w.Database()
	due := func() string {
		return column(w.t, d, "SELECT coalesce(next_check, 0) FROM private_domain WHERE id = $1", p.ID)[0]
	}
	before, asked := due(), w.dns.timesAsked("MX", p.Domain)
	w.Clock.Advance(6 * time.Hour)
	eventually(w.t, "looking the domain up again", func() bool {
		if w.dns.timesAsked("MX", p.Domain) == asked {
			w.nextRound()
		}
		return due() != before
	})
}

func TestPrivateDomainStates(t *testing.T) {
	t.Parallel()
	w := startDomains(t, nil)
	p := w.claim(w.ada, "Shop.Gonebox-Tests.NET.")
	identifier(t, p.ID, "dom")
	const name, host = "shop.gonebox-tests.net", "mx.gonebox.localhost"
	if p.Domain != name || p.Status != "pending" || p.VerifiedAt != nil || p.CheckedAt != nil || !p.CreatedAt.Equal(apptest.Noon()) || len(p.Records) != 2 {
		t.Fatalf("POST /me/domains = %+v, want %s pending since %v, not checked, with two records", p, name, apptest.Noon())
	}
	txt, mx := p.Records[0], p.Records[1]
	if txt.Type != "TXT" || txt.Name != "_gonebox."+name || !strings.HasPrefix(txt.Value, "gonebox-verify=") || len(txt.Value) != 15+32 || txt.Priority != nil || txt.OK {
		t.Errorf("the first record is %+v, want TXT of _gonebox.%s with gonebox-verify= and 32 characters, not found yet", txt, name)
	}
	if mx.Type != "MX" || mx.Name != name || mx.Value != host || mx.Priority == nil || mx.OK {
		t.Errorf("the second record is %+v, want MX of %s to %s with a priority, not found yet", mx, name, host)
	}

	w.refused("a@"+name, "550 5.7.1")
	if p := w.failed(p, "/records/0", "no TXT record", "/records/1", "no MX record"); p.Status != 422 {
		t.Errorf(`w.failed(p, "/records/0", "no TXT record", "/records/1", "no MX record") = %+v, want the status 422`, p)
	}
	w.dns.put(name + ". 60 IN MX 0 .")
	w.failed(p, "/records/0", "no TXT record", "/records/1", "null MX")

	// The TXT record may be behind aliases, among others and in several strings; the MX record need not be the first.
	half := len(txt.Value) / 2
	w.dns.put(
		fmt.Sprintf("%s. 60 IN CNAME proofs.gonebox-tests.org.", txt.Name), "proofs.gonebox-tests.org. 60 IN CNAME more.gonebox-tests.org.",
		`more.gonebox-tests.org. 60 IN TXT "v=spf1 -all"`, fmt.Sprintf("more.gonebox-tests.org. 60 IN TXT %q %q", txt.Value[:half], txt.Value[half:]),
	)
	w.failed(p, "/records/1", "null MX")
	w.dns.put(name+". 60 IN MX 5 other.gonebox-tests.org.", name+". 60 IN MX 50 MX.Gonebox.Localhost.")
	w.Clock.Advance(time.Minute)
	a := w.verify(w.ada, p)
	want(t, a, 200, "")
	a.Into(t, &p)
	if p.Status != "verified" || !p.VerifiedAt.Equal(w.Clock.Now()) || !p.CheckedAt.Equal(w.Clock.Now()) || !p.Records[0].OK || !p.Records[1].OK {
		t.Errorf("POST /me/domains = %+v, want it verified at %v, with both records found", p, w.Clock.Now())
	}
	w.Send(apptest.Mail{To: []string{"first@" + name}})

	w.dns.drop(name)
	w.recheck(p)
	w.dns.answer(dns.RcodeServerFailure, false)
	w.recheck(p)
	w.recheck(p)
	w.dns.answer(dns.RcodeSuccess, true)
	w.recheck(p)
	w.dns.answer(dns.RcodeSuccess, false)
	w.recheck(p)
	if got := w.shown(p); got.Status != "verified" || got.Records[1].OK || !got.Records[0].OK {
		t.Errorf("GET /me/domains after two failures and three lookups without answer: got %+v, want it verified still, its TXT record right and its MX record wrong", got)
	}
	w.Send(apptest.Mail{To: []string{"second@" + name}})
	w.dns.put(name + ". 60 IN MX 5 other.gonebox-tests.org.")
	w.recheck(p)
	if got := w.shown(p); got.Status != "suspended" || !got.VerifiedAt.Equal(*p.VerifiedAt) {
		t.Errorf(`after three misses: %+v, want Status "suspended" and VerifiedAt %v`, got, *p.VerifiedAt)
	}
	w.refused("third@"+name, "450 4.1.2")
	want(t, w.Call(http.MethodPost, "/mailboxes", w.ada.Token, body{"domain": name}), 422, "mailbox.domain_unavailable")
	w.failed(p, "/records/1", `found "other.gonebox-tests.org"`)

	w.prove(p)
	want(t, w.verify(w.ada, p), 200, "")
	if got := w.shown(p); got.Status != "verified" || !got.VerifiedAt.Equal(w.Clock.Now()) {
		t.Errorf(`verified again: %+v, want Status "verified" and VerifiedAt %v`, got, w.Clock.Now())
	}
	w.Send(apptest.Mail{To: []string{"third@" + name}})
}

// failed verifies a domain, which must fail; expected is a pointer and part of the message for each record that failed.
func (w *domainFixture) failed(p privateDomain, expected ...string) problem {
	w.t.Helper()
	a := w.verify(w.ada, p)
	want(w.t, a, 422, "domain.verification_failed")
	found := problemOf(w.t, a)
	for i, e := range found.Errors {
		if len(expected) != 2*len(found.Errors) || e.Pointer != expected[2*i] || !strings.Contains(e.Message, expected[2*i+1]) {
			w.t.Errorf("the faults are %+v, want %q", found.Errors, expected)
		}
	}
	return found
}

// shown is a domain as the list shows it.
func (w *domainFixture) shown(p privateDomain) privateDomain {
	w.t.Helper()
	for _, d := range get[[]privateDomain](w.service, "/me/domains", w.ada.Token) {
		if d.ID == p.ID {
			return d
		}
	}
	return privateDomain{}
}

func TestInvalidPrivateDomainsAreRejected(t *testing.T) {
	t.Parallel()
	w := startDomains(t, settings{"http.body_max": "1KiB", "plans.free.domains.max": "2"})
	bob := w.account("bob@example.org")
	p := w.verified(w.ada, "shop.gonebox-tests.net")
	claim := func(u user, params any, status int, code string) {
		t.Helper()
		want(t, w.Call(http.MethodPost, "/me/domains", u.Token, params), status, code)
	}
	claim(w.ada, body{"domain": "SHOP.gonebox-tests.net"}, 409, "domain.taken")
	claim(bob, body{"domain": "shop.gonebox-tests.net"}, 409, "domain.taken")
	for _, name := range []string{
		"co.uk", "github.io", "gonebox.localhost", "a.gonebox.localhost", "mx.gonebox.localhost", "192.0.2.1", "[IPv6:2001:db8::1]", "single", "shop.example",
	} {
		claim(bob, body{"domain": name}, 422, "domain.not_allowed")
	}
	for _, params := range []any{
		nil,
		body{},
		body{"domain": nil},
		body{"domain": 5},
		body{"domain": ""},
		body{"domain": "a..b"},
		body{"domain": "a b.net"},
		body{"domain": strings.Repeat("a.", 126) + "net"},
		body{"domain": "a.net", "status": "verified"},
		[]byte("{"),
	} {
		claim(bob, params, 422, "request.invalid")
	}
	claim(bob, body{"domain": strings.Repeat("a", 2000)}, 413, "request.too_large")
	a := w.do(http.MethodPost, "/me/domains", bob.Token, body{"domain": "a.net"}, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
	want(t, a, 415, "request.media_type")
	w.claim(w.ada, "other.gonebox-tests.net")
	claim(w.ada, body{"domain": "third.gonebox-tests.net"}, 403, "domain.limit_reached")

	var first []byte
	for _, id := range []string{p.ID, "dom_00000000000000000000000000", "dom_x", "x", "mbx_00000000000000000000000000"} { // another's, and none
		w.call(http.MethodDelete, "/me/domains/"+id, bob.Token, 404, "domain.not_found")
		a := w.call(http.MethodPost, "/me/domains/"+id+"/verify", bob.Token, 404, "domain.not_found")
		answer := []byte(strings.ReplaceAll(string(a.Body), problemOf(t, a).TraceID, ""))
		if first == nil {
			first = answer
		}
		if string(answer) != string(first) {
			t.Errorf("%s and %s differ, which reveals the domains that exist, want %v", first, answer, string(first))
		}
	}
	w.call(http.MethodGet, "/me/domains?cursor=x", bob.Token, 422, "request.invalid")
	w.call(http.MethodDelete, "/me/domains/"+p.ID+"?force=1", w.ada.Token, 422, "request.invalid")
	w.call(http.MethodPost, "/me/domains/"+p.ID+"/verify?now=1", w.ada.Token, 422, "request.invalid")
	for _, call := range []string{"GET /me/domains", "POST /me/domains", "DELETE /me/domains/" + p.ID, "POST /me/domains/" + p.ID + "/verify"} {
		method, path, _ := strings.Cut(call, " ")
		w.call(method, path, "", 401, "auth.required")
		w.call(method, path, mistyped(w.ada.Token), 401, "auth.invalid_token")
		w.call(method, path, w.create("", nil).Token, 401, "auth.invalid_token")
	}
}

func TestCallsOfPrivateDomainsAreLimited(t *testing.T) {
	t.Parallel()
	w := startDomains(t, settings{"limits.other": "2/1h"})
	p := w.claim(w.ada, "shop.gonebox-tests.net")
	w.call(http.MethodGet, "/me/domains", w.ada.Token, 200, "")
	for _, call := range []string{"GET /me/domains", "POST /me/domains", "DELETE /me/domains/" + p.ID, "POST /me/domains/" + p.ID + "/verify"} {
		method, path, _ := strings.Cut(call, " ")
		w.call(method, path, w.ada.Token, 429, "rate.limited")
	}
}

func TestPrivateDomainsArePaged(t *testing.T) {
	t.Parallel()
	w := startDomains(t, settings{"plans.free.domains.max": "3"})
	if got := get[[]privateDomain](w.service, "/me/domains", w.ada.Token); len(got) != 0 {
		t.Errorf("GET /me/domains = %+v, want none", got)
	}
	w.claim(w.account("bob@example.org"), "one.gonebox-tests.net")
	for _, name := range []string{"one", "two", "bücher"} {
		w.claim(w.ada, name+".gonebox-tests.net")
		w.Clock.Advance(time.Second)
	}
	var names []string
	path := "/me/domains?limit=2"
	for range 2 {
		var l struct {
			Data       []privateDomain
			NextCursor *string
		}
		a := w.call(http.MethodGet, path, w.ada.Token, 200, "")
		unmarshal(t, a.Body, &l)
		for _, p := range l.Data {
			names = append(names, p.Domain)
		}
		if l.NextCursor != nil {
			path = "/me/domains?limit=2&cursor=" + *l.NextCursor
		}
	}
	if got := strings.Join(names, " "); got != "xn--bcher-kva.gonebox-tests.net two.gonebox-tests.net one.gonebox-tests.net" {
		t.Errorf("the domains are %v, want xn--bcher-kva.gonebox-tests.net two.gonebox-tests.net one.gonebox-tests.net", got)
	}
}

// A domain is re-checked as often as configured, even if that is more often than other maintenance runs.
func TestShortRecheckIntervalIsHonoured(t *testing.T) {
	t.Parallel()
	w := startDomains(t, settings{"domain.recheck_every": "5s", "limits.other": "100000/1m"})
	p := w.verified(w.ada, shop)
	for range 4 {
		asked := w.dns.timesAsked("MX", p.Domain)
		w.Clock.Advance(5 * time.Second)
		eventually(t, "looking the domain up again", func() bool { return w.dns.timesAsked("MX", p.Domain) > asked })
		eventually(t, "the end of the re-check", func() bool { return w.shown(p).CheckedAt.Equal(w.Clock.Now()) })
	}
}
