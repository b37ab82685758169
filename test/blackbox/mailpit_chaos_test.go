package blackbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// status makes a call of the Mailpit API and returns the status and the body of the answer in one line.
func (m *mailpit) status(method, path, body string) string {
	m.t.Helper()
	a := m.try(method, path, body, nil)
	return strings.TrimSpace(fmt.Sprintf("%d %s", a.Status, a.Body))
}

// expect makes a call of the Mailpit API and checks its answer.
func (m *mailpit) expect(method, path, body, want string) {
	m.t.Helper()
	if got := m.status(method, path, body); got != want {
		m.t.Errorf("%s %s with %q: %s, want %s", method, path, body, got, want)
	}
}

// replies checks the replies to a mail for the sink.
func (m *mailpit) replies(when, want string) {
	m.t.Helper()
	if got := m.codes(tested, "ada@company.test"); got != want {
		m.t.Errorf("%s a mail is answered %s, want %s", when, got, want)
	}
}

// rules returns what the account of the sink sees of its rules.
func (m *mailpit) rules() (text string) {
	m.t.Helper()
	for _, r := range get[[]struct {
		Stage       string
		Reply       *string
		Project     *string
		Close       bool
		Probability float64
	}](m.service, "/keys/faults", devKey) {
		reply, project := "", ""
		if r.Close {
			reply = "close"
		}
		if r.Reply != nil {
			reply = *r.Reply
		}
		if r.Project != nil {
			project = *r.Project + " "
		}
		text += fmt.Sprintf("%s%s %.2f %s; ", project, r.Stage, r.Probability, reply)
	}
	return strings.TrimSuffix(text, "; ")
}

const (
	chaosPath = "/api/v1/chaos"
	jimPath   = "/api/v2/jim"
	accepted  = "250 250 354 250"
)

// triggers returns an answer with the triggers of Mailpit.
func triggers(sender, recipient string, authentication ...string) string {
	trigger := func(text string) string {
		code, probability, _ := strings.Cut(text, " ")
		return `{"ErrorCode":` + code + `,"Probability":` + probability + `}`
	}
	return `200 {"Sender":` + trigger(sender) + `,"Recipient":` + trigger(recipient) + `,"Authentication":` + trigger(append(authentication, "535 0")[0]) + `}`
}

// The triggers of Mailpit are rules of the account of the sink, which each call replaces as a whole.
func TestMailpitSetsChaos(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.expect(http.MethodGet, chaosPath, "", triggers("451 0", "451 0"))
	own := m.addFault(fields{"stage": "message", "from": "other@*", "reply": "550"})
	const other = "message 0.00 550"
	for _, test := range []struct{ body, want, rules, replies string }{
		{`{"Sender":{"ErrorCode":421,"Probability":100}}`, triggers("421 100", "451 0"), "; mail 1.00 421 Chaos sender error", "421"},
		{`{"Recipient":{"Probability":100}}`, triggers("451 0", "451 100"), "; rcpt 1.00 451 Chaos recipient error", "250 451"},
		{`{"recipient":{"errorCode":599,"probability":100},"Sender":{"ErrorCode":400,"Probability":0}}`, triggers("400 0", "599 100"), "; rcpt 1.00 599 Chaos recipient error", "250 599"},
		{`{"Sender":{"ErrorCode":560,"Probability":100},"Recipient":{"ErrorCode":499,"Probability":7}}`, triggers("560 100", "499 7"), "; mail 1.00 560 Chaos sender error; rcpt 0.07 499 Chaos recipient error", "560"},
		{`{"Authentication":{"ErrorCode":454,"Probability":100},"More":[]}`, triggers("451 0", "451 0", "454 100"), "; auth 1.00 454 Chaos authentication error", accepted},
		{`{"Authentication":{"Probability":7},"Sender":{"Probability":9}}`, triggers("451 9", "451 0", "535 7"), "; auth 0.07 535 Chaos authentication error; mail 0.09 451 Chaos sender error", ""},
		{`{}`, triggers("451 0", "451 0"), "", accepted},
	} {
		m.expect(http.MethodPut, chaosPath, test.body, test.want)
		m.expect(http.MethodGet, chaosPath, "", test.want)
		if got := m.rules(); got != other+test.rules {
			t.Errorf("after PUT %s with %s the rules are %s, want %s", chaosPath, test.body, got, other+test.rules)
		}
		if test.replies != "" { // no chance decides
			m.replies("after "+test.body, test.replies)
		}
	}
	m.expect(http.MethodPut, chaosPath, `{"Authentication":{"ErrorCode":454,"Probability":100}}`, triggers("451 0", "451 0", "454 100"))
	if got := m.signInTwice("anybody"); got != "454 454 221" {
		t.Errorf("with a trigger of Authentication two AUTH and QUIT are answered %s, want 454 454 221", got)
	}
	const set = `{"Sender":{"ErrorCode":452,"Probability":100},"Recipient":{"ErrorCode":550,"Probability":100}}`
	m.expect(http.MethodPut, chaosPath, set, triggers("452 100", "550 100"))
	for _, body := range []string{
		"", "{", "[]", `"x"`, `{"Sender":1}`, `{"Sender":{"ErrorCode":"451"}}`, `{"Sender":{"ErrorCode":451.5}}`, `{"Sender":{"ErrorCode":399,"Probability":1}}`,
		`{"Recipient":{"ErrorCode":600,"Probability":1}}`, `{"Authentication":{"ErrorCode":1}}`, `{"Sender":{"Probability":-1}}`, `{"Recipient":{"Probability":101}}`,
		`{"Authentication":{"Probability":1000}}`, `{"Sender":{"Probability":1e400}}`, `{"More":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
	} {
		if got := m.status(http.MethodPut, chaosPath, body); !strings.HasPrefix(got, "400 ") {
			t.Errorf("PUT %s with %s: %s, want 400 with a reason", chaosPath, body, got)
		}
	}
	m.expect(http.MethodPut, chaosPath, `{"Sender":{"ErrorCode":399}}`, "400 error code must be between 400 and 599")
	m.expect(http.MethodPut, chaosPath, `{"Sender":{"Probability":101}}`, "400 probability must be between 0 and 100")
	m.expect(http.MethodGet, chaosPath, "", triggers("452 100", "550 100"))
	var config struct{ ChaosEnabled bool }
	if m.ask(http.MethodGet, "/api/v1/webui", "", &config); !config.ChaosEnabled {
		t.Error("GET /api/v1/webui: ChaosEnabled is false, want true")
	}
	// The owner deletes the rules of Mailpit as any others, all together.
	all := get[[]faultRule](m.service, "/keys/faults", devKey)
	m.call(http.MethodDelete, "/keys/faults/"+all[1].ID, devKey, 204, "")
	m.expect(http.MethodGet, chaosPath, "", triggers("451 0", "451 0"))
	if got := m.rules(); got != other {
		t.Errorf("after DELETE /keys/faults/%s the rules are %s, want %s", all[1].ID, got, other)
	}
	m.call(http.MethodDelete, "/keys/faults/"+own.ID, devKey, 204, "")
	m.expect(http.MethodPut, chaosPath, set, triggers("452 100", "550 100"))
	m.call(http.MethodDelete, "/keys/faults", devKey, 204, "")
	m.expect(http.MethodGet, chaosPath, "", triggers("451 0", "451 0"))
	m.replies("after DELETE /keys/faults", accepted)
}

// Of calls at the same time one remains, whole.
func TestMailpitSetsChaosAtTheSameTime(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			body := fmt.Sprintf(`{"Sender":{"ErrorCode":%d,"Probability":100},"Recipient":{"ErrorCode":%d,"Probability":100}}`, 400+n, 500+n)
			if a := m.try(http.MethodPut, chaosPath, body, nil); a.Status != 200 {
				t.Errorf("PUT %s with %s: %d %s, want 200", chaosPath, body, a.Status, a.Body)
			}
		})
	}
	all.Wait()
	var got struct{ Sender, Recipient struct{ ErrorCode int } }
	m.ask(http.MethodGet, chaosPath, "", &got)
	want := fmt.Sprintf("mail 1.00 %d Chaos sender error; rcpt 1.00 %d Chaos recipient error", got.Sender.ErrorCode, got.Sender.ErrorCode+100)
	if rules := m.rules(); rules != want {
		t.Errorf("the rules are %s, want %s as GET %s has them", rules, want, chaosPath)
	}
}

// The probability is that of each try.
func TestMailpitChaosIsRandom(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.expect(http.MethodPut, chaosPath, `{"Recipient":{"ErrorCode":450,"Probability":50}}`, triggers("451 0", "450 50"))
	count := map[string]int{}
	for range 60 {
		count[m.codes(tested, "ada@company.test")]++
	}
	if refused := count["250 450"]; refused+count[accepted] != 60 || refused < 8 || refused > 52 {
		t.Errorf("60 tries of a mail are answered %v, want some 30 of each of 250 450 and %s", count, accepted)
	}
}

// A project's path sets the rules of the project alone.
func TestMailpitSetsChaosOfProjects(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.expect(http.MethodPut, "/p/shop"+chaosPath, `{"Sender":{"ErrorCode":451,"Probability":100}}`, triggers("451 100", "451 0"))
	m.expect(http.MethodPost, "/p/shop"+jimPath, `{"RejectRecipientChance":1}`, "201")
	m.expect(http.MethodGet, chaosPath, "", triggers("451 0", "451 0"))
	m.expect(http.MethodGet, "/p/bank"+chaosPath, "", triggers("451 0", "451 0"))
	m.expect(http.MethodGet, jimPath, "", "404")
	if got, want := m.rules(), "shop mail 1.00 451 Chaos sender error; shop rcpt 1.00 550 Invalid recipient"; got != want {
		t.Errorf("the rules are %s, want %s", got, want)
	}
	m.replies("with faults of a project alone", accepted)
	m.expect(http.MethodPut, chaosPath, `{}`, triggers("451 0", "451 0"))
	m.expect(http.MethodGet, "/p/shop"+chaosPath, "", triggers("451 100", "451 0"))
	m.expect(http.MethodDelete, "/p/shop"+jimPath, "", "200")
	m.expect(http.MethodPut, "/p/shop"+chaosPath, `{}`, triggers("451 0", "451 0"))
	if got := m.rules(); got != "" {
		t.Errorf("the rules are %s, want none", got)
	}
}

// MailHog's monkey is made, changed and removed, and is then as it was set.
func TestMailHogSetsJim(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		m.expect(method, jimPath, `{"AcceptChance":1}`, "404")
	}
	m.expect(http.MethodPost, jimPath, "", "201")
	m.expect(http.MethodGet, jimPath, "", `200 {"DisconnectChance":0.005,"AcceptChance":0.99,"LinkSpeedAffect":0.1,"LinkSpeedMin":1024,"LinkSpeedMax":10240,"RejectSenderChance":0.05,"RejectRecipientChance":0.05,"RejectAuthChance":0.05}`)
	if got, want := m.rules(), "mail 0.01 close; mail 0.01 close; rcpt 0.01 close; data 0.01 close; message 0.01 close; auth 0.05 500 Unrecognised command; mail 0.05 550 Invalid sender; rcpt 0.05 550 Invalid recipient"; got != want {
		t.Errorf("the rules of MailHog's values are %s, want %s", got, want)
	}
	m.expect(http.MethodPost, jimPath, `{"AcceptChance":1}`, "400")
	for _, test := range []struct{ body, set, replies string }{
		{`{"RejectSenderChance":1}`, `0,1,0,0,0,1,0,0`, "550"},
		{`{"RejectRecipientChance":1,"AcceptChance":1}`, `0,1,0,0,0,0,1,0`, "250 550"},
		{`{"DisconnectChance":1,"AcceptChance":1}`, `1,1,0,0,0,0,0,0`, "0"},
		{`{"AcceptChance":0}`, `0,0,0,0,0,0,0,0`, "0"},
		{`{"AcceptChance":1,"LinkSpeedAffect":1,"LinkSpeedMin":1,"LinkSpeedMax":2,"RejectAuthChance":1}`, `0,1,1,1,2,0,0,1`, accepted},
		{`{"RejectSenderChance":7,"AcceptChance":9,"DisconnectChance":-1}`, `-1,9,0,0,0,7,0,0`, "550"},
		{`{}`, `0,1,0,0,0,0,0,0`, accepted},
	} {
		m.expect(http.MethodPut, jimPath, test.body, "200")
		if got := jimOf(t, m.try(http.MethodGet, jimPath, "", nil).Body); got != test.set {
			t.Errorf("after PUT %s with %s its values are %s, want %s", jimPath, test.body, got, test.set)
		}
		m.replies("after "+test.body, test.replies)
	}
	for _, body := range []string{"", "{", "[]", "null", `{"AcceptChance":"1"}`, `{"DisconnectChance":1e999}`} {
		m.expect(http.MethodPut, jimPath, body, "400")
	}
	m.expect(http.MethodDelete, jimPath, "", "200")
	m.expect(http.MethodGet, jimPath, "", "404")
	m.expect(http.MethodPost, jimPath, "{", "400")
	m.expect(http.MethodPost, jimPath, `{"RejectSenderChance":1}`, "201")
	m.replies("after POST", "550")
	m.expect(http.MethodPut, chaosPath, `{}`, triggers("451 0", "451 0"))
	m.replies("after a change of Mailpit's triggers", "550")
	m.call(http.MethodDelete, "/keys/faults", devKey, 204, "")
	m.expect(http.MethodGet, jimPath, "", "404")
}

// jimOf returns the values of a monkey in the order in which MailHog has them.
func jimOf(t *testing.T, body []byte) string {
	t.Helper()
	var j struct {
		DisconnectChance, AcceptChance, LinkSpeedAffect, LinkSpeedMin, LinkSpeedMax, RejectSenderChance, RejectRecipientChance, RejectAuthChance float64
	}
	if err := json.Unmarshal(body, &j); err != nil {
		t.Fatalf("decode the answer %q to GET %s: %v", body, jimPath, err)
	}
	return fmt.Sprintf("%v,%v,%v,%v,%v,%v,%v,%v", j.DisconnectChance, j.AcceptChance, j.LinkSpeedAffect, j.LinkSpeedMin, j.LinkSpeedMax, j.RejectSenderChance, j.RejectRecipientChance, j.RejectAuthChance)
}

// The monkey refuses credentials as MailHog's does, and a mail without them is taken.
func TestMailHogRejectsAuth(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.expect(http.MethodPost, jimPath, `{"RejectAuthChance":1,"LinkSpeedAffect":1,"LinkSpeedMin":1,"LinkSpeedMax":1}`, "201")
	if got := m.signInTwice("anybody"); got != "500 500 221" {
		t.Errorf("with RejectAuthChance 1 two AUTH and QUIT are answered %s, want 500 500 221", got)
	}
	m.replies("without AUTH", accepted)
}

// Elsewhere than under profile: dev the rules belong to the account of the sink, and spare other mailboxes and accounts.
func TestChaosIsOfTheSinksAccount(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"compat.mailpit.addr": "127.0.0.1:0", "smtp.sink.domains": "company.test", "smtp.sink.account": "ada@example.org", "smtp.trusted_proxies": "127.0.0.1/32"})
	m := &mailpit{service: s, base: s.Mailpit}
	ada, bob := s.account("ada@example.org"), s.account("bob@example.org")
	box := s.create("", nil)
	m.expect(http.MethodPut, chaosPath, `{"Sender":{"ErrorCode":451,"Probability":100}}`, triggers("451 100", "451 0"))
	m.replies("with Mailpit's trigger for senders", "250 451") // the recipient says whose mail it is
	if got := s.codes(tested, box.Address); got != accepted {
		t.Errorf("a mail for a mailbox of a guest is answered %s, want %s", got, accepted)
	}
	for token, want := range map[string]int{ada.Token: 1, bob.Token: 0} {
		if all := get[[]faultRule](s, "/me/faults", token); len(all) != want {
			t.Errorf("GET /me/faults: %d rules, want %d", len(all), want)
		}
	}
}

// Without a sink there is nothing that could fail.
func TestChaosNeedsASink(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"compat.mailpit.addr": "127.0.0.1:0"})
	m := &mailpit{service: s, base: s.Mailpit}
	m.expect(http.MethodGet, chaosPath, "", "400 Chaos is not enabled")
	m.expect(http.MethodPut, chaosPath, "{}", "400 Chaos is not enabled")
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		m.expect(method, jimPath, "", "404")
	}
}

// A project that needs its password sets rules of its own mail, which count towards those of its owner.
func TestChaosOfProjectsWithPasswords(t *testing.T) {
	t.Parallel()
	s := startProjects(t, nil)
	ada := s.account("ada@example.org")
	shop := s.newProject(ada.Token, "shop", nil)
	const body = `{"Recipient":{"ErrorCode":550,"Probability":100}}`
	if a := s.try(http.MethodPut, chaosPath, body, asUser("shop", "wrong")); a.Status != 401 {
		t.Errorf("PUT %s with a wrong password: %d, want 401", chaosPath, a.Status)
	}
	if a := s.try(http.MethodPut, chaosPath, body, asUser("shop", shop.SMTP.Password)); a.Status != 200 {
		t.Fatalf("PUT %s as the project: %d %s, want 200", chaosPath, a.Status, a.Body)
	}
	for range 99 {
		createFault(s.service, "/me/faults", ada.Token, fields{"stage": "mail", "from": "x", "reply": "550"})
	}
	const two = `{"Sender":{"Probability":1},"Recipient":{"Probability":1}}`
	if a := s.try(http.MethodPut, chaosPath, two, asUser("shop", shop.SMTP.Password)); a.Status != 409 {
		t.Errorf("PUT %s that makes 101 rules: %d %s, want 409", chaosPath, a.Status, a.Body)
	}
	if a := s.try(http.MethodGet, chaosPath, "", asUser("shop", shop.SMTP.Password)); !strings.Contains(string(a.Body), `"Recipient":{"ErrorCode":550,"Probability":100}`) {
		t.Errorf("GET %s after a refused change: %s, want what was set before", chaosPath, a.Body)
	}
}

// A page of another site, and a name that leads here, change nothing.
func TestChaosIsForLocalRequests(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	for _, text := range foreign {
		for _, path := range []string{chaosPath, jimPath, "/p/shop" + chaosPath, "/p/shop" + jimPath} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
				if a := m.try(method, path, `{"Sender":{"Probability":100}}`, having(text+"|Content-Type: text/plain")); a.Status != 403 {
					t.Errorf("%s %s with %q: %d %s, want 403", method, path, text, a.Status, a.Body)
				}
			}
		}
	}
	if got := m.rules(); got != "" {
		t.Errorf("the rules are %s, want none", got)
	}
}
