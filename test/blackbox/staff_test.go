package blackbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// promote gives an account the role staff, as the command does.
func (s *service) promote(u user) user {
	s.t.Helper()
	if _, err := s.Database().ExecContext(s.t.Context(), "UPDATE account SET role = 'staff' WHERE id = $1", u.Account.ID); err != nil {
		s.t.Fatal(err)
	}
	return u
}

// openToStaff are the calls of the group staff, for the test of credentials.
func openToStaff() []accessRule {
	self := func(e *accountFixture) []string { return []string{e.email} }
	boxed := func(e *accountFixture) []string { return []string{e.box.Address} }
	fixed := func(thing string) func(*accountFixture) []string {
		return func(*accountFixture) []string { return []string{thing} }
	}
	added := func(e *accountFixture) any {
		e.newcomers++
		return fields{"email": fmt.Sprintf("added-%d-%s", e.newcomers, e.email)}
	}
	extra := fields{"domain": "extra.gonebox-tests.org"}
	addDomain := func(e *accountFixture) {
		want(e.t, e.Call(http.MethodPost, "/staff/domains", e.user.Token, extra), 201, "")
	}
	publish := func(e *accountFixture) {
		var n struct{ ID string }
		e.Call(http.MethodPost, "/staff/notices", e.user.Token, fields{"title": "n"}).Into(e.t, &n)
		e.notice = n.ID
	}
	toStaff := func(e *accountFixture) []string { return []string{e.toStaff} }
	mailStaff := func(e *accountFixture) {
		e.Send(apptest.Mail{To: []string{"postmaster"}})
		e.toStaff = get[[]struct{ ID string }](e.service, "/staff/messages", e.user.Token)[0].ID
	}
	all := []accessRule{
		{call: "GET /staff/overview", status: 200},
		{call: "GET /staff/users", status: 200},
		{call: "POST /staff/users", status: 201, body: added},
		{call: "GET /staff/users/{user}", status: 200, resources: self},
		{call: "PATCH /staff/users/{user}", status: 200, resources: self, body: always(fields{"plan": "plus"})},
		{call: "POST /staff/users/{user}/password", status: 200, resources: self, body: always(fields{})},
		{call: "POST /staff/users/{user}/points", status: 201, resources: self, body: always(fields{"points": 5, "note": "n"})},
		{call: "GET /staff/domains", status: 200},
		{call: "POST /staff/domains", status: 201, body: always(extra)},
		{call: "DELETE /staff/domains/{domain}", status: 204, resources: fixed("extra.gonebox-tests.org"), before: addDomain},
		{call: "GET /staff/notices", status: 200},
		{call: "POST /staff/notices", status: 201, body: always(fields{"title": "n"})},
		{call: "DELETE /staff/notices/{id}", status: 204, resources: func(e *accountFixture) []string { return []string{e.notice} }, before: publish},
		{call: "GET /staff/pages", status: 200},
		{call: "PUT /staff/pages/{key}", status: 200, resources: fixed("terms"), body: always(fields{"title": "t", "html": "<p>x</p>"})},
		{call: "DELETE /staff/pages/{key}", status: 204, resources: func(e *accountFixture) []string { return []string{e.helpPage()} }},
		{call: "GET /staff/payments", status: 200},
		{
			call: "POST /staff/payments/{id}/resolution", status: 200, resources: func(e *accountFixture) []string { return []string{e.payment} },
			body: always(fields{"ignore": true, "note": "n"}), before: func(e *accountFixture) { e.payment = e.unmatched(e.user) },
		},
		{call: "GET /staff/blocks", status: 200},
		{call: "GET /staff/ingresses", status: 200},
		{call: "POST /staff/blocks", status: 201, body: always(fields{"ip": "192.0.2.1"})},
		{call: "DELETE /staff/blocks/{id}", status: 204, resources: func(e *accountFixture) []string { return []string{e.blocked} }, before: func(e *accountFixture) {
			var b struct{ ID string }
			e.Call(http.MethodPost, "/staff/blocks", e.user.Token, fields{"sender": "@blocked.example"}).Into(e.t, &b)
			e.blocked = b.ID
		}},
		{call: "GET /staff/mailboxes/{address}", status: 200, resources: boxed},
		{call: "DELETE /staff/mailboxes/{address}", status: 204, resources: boxed},
		{call: "GET /staff/deliveries", status: 200, query: "?address=a@a.example"},
		{call: "GET /staff/messages", status: 200},
		{call: "GET /staff/messages/{id}", status: 200, resources: toStaff, before: mailStaff},
		{call: "DELETE /staff/messages/{id}", status: 204, resources: toStaff, before: mailStaff},
		{call: "GET /staff/audit", status: 200},
	}
	for i := range all {
		all[i].schemes, all[i].staff = "userToken", true
	}
	return all
}

// unmatched makes a bank transaction that matches no order, and returns its identifier.
func (s *service) unmatched(staff user) string {
	s.t.Helper()
	number := len(get[[]fields](s, "/staff/payments?all=true&limit=100", staff.Token)) + 1000
	s.transferred(number, 25_000, "no memo")
	text := fmt.Sprint(number)
	eventually(s.t, "the transaction among those for staff", func() bool {
		return slices.ContainsFunc(get[[]fields](s, "/staff/payments", staff.Token), func(p fields) bool { return p["id"] == text })
	})
	return text
}

func TestStaffManageUsers(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	staff := s.promote(s.account("staff@example.org"))
	s.Clock.Advance(time.Second)
	ada := s.account("ada@example.org")
	s.Clock.Advance(time.Second)
	var made fields
	a := s.Call(http.MethodPost, "/staff/users", staff.Token, fields{"email": "Bob@example.org", "plan": "pro", "role": "staff"})
	want(t, a, 201, "")
	a.Into(t, &made)
	password, _ := made["password"].(string)
	if made["email"] != "bob@example.org" || made["plan"] != "pro" || made["role"] != "staff" || password == "" {
		t.Errorf("POST /staff/users for Bob@example.org = %s, want bob@example.org with the plan pro, the role staff and a password", a.Body)
	}
	a, _ = s.signIn("bob@example.org", password, "")
	want(t, a, 200, "")
	for problem, body := range map[string]fields{
		"409 account.email_taken": {"email": "ada@example.org"},
		"422 request.invalid":     {"email": "c@example.org", "plan": "gold"},
		"422  request.invalid":    {"email": "c@example.org", "password": "short"},
	} {
		var status int
		var code string
		_, _ = fmt.Sscan(problem, &status, &code)
		want(t, s.Call(http.MethodPost, "/staff/users", staff.Token, body), status, code)
	}
	change := func(body fields, status int, code string) {
		t.Helper()
		want(t, s.Call(http.MethodPatch, "/staff/users/ada@example.org", staff.Token, body), status, code)
	}
	change(fields{"plan": "plus", "role": "admin"}, 422, "request.invalid")
	change(fields{"plan": "gold", "disabled": true}, 422, "request.invalid") // nothing of it
	if got := get[account](s, "/me", ada.Token); got.Plan != "free" {
		t.Errorf("GET /me = %+v, want the plan free", got)
	}
	change(fields{"plan": "plus"}, 200, "")
	if got := get[account](s, "/me", ada.Token); got.Plan != "plus" {
		t.Errorf("GET /me = %+v, want the plan plus", got)
	}
	change(fields{"disabled": true}, 200, "")
	s.call(http.MethodGet, "/me", ada.Token, 401, "auth.invalid_token")
	change(fields{"disabled": false}, 200, "")
	if got := get[fields](s, "/staff/users/"+ada.Account.ID, staff.Token); got["disabled"] != false {
		t.Errorf("GET /staff/users/%s = %v, want it enabled", ada.Account.ID, got)
	}
	a = s.Call(http.MethodPost, "/staff/users/ada@example.org/password", staff.Token, fields{"password": "another password"})
	want(t, a, 200, "")
	a, _ = s.signIn("ada@example.org", "another password", "")
	want(t, a, 200, "")
	var emails []any
	for u := range pages[fields](s, "/staff/users?search=EXAMPLE.org&limit=1", staff.Token) {
		emails = append(emails, u["email"])
	}
	if !slices.Equal(emails, []any{"bob@example.org", "ada@example.org", "staff@example.org"}) {
		t.Errorf(`emails = %v, want %v`, emails, []any{"bob@example.org", "ada@example.org", "staff@example.org"})
	}
	s.call(http.MethodGet, "/staff/users/none@example.org", staff.Token, 404, "account.not_found")
	for _, call := range []string{"POST /staff/users/none@example.org/password {}", "PATCH /staff/users/none@example.org {}", `POST /staff/users/none@example.org/points {"points":1,"note":"n"}`} {
		words := strings.SplitN(call, " ", 3)
		want(t, s.Call(words[0], words[1], staff.Token, []byte(words[2])), 404, "account.not_found")
	}
	points := func(n int, status int, code string) {
		want(t, s.Call(http.MethodPost, "/staff/users/ada@example.org/points", staff.Token, fields{"points": n, "note": "n"}), status, code)
	}
	points(-1, 402, "wallet.insufficient_points")
	points(0, 422, "request.invalid")
	points(20, 201, "")
}

func TestStaffPublish(t *testing.T) {
	t.Parallel()
	w := startDomains(t, nil)
	s, staff := w.service, w.promote(w.ada)
	want(t, s.Call(http.MethodPost, "/staff/domains", staff.Token, fields{"domain": "Extra.gonebox-tests.org"}), 201, "")
	offered := func() bool {
		return strings.Contains(string(s.call(http.MethodGet, "/domains", "", 200, "").Body), "extra.gonebox-tests.org")
	}
	eventually(t, "the domain", offered)
	s.call(http.MethodDelete, "/staff/domains/extra.gonebox-tests.org", staff.Token, 204, "")
	eventually(t, "its end", func() bool { return !offered() })
	s.call(http.MethodDelete, "/staff/domains/none.gonebox-tests.org", staff.Token, 404, "domain.not_found")
	w.verified(w.ada, shop)
	want(t, s.Call(http.MethodPost, "/staff/domains", staff.Token, fields{"domain": shop}), 409, "domain.taken")

	var n fields
	a := s.Call(http.MethodPost, "/staff/notices", staff.Token, fields{"title": "Maintenance", "html": "<p onclick=x>Soon</p>", "locale": "en"})
	want(t, a, 201, "")
	a.Into(t, &n)
	if n["html"] != "<p>Soon</p>" || n["state"] != "shown" || n["kind"] != "banner" || n["dismissible"] != true {
		t.Errorf("POST /staff/notices = %s, want the banner <p>Soon</p>, shown and dismissible", a.Body)
	}
	if got := get[[]notice](s, "/content/notices", ""); len(got) != 1 {
		t.Errorf("GET /content/notices = %+v, want one", got)
	}
	s.call(http.MethodDelete, "/staff/notices/"+n["id"].(string), staff.Token, 204, "")
	if got := get[[]notice](s, "/content/notices", ""); len(got) != 0 {
		t.Errorf("GET /content/notices = %+v, want none", got)
	}
	if got := get[[]fields](s, "/staff/notices", staff.Token); len(got) != 1 || got[0]["state"] != "withdrawn" {
		t.Errorf("GET /staff/notices = %v, want one that is withdrawn", got)
	}
	s.call(http.MethodDelete, "/staff/notices/x", staff.Token, 404, "notice.not_found")

	for _, locale := range []string{"", "vi"} {
		want(t, s.Call(http.MethodPut, "/staff/pages/terms", staff.Token, fields{"title": "Terms", "html": "<p>x</p>", "locale": locale}), 200, "")
	}
	if got := get[[]fields](s, "/staff/pages", staff.Token); len(got) != 2 {
		t.Errorf("GET /staff/pages = %v, want two", got)
	}
	s.call(http.MethodDelete, "/staff/pages/terms?locale=fr", staff.Token, 404, "page.not_found")
	s.call(http.MethodDelete, "/staff/pages/terms?everyLocale=true", staff.Token, 204, "")
	if got := get[[]fields](s, "/staff/pages", staff.Token); len(got) != 0 {
		t.Errorf("GET /staff/pages = %v, want none", got)
	}
}

func TestStaffSettlePayments(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	staff, ada := s.promote(s.account("staff@example.org")), s.account("ada@example.org")
	resolve := func(id string, body fields, status int, code string) {
		t.Helper()
		body["note"] = "checked"
		want(t, s.Call(http.MethodPost, "/staff/payments/"+id+"/resolution", staff.Token, body), status, code)
	}
	first := s.unmatched(staff)
	resolve(first, fields{}, 422, "request.invalid")
	resolve(first, fields{"ignore": true, "user": "ada@example.org"}, 422, "request.invalid")
	resolve("4711", fields{"ignore": true}, 404, "payment.not_found")
	resolve(first, fields{"order": "x"}, 404, "order.not_found")
	resolve(first, fields{"user": "none@example.org"}, 404, "account.not_found")
	resolve(first, fields{"user": "ada@example.org"}, 200, "")
	resolve(first, fields{"ignore": true}, 409, "payment.not_resolvable")
	if got := get[struct{ Balance int64 }](s, "/me/wallet", ada.Token); got.Balance != 25 {
		t.Errorf("GET /me/wallet = %+v, want 25 points", got)
	}
	second := s.unmatched(staff)
	resolve(second, fields{"ignore": true}, 200, "")
	if got := get[[]fields](s, "/staff/payments", staff.Token); len(got) != 0 {
		t.Errorf("GET /staff/payments = %v, want none", got)
	}
	var listed []any
	for p := range pages[fields](s, "/staff/payments?all=true&limit=1", staff.Token) {
		listed = append(listed, p["id"])
		if p["staff"] != "staff@example.org" || p["note"] != "checked" {
			t.Errorf("GET /staff/payments?all=true has %v, want it checked by staff@example.org", p)
		}
	}
	if !slices.Equal(listed, []any{second, first}) {
		t.Errorf("listed = %v, want %v", listed, []any{second, first})
	}
}

// Every change is recorded, newest first, and what an owner changes is not.
func TestChangesOfStaffAreAudited(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	staff, ada := s.promote(s.account("staff@example.org")), s.account("ada@example.org")
	s.key(ada, nil)
	for _, c := range []string{
		`PATCH /staff/users/ada@example.org {"plan": "plus", "role": "user"}`,
		`POST /staff/users/ada@example.org/password {"password": "another password"}`,
		`POST /staff/users/ada@example.org/points {"points": 5, "note": "hello"}`,
		`POST /staff/domains {"domain": "extra.gonebox-tests.org"}`,
		`PUT /staff/pages/terms {"title": "Terms", "html": "x", "locale": "vi"}`,
	} {
		words := strings.SplitN(c, " ", 3)
		if a := s.Call(words[0], words[1], staff.Token, []byte(words[2])); a.Status >= 300 {
			t.Errorf("%s: s.Call(words[0], words[1], staff.Token, []byte(words[2])) = %d %s, want a.Status < 300", c, a.Status, a.Body)
		}
		s.Clock.Advance(1000)
	}
	want(t, s.Call(http.MethodPatch, "/staff/users/ada@example.org", staff.Token, fields{"plan": "gold"}), 422, "request.invalid")
	var lines []string
	for e := range pages[fields](s, "/staff/audit?limit=2", staff.Token) {
		if e["actor"] != "staff@example.org" {
			t.Errorf("GET /staff/audit has %v, want the actor staff@example.org", e)
		}
		if e["action"] == "payment.adjust" {
			e["target"] = "-"
		}
		lines = append(lines, fmt.Sprint(e["action"], " ", e["target"], " ", e["detail"]))
	}
	slices.Sort(lines[4:]) // the two of one PATCH have the same time
	wanted := []string{
		"page.put terms vi Terms", "domain.add extra.gonebox-tests.org ", "payment.adjust - hello", "user.reset-password ada@example.org ",
		"user.set-plan ada@example.org plus", "user.set-role ada@example.org user",
	}
	if !slices.Equal(lines, wanted) {
		got, _ := json.Marshal(lines)
		t.Errorf("json.Marshal(lines) = %s, want %v", got, wanted)
	}
}

func TestBodiesQueriesAndLimitsOfStaff(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"http.body_max": "1KiB", "http.large_body_max": "1KiB", "limits.other": "200/1m"})
	staff, ada := s.promote(s.account("staff@example.org")), s.account("ada@example.org")
	k := s.create(ada.Token, nil)
	fill := strings.NewReplacer("{user}", "ada@example.org", "{domain}", "a.example", "{id}", "1", "{key}", "a", "{address}", "a@a.example")
	for _, call := range answersOf("/staff") {
		words := strings.Fields(call)
		method, path := words[0], fill.Replace(words[1])
		switch {
		case words[2] == "403":
			s.call(method, path, ada.Token, 403, "auth.role_missing")
		case words[2] == "413":
			want(t, s.Call(method, path, staff.Token, append([]byte(`{"name":"`), make([]byte, 2000)...)), 413, "request.too_large")
		case words[2] == "415":
			a := s.do(method, path, staff.Token, fields{}, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
			want(t, a, 415, "request.media_type")
		case words[2] == "422":
			s.call(method, path+"?no=1", staff.Token, 422, "request.invalid")
		case words[2] == "401" && words[3] == "auth.required":
			s.call(method, path, "", 401, "auth.required")
			for _, wrong := range []string{k.Token, "xu_", mistyped(staff.Token)} {
				s.call(method, path, wrong, 401, "auth.invalid_token")
			}
		}
	}
	for range 200 {
		s.Call(http.MethodGet, "/staff/pages", staff.Token, nil)
	}
	for _, call := range operationsOf("/staff") { // processes that share a limit let a few more calls through
		words := strings.Fields(call)
		s.throttled(words[0], fill.Replace(words[1]), staff.Token)
	}
}

func TestBlockedMailIsRefused(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	staff, box := s.promote(s.account("staff@example.org")), s.create("", nil)
	block := func(body fields) (id string) {
		t.Helper()
		var b struct{ ID string }
		a := s.Call(http.MethodPost, "/staff/blocks", staff.Token, body)
		want(t, a, 201, "")
		a.Into(t, &b)
		s.Clock.Advance(time.Millisecond)
		return b.ID
	}
	send := func(reply string) { // at the process that receives it, within a second
		t.Helper()
		var last error
		eventually(t, "the reply "+reply, func() bool {
			s.Clock.Advance(100 * time.Millisecond)
			last = s.TrySend(apptest.Mail{From: "sender@example.org", To: []string{box.Address}})
			return reply == "" && last == nil || reply != "" && last != nil && strings.HasPrefix(strings.ReplaceAll(last.Error(), `"`, ""), reply)
		})
	}
	send("")
	for _, c := range []struct {
		body  fields
		reply string
		kind  string // the label of the metric
	}{
		{fields{"sender": "@Example.org", "reason": "spam"}, "550 5.7.1", "sender"},
		{fields{"sender": "sender@example.org", "for": "1h"}, "550 5.7.1", "sender"},
		{fields{"recipient": "*" + box.Address[1:]}, "550 5.7.1", "recipient"},
		{fields{"ip": "127.0.0.0/8"}, "554 5.7.1", "client"},
	} {
		blocked := fmt.Sprintf("gonebox_smtp_blocked_total{kind=%q}", c.kind)
		before := s.metric(blocked)
		id := block(c.body)
		eventually(t, "the count of "+c.kind, func() bool { // of the process whose metrics are read
			send(c.reply)
			return s.metric(blocked) > before
		})
		if got := get[[]fields](s, "/staff/blocks", staff.Token); len(got) != 1 || got[0]["id"] != id {
			t.Errorf("GET /staff/blocks = %v, want %v alone", got, id)
		}
		s.call(http.MethodDelete, "/staff/blocks/"+id, staff.Token, 204, "")
		send("")
	}
	s.call(http.MethodDelete, "/staff/blocks/x", staff.Token, 404, "block.not_found")
	for _, body := range []fields{{}, {"ip": "192.0.2.1", "sender": "@a.example"}, {"ip": "::/0"}, {"ip": "192.0.2.1", "for": "soon"}, {"recipient": "*"}} {
		want(t, s.Call(http.MethodPost, "/staff/blocks", staff.Token, body), 422, "request.invalid")
	}
	_, err := s.Database().Exec(`INSERT INTO block (id, kind, value, reason, created_at)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
		SELECT 'blk_' || i, 'recipient', i || '*@a.example', '', 0 FROM n`)
	if err != nil {
		t.Fatal(err)
	}
	want(t, s.Call(http.MethodPost, "/staff/blocks", staff.Token, fields{"recipient": "x*@a.example"}), 409, "block.limit_reached")
}

func TestStaffFindAndEndMailboxes(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	staff, box := s.promote(s.account("staff@example.org")), s.create("", nil)
	s.mail(box.box(), apptest.Mail{})
	path := "/staff/mailboxes/" + strings.ToUpper(box.Address)
	if got := get[fields](s, path, staff.Token); got["id"] != box.ID || got["messageCount"] != 1.0 || got["source"] != "guest" || got["account"] != nil {
		t.Errorf("GET %s = %v, want %s of a guest with one message and no account", path, got, box.ID)
	}
	waiting := s.waiting(waitForMail+"&after=msg_7zzzzzzzzzzzzzzzzzzzzzzzzz", box.Token)
	s.call(http.MethodDelete, path, staff.Token, 204, "")
	waiting() // the call ends
	s.call(http.MethodGet, "/mailboxes/me", box.Token, 401, "auth.invalid_token")
	s.call(http.MethodGet, path, staff.Token, 404, "mailbox.not_found")
	s.call(http.MethodDelete, path, staff.Token, 404, "mailbox.not_found")
	if err := s.TrySend(apptest.Mail{To: []string{box.Address}}); err == nil {
		t.Error("mail to the ended mailbox was taken, want it refused")
	}
	if got := get[[]fields](s, "/staff/audit", staff.Token); len(got) != 1 || got[0]["action"] != "mailbox.end" {
		t.Errorf("GET /staff/audit = %v, want the end of the mailbox alone", got)
	}
}

func TestStaffSeeDeliveriesToAnyAddress(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	staff := s.promote(s.account("staff@example.org"))
	never := "never-was@" + strings.SplitN(s.create("", nil).Address, "@", 2)[1]
	if err := s.TrySend(apptest.Mail{To: []string{never}}); err == nil {
		t.Fatal("mail to an address without a mailbox was taken, want it refused")
	}
	eventually(t, "the entry", func() bool {
		got := get[[]fields](s, "/staff/deliveries?address="+never, staff.Token)
		return len(got) == 1 && got[0]["reply"] == 550.0
	})
}
