package blackbox_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"
)

type faultRule struct {
	ID   string
	Hits int
}

type dialog struct {
	Project *string
	From    string
	To      []string
	Refused bool
	Lines   []struct{ At, From, Text string }
}

// text returns what was said, a line each, with C or S in front.
func (d dialog) text() string {
	var b strings.Builder
	for _, line := range d.Lines {
		fmt.Fprintf(&b, "%s: %s\n", strings.ToUpper(line.From[:1]), line.Text)
	}
	return b.String()
}

// addFault creates a rule of the account of the profile.
func (s *service) addFault(rule fields) faultRule {
	s.t.Helper()
	return createFault(s, "/keys/faults", devKey, rule)
}

// createFault creates a rule of an account.
func createFault(s *service, path, token string, rule fields) (r faultRule) {
	s.t.Helper()
	a := s.Call(http.MethodPost, path, token, rule)
	want(s.t, a, http.StatusCreated, "")
	a.Into(s.t, &r)
	return r
}

// codes sends a mail and returns the codes of the replies to MAIL, RCPT, DATA and the content as far as it came, with 0 for a connection that
// was closed.
func (s *service) codes(sender string, to ...string) string {
	s.t.Helper()
	c := s.smtpFrom("127.0.0.1")
	defer func() { _ = codeOf(s.t, c, "QUIT") }() // which ends the transcript
	reply(s.t, c, 250, "EHLO app")
	var codes []string
	say := func(line string) bool {
		code := codeOf(s.t, c, line)
		codes = append(codes, fmt.Sprint(code))
		return code == 250 || code == 354
	}
	ok := say("MAIL FROM:<" + sender + ">")
	for _, address := range to {
		ok = ok && say("RCPT TO:<"+address+">")
	}
	_ = ok && say("DATA") && say("Subject: test\r\n\r\nYour code is 246810.\r\n.")
	return strings.Join(codes, " ")
}

// codeOf sends a line and returns the code of the reply, 0 if the connection was closed instead.
func codeOf(t testing.TB, c *textproto.Conn, line string) int {
	t.Helper()
	if err := c.PrintfLine("%s", line); err != nil {
		return 0
	}
	code, _, err := c.ReadResponse(0)
	if err != nil {
		return 0
	}
	return code
}

const tested = "app@company.test"

func TestRulesAnswerAtEachStage(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	for _, test := range []struct {
		rule fields
		want string
	}{
		{fields{"stage": "mail", "reply": "451 4.3.2 Not now"}, "451"},
		{fields{"stage": "rcpt", "reply": "550 5.1.1 Nobody"}, "250 550"},
		{fields{"stage": "data", "reply": "452 4.3.1 Full"}, "250 250 452"},
		{fields{"stage": "message", "reply": "552 5.3.4 Too large"}, "250 250 354 552"},
		{fields{"stage": "message", "reply": "550"}, "250 250 354 550"},
		{fields{"stage": "rcpt", "reply": "421 4.3.2 Going down"}, "250 421"},
		{fields{"stage": "mail", "close": true}, "0"},
		{fields{"stage": "rcpt", "close": true}, "250 0"},
		{fields{"stage": "data", "close": true}, "250 250 0"},
		{fields{"stage": "message", "close": true}, "250 250 354 0"},
		{fields{"stage": "rcpt", "from": "APP@*", "to": "*@company.TEST", "reply": "550 5.1.1 Nobody"}, "250 550"},
		{fields{"stage": "rcpt", "from": "other@*", "reply": "550 5.1.1 Nobody"}, "250 250 354 250"},
		{fields{"stage": "message", "to": "grace@*", "reply": "550 5.1.1 Nobody"}, "250 250 354 250"},
		{fields{"stage": "rcpt", "project": "shop", "reply": "550 5.1.1 Nobody"}, "250 250 354 250"},
	} {
		rule := s.addFault(test.rule)
		if got := s.codes(tested, "ada@company.test"); got != test.want {
			t.Errorf("with the rule %v a mail is answered %s, want %s", test.rule, got, test.want)
		}
		s.call(http.MethodDelete, "/keys/faults/"+rule.ID, devKey, 204, "")
	}
	if got := s.codes(tested, "ada@company.test"); got != "250 250 354 250" {
		t.Errorf("without a rule a mail is answered %s, want 250 250 354 250", got)
	}
}

// A rule's counts decide when it answers, and the next rule is tried when it does not.
func TestRulesCount(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	rcpt := func(n int) (codes string) {
		for range n {
			_, code, _ := strings.Cut(s.codes(tested, "ada@company.test"), " ")
			code, _, _ = strings.Cut(code, " ")
			codes += code + " "
		}
		return codes
	}
	for _, test := range []struct {
		rules []fields
		mails int
		want  string
	}{
		{[]fields{{"stage": "rcpt", "reply": "451 a", "times": 2}}, 4, "451 451 250 250 "},
		{[]fields{{"stage": "rcpt", "reply": "451 a", "every": 3}}, 7, "250 250 451 250 250 451 250 "},
		{[]fields{{"stage": "rcpt", "reply": "451 a", "perMinute": 2}}, 4, "250 250 451 451 "},
		{[]fields{{"stage": "rcpt", "reply": "451 a", "times": 1}, {"stage": "rcpt", "reply": "450 b", "times": 1}}, 3, "451 450 250 "},
		{[]fields{{"stage": "rcpt", "reply": "451 a", "every": 2}, {"stage": "rcpt", "reply": "450 b"}}, 4, "450 451 450 451 "},
		{[]fields{{"stage": "rcpt", "reply": "451 a", "every": 2, "times": 1}}, 5, "250 451 250 250 250 "},
	} {
		var rules []faultRule
		for _, rule := range test.rules {
			rules = append(rules, s.addFault(rule))
		}
		if got := rcpt(test.mails); got != test.want {
			t.Errorf("with the rules %v, RCPT is answered %s, want %s", test.rules, got, test.want)
		}
		all := get[[]faultRule](s, "/keys/faults", devKey)
		if len(all) != len(rules) || all[0].ID != rules[0].ID || all[0].Hits != strings.Count(test.want, "451") {
			t.Errorf("the rules are %+v, want %d of which the first has answered %d times", all, len(rules), strings.Count(test.want, "451"))
		}
		s.call(http.MethodDelete, "/keys/faults", devKey, 204, "")
	}
	s.addFault(fields{"stage": "rcpt", "reply": "451 a", "perMinute": 1})
	before := rcpt(2)
	s.Clock.Advance(time.Minute)
	if after := rcpt(2); before != "250 451 " || after != before {
		t.Errorf("in two minutes RCPT is answered %sand %s, want 250 451 in each", before, after)
	}
	s.call(http.MethodDelete, "/keys/faults", devKey, 204, "")
	s.addFault(fields{"stage": "rcpt", "reply": "451 a", "for": 60})
	before = rcpt(1)
	s.Clock.Advance(time.Minute)
	if after := rcpt(1); before != "451 " || after != "250 " {
		t.Errorf("before and after the end of a rule RCPT is answered %sand %s, want 451 and 250", before, after)
	}
}

// The same seed and mails have the same replies, in whatever order the mails come.
func TestSeedDeterminesReplies(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	run := func(seed int, backwards bool) string {
		s.addFault(fields{"stage": "rcpt", "reply": "451 a", "probability": 0.5, "seed": seed})
		codes := make([]string, 30)
		for i := range codes {
			if backwards {
				i = len(codes) - 1 - i
			}
			codes[i] = s.codes(tested, fmt.Sprintf("ada%d@company.test", i))
		}
		s.call(http.MethodDelete, "/keys/faults", devKey, 204, "")
		return strings.Join(codes, ", ")
	}
	first := run(42, false)
	if again := run(42, false); again != first {
		t.Errorf("the seed 42 again: the replies are %s, want %s as before", again, first)
	}
	if other := run(42, true); other != first {
		t.Errorf("the seed 42 in the opposite order: the replies are %s, want %s as before", other, first)
	}
	if other := run(43, false); other == first {
		t.Errorf("the seed 43: the replies are %s, want others than with the seed 42", other)
	}
	if n := strings.Count(first, "451"); n < 5 || n > 25 {
		t.Errorf("%d of 30 mails are refused, want some 15: %s", n, first)
	}
}

func TestTagsOfAddressesAskForFaults(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	for tag, want := range map[string]string{
		"fault-550": "250 550", "fault-451-4.7.1": "250 451", "FAULT-421": "250 421", "fault-close": "250 0",
		"fault-data-552": "250 250 354 552", "fault-data-451-4.3.0": "250 250 354 451", "fault-delay-0": "250 250 354 250",
		"fault-250": "250 250 354 250", "fault-451-5.7.1": "250 250 354 250", "fault-5500": "250 250 354 250", "fault-": "250 250 354 250",
		"fault": "250 250 354 250", "fault-close-1": "250 250 354 250", "fault-delay-301": "250 250 354 250", "fault-data-250": "250 250 354 250",
	} {
		if got := s.codes(tested, "ada+"+tag+"@company.test"); got != want {
			t.Errorf("a mail for ada+%s@company.test is answered %s, want %s", tag, got, want)
		}
	}
	grey := func(to string, want string) {
		t.Helper()
		if got := s.codes(tested, to); got != want {
			t.Errorf("a mail for %s at %s is answered %s, want %s", to, s.Clock.Now(), got, want)
		}
	}
	grey("ada+fault-greylist-60@company.test", "250 451")
	s.Clock.Advance(59 * time.Second)
	grey("ada+fault-greylist-60@company.test", "250 451")
	grey("bob+fault-greylist-60@company.test", "250 451")
	s.Clock.Advance(time.Second)
	grey("ada+fault-greylist-60@company.test", "250 250 354 250")
	grey("bob+fault-greylist-60@company.test", "250 451")
}

// Faults never concern mailboxes that are not of the sink, nor a mail that one of them gets too.
func TestFaultsSpareOtherMailboxes(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	box := s.create("", nil)
	local, domain, _ := strings.Cut(box.Address, "@")
	for _, stage := range []string{"rcpt", "data", "message"} {
		s.addFault(fields{"stage": stage, "reply": "550 5.0.0 no"})
		if got := s.codes(tested, box.Address); got != "250 250 354 250" {
			t.Errorf("with a rule for %s a mail for a mailbox of a guest is answered %s, want 250 250 354 250", stage, got)
		}
		if stage == "rcpt" {
			s.call(http.MethodDelete, "/keys/faults", devKey, 204, "")
		}
	}
	if got := s.codes(tested, box.Address, "ada@company.test"); got != "250 250 250 354 250" {
		t.Errorf("a mail for a guest and the sink is answered %s, want 250 250 250 354 250", got)
	}
	if got := s.codes(tested, local+"+fault-550@"+domain); got != "250 250 354 250" {
		t.Errorf("a tag of a guest's address is answered %s, want 250 250 354 250", got)
	}
	if all := get[[]summary](s, "/mailboxes/me/messages", box.Token); len(all) != 5 {
		t.Errorf("the guest has %d messages, want 5", len(all))
	}
	for _, m := range get[[]summary](s, "/mailboxes/me/messages", box.Token) {
		s.call(http.MethodGet, "/messages/"+m.ID+"/transcript", box.Token, 404, "transcript.not_found")
	}
}

// Without the profile a sink receives mail from everywhere, and so do other mailboxes: MAIL is answered at RCPT of the sink.
func TestRulesForMailSpareOtherMailboxes(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"smtp.sink.domains": "company.test", "smtp.sink.account": "ada@example.org", "smtp.trusted_proxies": "127.0.0.1/32"})
	ada, bob := s.account("ada@example.org"), s.account("bob@example.org")
	rule := fields{"stage": "mail", "reply": "451 4.3.2 Not now"}
	createFault(s, "/me/faults", ada.Token, rule)
	createFault(s, "/me/faults", bob.Token, fields{"stage": "rcpt", "reply": "550 5.0.0 no"})
	box := s.create("", nil)
	if got := s.codes(tested, box.Address); got != "250 250 354 250" {
		t.Errorf("a mail for a mailbox of a guest is answered %s, want 250 250 354 250", got)
	}
	if got := s.codes(tested, "ada@company.test"); got != "250 451" {
		t.Errorf("a mail for the sink is answered %s, want 250 451", got)
	}
	s.awaitTranscript("/me/transcripts", ada.Token)
	if all := get[[]dialog](s, "/me/transcripts", ada.Token); len(all) != 1 {
		t.Errorf("there are %d transcripts of the sink, want 1", len(all))
	}
	if all := get[[]dialog](s, "/me/transcripts", bob.Token); len(all) != 0 {
		t.Errorf("another account has %d transcripts, want none", len(all))
	}
}

// A rule that names a project answers its mail alone, at MAIL too, and the report of a bounce stays in the project.
func TestRulesOfProjects(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	rule := s.addFault(fields{"project": "shop", "stage": "mail", "reply": "451 4.3.2 Not now"})
	as := func(project string) *textproto.Conn {
		c := s.smtpFrom("127.0.0.1")
		reply(t, c, 250, "EHLO app")
		reply(t, c, 235, "AUTH PLAIN "+base64.StdEncoding.EncodeToString([]byte("\x00"+project+"\x00secret")))
		return c
	}
	shop := as("shop")
	reply(t, shop, 451, "MAIL FROM:<app@company.test>")
	reply(t, as("other"), 250, "MAIL FROM:<app@company.test>")
	if got := s.codes(tested, "ada@company.test"); got != "250 250 354 250" {
		t.Errorf("a mail for the sink is answered %s, want 250 250 354 250", got)
	}
	s.awaitTranscript("/keys/transcripts", devKey)
	all := get[[]dialog](s, "/keys/transcripts", devKey)
	if len(all) != 1 || all[0].Project == nil || *all[0].Project != "shop" {
		t.Errorf("the transcripts of refused mails are %+v, want one of the project shop", all)
	}
	s.call(http.MethodDelete, "/keys/faults/"+rule.ID, devKey, 204, "")
	drop(t, shop, "one", "ada+fault-bounce@elsewhere.example")
	messages := get[[]summary](s, "/keys/messages?project=shop", devKey)
	if len(messages) != 2 {
		t.Errorf("the project has %d messages, want the mail and the report", len(messages))
	}
	for _, m := range messages {
		if m.Subject != "one" {
			continue
		}
		s.awaitTranscript("/messages/"+m.ID+"/transcript", devKey)
		if d := get[dialog](s, "/messages/"+m.ID+"/transcript", devKey); d.Project == nil || *d.Project != "shop" || d.Refused {
			t.Errorf("the transcript is %+v, want one of the project shop that is not refused", d)
		}
	}
}

func TestFaultRulesAreChecked(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	for pointer, rules := range map[string][]fields{
		"/reply": {
			{"stage": "rcpt"},
			{"stage": "rcpt", "delay": 0},
			{"stage": "rcpt", "close": false},
			{"stage": "rcpt", "times": 2},
			{"stage": "rcpt", "reply": "250 ok"},
			{"stage": "rcpt", "reply": "560 x"},
			{"stage": "rcpt", "reply": "451\r\nx"},
			{"stage": "rcpt", "reply": "451 5.1.1 x"},
			{"stage": "rcpt", "reply": "451 é"},
			{"stage": "rcpt", "reply": "try later"},
		},
		"/to":          {{"stage": "mail", "to": "x", "reply": "451 a"}, {"stage": "auth", "to": "x", "reply": "451 a"}},
		"/from":        {{"stage": "auth", "from": "x", "reply": "451 a"}},
		"/stage":       {{"stage": "helo", "reply": "451 a"}, {"reply": "451 a"}},
		"/times":       {{"stage": "rcpt", "reply": "451 a", "times": 0}, {"stage": "rcpt", "reply": "451 a", "times": -1}},
		"/every":       {{"stage": "rcpt", "reply": "451 a", "every": 0}},
		"/perMinute":   {{"stage": "rcpt", "reply": "451 a", "perMinute": 0}},
		"/probability": {{"stage": "rcpt", "reply": "451 a", "probability": 0}, {"stage": "rcpt", "reply": "451 a", "probability": 1.5}},
		"/seed":        {{"stage": "rcpt", "reply": "451 a", "seed": 1}},
		"/delay":       {{"stage": "rcpt", "delay": 301}, {"stage": "rcpt", "delay": -1, "reply": "451 a"}},
		"/for":         {{"stage": "rcpt", "reply": "451 a", "for": 0}},
		"/project":     {{"stage": "rcpt", "reply": "451 a", "project": "No Such"}},
		"/sender":      {{"stage": "rcpt", "reply": "451 a", "sender": "x"}},
	} {
		for _, rule := range rules {
			a := s.Call(http.MethodPost, "/keys/faults", devKey, rule)
			if a.Status != 422 || !strings.Contains(string(a.Body), `"`+pointer+`"`) && pointer != "/stage" && pointer != "/sender" {
				t.Errorf("POST /keys/faults %v: %d %s, want 422 with the pointer %s", rule, a.Status, a.Body, pointer)
			}
		}
	}
	for range 100 {
		s.addFault(fields{"stage": "rcpt", "from": "nobody@*", "reply": "451 a"})
	}
	want(t, s.Call(http.MethodPost, "/keys/faults", devKey, fields{"stage": "rcpt", "reply": "451 a"}), 409, "fault.limit_reached")
	want(t, s.Call(http.MethodDelete, "/keys/faults/fau_0000000000000000000000000", devKey, nil), 404, "fault.not_found")
}

// A transcript has the whole dialog, without credentials and content.
func TestTranscriptsTellTheDialog(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	s.addFault(fields{"stage": "rcpt", "to": "bob@*", "reply": "451 4.3.2 Not now"})
	c := s.smtpFrom("127.0.0.1")
	reply(t, c, 250, "EHLO app")
	reply(t, c, 334, "AUTH LOGIN")
	reply(t, c, 334, "YWRh")
	reply(t, c, 235, "c2VjcmV0")
	drop(t, c, "one", "ada@company.test")
	reply(t, c, 250, "MAIL FROM:<app@company.test>")
	reply(t, c, 451, "RCPT TO:<bob@company.test>")
	reply(t, c, 250, "RSET")
	m := get[[]summary](s, "/keys/messages", devKey)[0]
	s.awaitTranscript("/messages/"+m.ID+"/transcript", devKey)
	got := get[dialog](s, "/messages/"+m.ID+"/transcript", devKey)
	opening := "S: 220 mx.gonebox.localhost ESMTP\nC: EHLO app\nS: 250-mx.gonebox.localhost\n"
	mail := "C: AUTH LOGIN\nS: 334 ********\nC: ********\nS: 334 ********\nC: ********\nS: 235 2.7.0 Authentication successful\nC: MAIL FROM:<app@company.test>\nS: 250 2.1.0 Sender ok\n"
	accepted := "C: RCPT TO:<ada@company.test>\nS: 250 2.1.5 Recipient ok\nC: DATA\nS: 354 Start mail input; end with <CRLF>.<CRLF>\nC: [content, 98 octets]\nS: 250 2.0.0 Message taken\n"
	if text := got.text(); !strings.HasPrefix(text, opening) || !strings.HasSuffix(text, mail+accepted) || got.Refused {
		t.Errorf("the transcript is\n%s\nrefused: %v, want it to begin with\n%s\nand to end with\n%s", text, got.Refused, opening, mail+accepted)
	}
	s.awaitTranscript("/keys/transcripts", devKey)
	refused := get[[]dialog](s, "/keys/transcripts", devKey)
	if len(refused) != 1 || !refused[0].Refused || !strings.HasSuffix(refused[0].text(), mail+"C: RCPT TO:<bob@company.test>\nS: 451 4.3.2 Not now\nC: RSET\nS: 250 2.0.0 Ok\n") {
		t.Errorf("the transcripts of refused mails are %+v, want that for bob alone", refused)
	}
	if all := get[[]dialog](s, "/keys/transcripts?since="+s.Clock.Now().Add(time.Second).UTC().Format(time.RFC3339), devKey); len(all) != 0 {
		t.Errorf("since a second later there are %d transcripts, want none", len(all))
	}
	want(t, s.Call(http.MethodGet, "/keys/transcripts?since=now", devKey, nil), 422, "request.invalid")
	s.Clock.Advance(25 * time.Hour)
	if all := get[[]dialog](s, "/keys/transcripts", devKey); len(all) != 0 {
		t.Errorf("a day later there are %d transcripts, want none", len(all))
	}
}

// A mail that is answered by closing the connection was refused, at each stage and by a tag.
func TestTranscriptsTellOfClosedConnections(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	for _, stage := range []string{"mail", "rcpt", "data", "message", "tag"} {
		to := stage + "@company.test"
		if stage == "tag" {
			to = "tag+fault-close@company.test"
		} else {
			s.addFault(fields{"stage": stage, "close": true, "times": 1})
		}
		s.codes(tested, to)
		var all []dialog
		eventually(t, "the transcript of a mail at whose "+stage+" the connection is closed", func() bool { // it is stored after that
			all = get[[]dialog](s, "/keys/transcripts", devKey)
			return len(all) > 0
		})
		if len(all) != 1 || !all[0].Refused || !strings.HasSuffix(all[0].text(), "S: [connection closed]\n") {
			t.Errorf("a connection is closed at %s: the transcripts of refused mails are %+v, want one that ends with the closed connection", stage, all)
		}
		s.Clock.Advance(25 * time.Hour) // which erases it
	}
}

// The same rules, seeds and mails have the same transcripts, of which no clock decides anything. TestThousandRunsAreTheSame in package fault
// repeats the decisions more often.
func TestTranscriptsAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	run := func() string {
		for _, rule := range []fields{
			{"stage": "rcpt", "reply": "451 4.3.2 Not now", "probability": 0.5, "seed": 42},
			{"stage": "message", "reply": "552 5.3.4 Too large", "every": 2},
			{"stage": "data", "to": "grace@*", "close": true},
		} {
			s.addFault(rule)
		}
		var all []string
		for i := range 4 {
			all = append(all, s.codes(tested, fmt.Sprintf("ada%d@company.test", i)))
		}
		all = append(all, s.codes(tested, "grace@company.test"))
		refused := len(slices.DeleteFunc(slices.Clone(all), func(codes string) bool { return codes == "250 250 354 250" }))
		var dialogs []string
		eventually(t, "the transcripts of all refused sessions", func() bool { // another process may have recorded them
			dialogs = dialogs[:0]
			for d := range pages[dialog](s, "/keys/transcripts?since="+s.Clock.Now().Add(-time.Millisecond).UTC().Format(time.RFC3339Nano), devKey) {
				dialogs = append(dialogs, d.text())
			}
			return len(dialogs) == refused
		})
		all = append(all, dialogs...)
		slices.Sort(all) // they are of the same time
		s.call(http.MethodDelete, "/keys/faults", devKey, 204, "")
		return strings.Join(all, "\n")
	}
	runs := 100
	if testing.Short() {
		runs = 20
	}
	first := run()
	if !strings.Contains(first, "451 4.3.2") || !strings.Contains(first, "552 5.3.4") {
		t.Errorf("the transcripts are %s, want replies of two rules", first)
	}
	for i := range runs - 1 {
		s.Clock.Advance(time.Second)
		if got := run(); got != first {
			t.Fatalf("run %d has the transcripts\n%s\nwant as the first\n%s", i+2, got, first)
		}
	}
}

func TestDelayComesBeforeTheReply(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	s.addFault(fields{"stage": "data", "to": "slow@*", "delay": 1})
	for to, want := range map[string]string{"slow@company.test": "250 250 354 250", "ada+fault-delay-1@company.test": "250 250 354 250"} {
		begun := time.Now()
		if got := s.codes(tested, to); got != want || time.Since(begun) < time.Second {
			t.Errorf("a mail for %s is answered %s after %v, want %s after a second", to, got, time.Since(begun), want)
		}
	}
}

// The report of a mail that bounces reaches its sender here, and says which recipient and which mail it is about.
func TestBounceIsReported(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	send := func(from, mail, rcpt string) {
		t.Helper()
		c := s.smtpFrom("127.0.0.1")
		reply(t, c, 250, "EHLO app")
		reply(t, c, 250, "MAIL FROM:<"+from+">"+mail)
		reply(t, c, 250, "RCPT TO:<ada+fault-bounce@company.test>"+rcpt)
		reply(t, c, 354, "DATA")
		reply(t, c, 250, "Subject: one\r\nMessage-ID: <1@company.test>\r\n\r\nThe body.\r\n.")
		reply(t, c, 221, "QUIT")
	}
	reports := func() (raw []string) {
		for _, m := range get[[]summary](s, "/keys/messages?subject=Undelivered&limit=100", devKey) {
			raw = append(raw, string(s.Call(http.MethodGet, "/messages/"+m.ID+"/raw", devKey, nil).Body))
		}
		return raw
	}
	send(tested, " RET=HDRS ENVID=QQ+2B314", " ORCPT=rfc822;Ada+40shop.example")
	all := reports()
	if len(all) != 1 {
		t.Fatalf("there are %d reports, want 1", len(all))
	}
	for _, text := range []string{
		"Return-Path: <>", "\r\nTo: <app@company.test>\r\n", "Content-Type: multipart/report; report-type=delivery-status;", "\r\nReporting-MTA: dns; mx.gonebox.localhost\r\n",
		"\r\nOriginal-Envelope-Id: QQ+314\r\n", "\r\nOriginal-Recipient: rfc822; Ada@shop.example\r\n", "\r\nFinal-Recipient: rfc822; ada+fault-bounce@company.test\r\n", "\r\nAction: failed\r\n", "\r\nStatus: 5.1.1\r\n",
		"Content-Type: text/rfc822-headers", "Message-ID: <1@company.test>",
	} {
		if !strings.Contains(all[0], text) {
			t.Errorf("the report is %s, want %q in it", all[0], text)
		}
	}
	if strings.Contains(all[0], "The body.") {
		t.Errorf("the report is %s, want it without the body", all[0])
	}
	send(tested, " RET=FULL", "")
	if all = reports(); len(all) != 2 || !strings.Contains(all[0], "The body.") {
		t.Errorf("with RET=FULL there are %d reports, the newest %s, want 2 of which it has the body", len(all), all[0])
	}
	send(tested, "", " NOTIFY=NEVER")
	send(tested, "", " NOTIFY=SUCCESS")
	send("", "", "")
	if all = reports(); len(all) != 2 {
		t.Errorf("after mails that ask for no report, and one of the null sender, there are %d reports, want 2", len(all))
	}
	send(tested, "", " NOTIFY=FAILURE,DELAY")
	if all = reports(); len(all) != 3 {
		t.Errorf("with NOTIFY=FAILURE there are %d reports, want 3", len(all))
	}
}

// awaitTranscript waits until a call for transcripts finds one: the process that took the mail may be about to write it.
func (s *service) awaitTranscript(path, credential string) {
	s.t.Helper()
	eventually(s.t, "a transcript at "+path, func() bool {
		a := s.Call(http.MethodGet, path, credential, nil)
		return a.Status == http.StatusOK && !strings.Contains(string(a.Body), `"data":[]`)
	})
}
