package blackbox_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// diagnosis says why a wait found nothing, as a client reads it.
type diagnosis struct {
	Summary string
	Causes  []struct {
		Code, Detail, Address, MessageID string
		At                               time.Time
	}
}

// codes returns the codes of the causes, in their order.
func (d *diagnosis) codes() (all []string) {
	for _, c := range d.Causes {
		all = append(all, c.Code)
	}
	return all
}

// diagnosisOf returns the diagnosis in the answer to a wait, nil if there is none.
func diagnosisOf(t testing.TB, a apptest.Response) *diagnosis {
	t.Helper()
	var b struct{ Diagnosis *diagnosis }
	if err := json.Unmarshal(a.Body, &b); err != nil {
		t.Errorf("decode the answer %s to %s: %v", a.Body, a.Request, err)
	}
	return b.Diagnosis
}

// startCauses starts a service on which all causes can be brought about.
func startCauses(t testing.TB) (*service, *apptest.CauseService) {
	t.Helper()
	s := startAccounts(t, apptest.CauseSettings())
	staff := s.promote(s.account("staff@example.org"))
	for kind, values := range apptest.CauseBlocks() {
		for _, value := range values {
			want(t, s.Call(http.MethodPost, "/staff/blocks", staff.Token, fields{kind: value}), 201, "")
		}
	}
	s.Clock.Advance(time.Minute) // each process reads the blocks
	return s, &apptest.CauseService{T: t, URL: strings.TrimSuffix(s.URL, "/api/v1"), SMTP: s.SMTP}
}

// Every wait that finds nothing names what happened instead, over HTTP, and over MCP without a word of the mail.
func TestWaitsSayWhy(t *testing.T) {
	t.Parallel()
	s, causes := startCauses(t)
	var induced []*apptest.Induced
	for _, c := range apptest.Causes(t, "../causes/causes.json") {
		induced = append(induced, causes.Induce(c))
	}
	codes := make(map[string]bool)
	var waits sync.WaitGroup
	for _, in := range induced {
		codes[in.Want] = true
		waits.Go(func() {
			a := s.Call(http.MethodGet, in.Path(1), in.Credential, nil)
			d := diagnosisOf(t, a)
			if d == nil || len(d.Causes) == 0 || d.Causes[0].Code != in.Want || !strings.Contains(d.Summary, in.Says) {
				t.Errorf("%s: GET %s: %d %s, want the cause %s first and %q in the summary", in.Name, in.Path(1), a.Status, a.Body, in.Want, in.Says)
			}
		})
		waits.Go(func() { checkTool(s, in) })
	}
	waits.Wait()
	if all := slices.Sorted(maps.Keys(codes)); len(all) != 10 {
		t.Errorf("the causes have the codes %s, want all ten", all)
	}
}

// checkTool checks the result of the tool of MCP that waits as a case says. The tools have no arguments for some queries.
func checkTool(s *service, in *apptest.Induced) {
	s.t.Helper()
	arguments := fields{"seconds": 1}
	if in.Address != "" && in.Mailbox != "/keys" {
		arguments["mailbox"] = in.Address
	}
	for name, value := range in.Query {
		switch name {
		case "from", "to", "subject", "after":
			arguments[name] = value
		case "has":
			arguments[name] = []string{value}
		default:
			return
		}
	}
	tool := "wait_for_" + in.For
	a := s.do(http.MethodPost, "", in.Credential, fields{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": fields{"name": tool, "arguments": arguments}}, func(r *http.Request) {
		r.URL.Path = "/mcp"
	})
	var answer struct {
		Result struct {
			StructuredContent struct {
				Status    string
				Diagnosis struct {
					Summary string
					Causes  []struct {
						Code  string
						Count int
					}
				}
			}
		}
	}
	if err := json.Unmarshal(a.Body, &answer); err != nil {
		s.t.Errorf("%s: decode the result %s of %s: %v", in.Name, a.Body, tool, err)
	}
	got := answer.Result.StructuredContent
	if d := got.Diagnosis; got.Status != "timeout" || len(d.Causes) == 0 || d.Causes[0].Code != in.Want || d.Causes[0].Count < 1 || d.Summary == "" {
		s.t.Errorf("%s: %s with %v: %s, want the cause %s first", in.Name, tool, arguments, a.Body, in.Want)
	}
	if word := in.Says; strings.HasPrefix(in.Want, "no_") && word != "" && !strings.Contains(word, " ") && strings.Contains(string(a.Body), word) || strings.Contains(string(a.Body), "@") {
		s.t.Errorf("%s: %s with %v: %s, want no word of the mail", in.Name, tool, arguments, a.Body)
	}
}

// A response has a diagnosis only after a wait that found nothing.
func TestNoDiagnosisWithoutAWait(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	empty, full := s.create("", nil), s.create("", nil)
	s.mail(full.box(), apptest.Mail{Subject: "Sign in", Text: "Your verification code is 482913."})
	for _, c := range []struct{ path, token string }{
		{"/mailboxes/me/messages", empty.Token},
		{"/mailboxes/me/messages?wait=0", empty.Token},
		{"/mailboxes/me/otp/latest", empty.Token},
		{"/mailboxes/me/messages?wait=1", full.Token},
		{"/mailboxes/me/otp/latest?wait=1", full.Token},
	} {
		if a := s.Call(http.MethodGet, c.path, c.token, nil); strings.Contains(string(a.Body), "diagnosis") {
			t.Errorf("GET %s: %d %s, want no diagnosis", c.path, a.Status, a.Body)
		}
	}
	a := s.Call(http.MethodGet, "/mailboxes/me/otp/latest?wait=1", empty.Token, nil)
	want(t, a, 404, "otp.not_found")
	if d := diagnosisOf(t, a); d == nil || fmt.Sprint(d.codes()) != "[nothing_arrived]" || d.Causes[0].Address != empty.Address || !strings.Contains(d.Summary, empty.Address) {
		t.Errorf("GET otp/latest?wait=1 of an empty mailbox: %s, want the diagnosis nothing_arrived for %s", a.Body, empty.Address)
	}
}

// A diagnosis has nothing of what others received, whatever their addresses, filters and codes: each owner's mail has a word
// that stands in no diagnosis of another.
func TestDiagnosisHasNoWordOfOthersMail(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, apptest.CauseSettings())
	random := rand.New(rand.NewPCG(19, 38))
	type tenant struct {
		word, key string
		user      user
		boxes     []mailbox
	}
	var tenants []*tenant
	for i := range 4 {
		n := &tenant{word: fmt.Sprintf("secretword%c", 'a'+i), user: s.account(fmt.Sprintf("t%d@example.org", i))}
		n.key = s.key(n.user, nil).Key
		for j := range 3 { // addresses of different tenants differ by a letter, and are the same at another domain
			body := fields{"localPart": fmt.Sprintf("twin-%c%d", 'a'+i, j), "domain": []string{"gonebox.localhost", "second.localhost"}[(i+j)%2]}
			if i == 3 {
				n.boxes = append(n.boxes, s.create("", body)) // guests
			} else {
				n.boxes = append(n.boxes, s.keyMailbox(developerKey{Key: n.key}, body))
			}
		}
		tenants = append(tenants, n)
	}
	var all []string
	for _, n := range tenants {
		for _, m := range n.boxes {
			all = append(all, m.Address)
		}
	}
	for range 60 {
		n := tenants[random.IntN(len(tenants))]
		m := n.boxes[random.IntN(len(n.boxes))]
		text := []string{"Your order number is 48213.", "Your verification code is 482913.", "See https://shop.example/verify?t=1"}[random.IntN(3)]
		_ = s.TrySend(apptest.Mail{From: n.word + "@shop.example", To: []string{m.Address}, Subject: "For " + n.word, Text: n.word + " " + text}) // or the mailbox is full
	}
	queries := []string{"", "from=nobody", "subject=none", "has=code&subject=none", "has=link&to=twin", "unseen=true&from=zzz"}
	accountQueries := []string{"q=nothing", "domain=none.example", "source=sink", "mailbox=%s", "to=%s", "mailbox=%s&subject=none"}
	var waits sync.WaitGroup
	ask := func(n *tenant, path, token string) {
		waits.Go(func() {
			a := s.Call(http.MethodGet, path, token, nil)
			for _, other := range tenants {
				words := []string{other.word}
				for _, m := range other.boxes {
					words = append(words, m.ID)
					if !strings.Contains(path, m.Address) { // the diagnosis repeats the query
						words = append(words, m.Address)
					}
				}
				for _, word := range words {
					if other != n && strings.Contains(string(a.Body), word) {
						t.Errorf("GET %s of %s: %s, want nothing of %s", path, n.word, a.Body, word)
					}
				}
			}
		})
	}
	for _, n := range tenants {
		for _, m := range n.boxes {
			q := queries[random.IntN(len(queries))]
			ask(n, "/mailboxes/me/messages?wait=1&"+q, m.Token)
			ask(n, "/mailboxes/me/otp/latest?wait=1&from=nobody", m.Token)
			if n != tenants[3] {
				ask(n, "/keys/mailboxes/"+m.ID+"/messages?wait=1&"+q, n.key)
				ask(n, "/keys/mailboxes/"+m.ID+"/otp/latest?wait=1&to=other", n.key)
			}
		}
		for _, q := range accountQueries {
			if strings.Contains(q, "%s") {
				q = fmt.Sprintf(q, all[random.IntN(len(all))])
			}
			ask(n, "/keys/messages?wait=1&has=attachment&"+q, n.key)
			ask(n, "/me/messages?wait=1&has=attachment&"+q, n.user.Token)
		}
	}
	waits.Wait()
}

// Mail for a similar address is named to the credentials of accounts, and not to the token of a mailbox, although both are
// of one account. A key that may not read messages gets no word of them.
func TestDiagnosisRespectsTheCredential(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u := s.account("ada@example.org")
	k, codes := s.key(u, nil), s.key(u, fields{"scopes": []string{"otp:read"}})
	meant := s.keyMailbox(k, fields{"localPart": "lonely-willow-3"})
	s.Send(apptest.Mail{To: []string{s.keyMailbox(k, fields{"localPart": "lonely-wilow-3"}).Address}, Subject: "Astray"})
	other := s.keyMailbox(k, fields{"localPart": "well-known-poplar"})
	s.Send(apptest.Mail{To: []string{other.Address}, Subject: "Remarkable", Text: "Your order number is 48213."})
	for _, c := range []struct{ path, credential, want, hidden string }{
		{"/keys/mailboxes/" + meant.ID + "/messages?wait=1", k.Key, "other_address", ""},
		{"/me/messages?wait=1&mailbox=" + meant.Address, u.Token, "other_address", ""},
		{"/mailboxes/me/messages?wait=1", meant.Token, "nothing_arrived", "wilow-"},
		{"/keys/mailboxes/" + meant.ID + "/otp/latest?wait=1", codes.Key, "nothing_arrived", "wilow-"},
		{"/keys/mailboxes/" + other.ID + "/otp/latest?wait=1", codes.Key, "no_code", "48213"},
		{"/keys/mailboxes/" + other.ID + "/otp/latest?wait=1&subject=x", codes.Key, "filtered", "Remarkable"},
		{"/keys/mailboxes/" + other.ID + "/otp/latest?wait=1&from=zzz", codes.Key, "filtered", "sender@example.org"},
		{"/keys/mailboxes/" + other.ID + "/otp/latest?wait=1&subject=x", k.Key, "filtered", "sender@"},
	} {
		a := s.Call(http.MethodGet, c.path, c.credential, nil)
		if d := diagnosisOf(t, a); d == nil || len(d.Causes) == 0 || d.Causes[0].Code != c.want || c.hidden != "" && strings.Contains(string(a.Body), c.hidden) {
			t.Errorf("GET %s: %s, want the cause %s without %q", c.path, a.Body, c.want, c.hidden)
		}
	}
}

// In a project, which has mail for any address, a cause names the recipient, and the filter project is one as others are.
func TestDiagnosisInProjects(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	var project struct{ MailboxID, Token string }
	created := s.Call(http.MethodPost, "/keys/projects", devKey, fields{"name": "web-1"})
	want(t, created, 201, "")
	created.Into(t, &project)
	c := s.smtpFrom("127.0.0.1")
	reply(t, c, 250, "EHLO app")
	reply(t, c, 235, "AUTH PLAIN "+base64.StdEncoding.EncodeToString([]byte("\x00web-1\x00any")))
	drop(t, c, "Welcome", "ada@shop.example")
	for _, w := range []struct{ path, credential, want, says string }{
		{"/mailboxes/me/messages?subject=zzz", project.Token, "filtered", `its subject is "Welcome"`},
		{"/mailboxes/me/messages?to=adda@shop.example", project.Token, "filtered", `"ada@shop.example"`},
		{"/keys/mailboxes/" + project.MailboxID + "/messages?to=adda@shop.example", devKey, "other_address", `"ada@shop.example" instead of "adda@shop.example"`},
		{"/keys/messages?project=web-1&from=zzz", devKey, "filtered", `from="zzz"`},
		{"/keys/messages?project=web-2", devKey, "filtered", `it is in the project "web-1"`},
		{"/keys/messages?project=web-1&has=attachment", devKey, "filtered", "no attachment"},
	} {
		a := s.Call(http.MethodGet, w.path+"&wait=1", w.credential, nil)
		d := diagnosisOf(t, a)
		if d == nil || d.Causes[0].Code != w.want || !strings.Contains(d.Summary, w.says) || d.Causes[0].Address != "ada@shop.example" {
			t.Errorf("GET %s: %s, want the cause %s for ada@shop.example and %q in the summary", w.path, a.Body, w.want, w.says)
		}
	}
}

// A refusal of mail for another recipient than the one that was named says less than a message for a similar one.
func TestDiagnosisPutsRefusalsOfOthersLast(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	c := s.smtpFrom("127.0.0.1")
	reply(t, c, 250, "EHLO app")
	s.addFault(fields{"stage": "rcpt", "to": "*@bad.example", "reply": "451 4.3.2 later", "every": 2})
	drop(t, c, "First", "bob@bad.example")
	reply(t, c, 250, "MAIL FROM:<app@example.org>")
	reply(t, c, 451, "RCPT TO:<bob@bad.example>")
	reply(t, c, 250, "RSET")
	drop(t, c, "Welcome", "ada@shop.example")
	for to, want := range map[string]string{"adda@shop.example": "other_address", "bob@bad.example": "refused"} {
		a := s.Call(http.MethodGet, "/keys/messages?wait=1&subject=none&to="+to, devKey, nil)
		if d := diagnosisOf(t, a); d == nil || d.Causes[0].Code != want {
			t.Errorf("GET /keys/messages?to=%s: %s, want the first cause %s", to, a.Body, want)
		}
	}
}
