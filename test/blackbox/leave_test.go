package blackbox_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// leave deletes an account.
func (s *service) leave(u user, password, code string) apptest.Response {
	s.t.Helper()
	body := fields{"password": password}
	if code != "" {
		body["code"] = code
	}
	return s.Call(http.MethodDelete, "/me", u.Token, body)
}

// columnsWith lists the columns of the database, as table.column, in which some row has a text.
func (s *service) columnsWith(text string) (found []string) {
	s.t.Helper()
	columns := "SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table'"
	contains := `SELECT count(*) FROM "%s" WHERE instr(lower(CAST("%s" AS TEXT)), $1) > 0`
	if s.OnPostgres() {
		columns = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
		contains = `SELECT count(*) FROM "%s" WHERE strpos(lower("%s"::text), $1) > 0`
	}
	rows, err := s.Database().QueryContext(s.t.Context(), columns)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	var all [][2]string
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, [2]string{table, column})
	}
	if err := rows.Err(); err != nil {
		s.t.Fatalf("read rows: got the error %v, want none", err)
	}
	for _, c := range all {
		var n int
		if err := s.Database().QueryRowContext(s.t.Context(), fmt.Sprintf(contains, c[0], c[1]), strings.ToLower(text)).Scan(&n); err != nil {
			s.t.Fatalf("look for %q in %s.%s: %v, want no error", text, c[0], c[1], err)
		}
		if n > 0 {
			found = append(found, c[0]+"."+c[1])
		}
	}
	return found
}

// filesWith lists the files of data_dir that contain a text.
func (s *service) filesWith(text string) (found []string) {
	s.t.Helper()
	err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		if bytes.Contains(bytes.ToLower(content), []byte(strings.ToLower(text))) {
			found = append(found, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

func TestDeletedAccountLeavesItsIdentifierAlone(t *testing.T) {
	t.Parallel()
	relay := apptest.NewRelay(t)
	set := bankSettings()
	maps.Copy(set, (settings{
		"relay.url": "smtp://" + relay.Addr, "relay.from": "no-reply@box.example", "relay.allow": "*@company.example", "plans.free.keys.max": "5", "plans.free.domains.max": "5",
		"plans.free.webhooks.max": "5", "webhooks.allow_networks": "127.0.0.0/8", "smtp.projects": "on",
	}))
	w := startDomains(t, set)
	const email = "personal.name@elsewhere.example"
	staff := w.account("staff@example.org")
	w.promote(staff)
	u := w.account(email)
	key := w.key(u, fields{"name": "personalkeyname"})
	p := w.claim(u, "personaldomain.gonebox-tests.net")
	w.prove(p)
	w.verify(u, p)
	want(t, w.Call(http.MethodPost, "/me/projects", u.Token, fields{"name": "personalproject"}), 201, "")
	want(t, w.Call(http.MethodPost, "/me/projects", staff.Token, fields{"name": "others"}), 201, "")
	want(t, w.Call(http.MethodPut, "/me/projects/others/members/"+email, staff.Token, nil), 200, "")
	want(t, w.Call(http.MethodPost, "/me/faults", u.Token, fields{"stage": "rcpt", "from": "personalfault@*", "reply": "451 4.3.2 later"}), 201, "")
	pending := w.claim(u, "personalpending.gonebox-tests.net")
	w.filter(u, fields{"name": "personalfiltername", "extractRegex": "personalregex [0-9]+"})
	w.register(u, fields{"url": "https://127.0.0.1:8443/personalhook", "events": []string{"message.received"}})
	w.grant(u, 1000)
	want(t, w.do(http.MethodPost, "/me/subscription", u.Token, fields{"planCode": "plus", "interval": "monthly"}, func(r *http.Request) {
		r.Header["Idempotency-Key"] = []string{"personalidempotency"}
	}), 201, "")
	order := w.topup(u, 10_000)
	box := w.create(u.Token, fields{"localPart": "personalmailbox"})
	m := w.mail(box.box(), apptest.Mail{Subject: "personalsubject", Text: "personaltext"})
	relay.Silence(true)
	want(t, w.Call(http.MethodPost, "/messages/"+m.ID+"/release", u.Token, fields{"to": "personalrecipient@company.example"}), 202, "")
	want(t, w.Call(http.MethodPost, "/auth/password/forgot", "", fields{"email": email}), 202, "")
	want(t, w.Call(http.MethodPatch, "/staff/users/"+email, staff.Token, fields{"plan": "pro"}), 200, "")
	w.promote(u)
	want(t, w.Call(http.MethodPost, "/staff/domains", u.Token, fields{"domain": "public.gonebox-tests.net"}), 201, "")
	waiting := make(chan apptest.Response, 1)
	go func() {
		a, _ := w.TryCall(t.Context(), http.MethodGet, "/mailboxes/me/messages?wait=60&after="+m.ID, box.Token, nil)
		waiting <- a
	}()
	eventually(t, "a waiting call", func() bool { return w.Sleepers() == 1 })

	app, _ := w.twoFactor(u.Token)
	want(t, w.leave(u, "wrong password", ""), 422, "account.password_wrong")
	want(t, w.leave(u, userPassword, ""), 422, "totp.invalid_code")
	want(t, w.leave(u, userPassword, app.wrong()), 422, "totp.invalid_code")
	w.Clock.Advance(time.Minute)
	want(t, w.leave(u, userPassword, app.code(0)), 204, "")

	want(t, w.Call(http.MethodGet, "/me", u.Token, nil), 401, "auth.invalid_token")
	want(t, w.Call(http.MethodGet, "/keys/mailboxes", key.Key, nil), 401, "auth.invalid_token")
	want(t, w.Call(http.MethodGet, "/mailboxes/me", box.Token, nil), 401, "auth.invalid_token")
	if a, _ := w.signIn(email, userPassword, ""); a.Code() != "auth.invalid_credentials" {
		t.Errorf("sign in to a deleted account: got %d %s, want auth.invalid_credentials", a.Status, a.Body)
	}
	if err := w.TrySend(apptest.Mail{To: []string{box.Address}, Subject: "late"}); err == nil {
		t.Errorf("send a mail to a mailbox of a deleted account: it was taken, want it refused")
	}
	w.Clock.Advance(time.Second)
	if a := <-waiting; a.Status != 401 {
		t.Errorf("a call that waits with a token of a deleted account: got %d %s, want 401", a.Status, a.Body)
	}
	want(t, w.Call(http.MethodGet, "/staff/users/"+email, staff.Token, nil), 404, "account.not_found")
	want(t, w.Call(http.MethodGet, "/staff/users/"+u.Account.ID, staff.Token, nil), 404, "account.not_found")
	if left := w.rows("SELECT count(*) FROM mailbox_member WHERE account_id = $1", u.Account.ID); left != 0 {
		t.Errorf("a deleted account is left a member of %d projects, want none", left)
	}
	names := []string{email, "personal.name", "personal", pending.Domain, box.Address}
	eventually(t, "the erasure within a minute", func() bool {
		for range 6 {
			w.Clock.Advance(10 * time.Second)
		}
		return len(w.columnsWith("personal")) == 0
	})
	for _, name := range names {
		if left := w.columnsWith(name); len(left) > 0 {
			t.Errorf("after a deletion %q is left in %v, want it nowhere", name, left)
		}
	}
	if !w.OnPostgres() {
		left := w.filesWith("personal")
		for range 3 {
			w.Clock.Advance(10 * time.Second) // deleted data is purged from the files of SQLite
			left = w.filesWith("personal")
		}
		if len(left) > 0 {
			t.Errorf("after a deletion the account is left in %v, want it in no file", left)
		}
	}
	entries := string(w.Call(http.MethodGet, "/staff/audit", staff.Token, nil).Body)
	if !strings.Contains(entries, u.Account.ID) || !strings.Contains(entries, "staff@example.org") || !strings.Contains(entries, "account.delete") {
		t.Errorf("GET /staff/audit = %s, want the identifier of the deleted account and the address of the other", entries)
	}
	for query, want := range map[string]int{
		"SELECT count(*) FROM wallet_entry WHERE account_id = $1": 2, "SELECT count(*) FROM topup_order WHERE account_id = $1": 1,
		"SELECT count(*) FROM subscription WHERE account_id = $1 AND status <> 'active'": 1,
	} {
		if n := w.rows(query, u.Account.ID); n != want {
			t.Errorf("%s: got %d after the deletion, want %d", query, n, want)
		}
	}
	w.transferred(4711, 10_000, order.Memo) // a payment that comes late harms nothing
	w.Clock.Advance(time.Minute)
	again := w.account(email)
	if again.Account.ID == u.Account.ID {
		t.Errorf("register the address of a deleted account: got the account %s again, want another", again.Account.ID)
	}
	another := w.claim(again, p.Domain)
	w.prove(another)
	w.verify(again, another)
}
