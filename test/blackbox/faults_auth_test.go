package blackbox_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// signInTwice returns the codes of two AUTH with a name and a right password, and of QUIT; 0 where the connection is closed.
func (s *service) signInTwice(name string) (codes string) {
	s.t.Helper()
	c := s.smtpFrom("127.0.0.1")
	reply(s.t, c, 250, "EHLO app")
	line := "AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00"+name+"\x00secret"))
	for range 2 {
		codes += fmt.Sprint(codeOf(s.t, c, line), " ")
	}
	return codes + fmt.Sprint(codeOf(s.t, c, "QUIT"))
}

// A rule for AUTH answers right credentials of its project, or those of any local client under profile: dev. The client may try again.
func TestRulesAnswerAuth(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	const signedIn = "235 503 221"
	for _, test := range []struct {
		rule                 fields
		shop, other, anybody string // in this order
	}{
		{fields{"reply": "535 5.7.8 No"}, "535 535 221", "535 535 221", "535 535 221"},
		{fields{"reply": "454 4.7.0 Later", "times": 3}, "454 454 221", "454 235 221", signedIn},
		{fields{"reply": "454 4.7.0 Later", "every": 2}, signedIn, "454 235 221", "454 235 221"},
		{fields{"reply": "454 4.7.0 Later", "perMinute": 1}, signedIn, "454 454 221", "454 454 221"},
		{fields{"reply": "454 4.7.0 Later", "probability": 1, "seed": 7}, "454 454 221", "454 454 221", "454 454 221"},
		{fields{"reply": "535 5.7.8 No", "project": "shop"}, "535 535 221", signedIn, signedIn},
		{fields{"close": true, "project": "shop"}, "0 0 0", signedIn, signedIn},
		{fields{"close": true, "reply": "454 4.7.0 Later", "project": "shop"}, "454 0 0", signedIn, signedIn},
		{fields{"reply": "421 4.3.2 Away", "project": "shop"}, "421 0 0", signedIn, signedIn},
	} {
		test.rule["stage"] = "auth"
		s.addFault(test.rule)
		for _, one := range [][2]string{{"shop", test.shop}, {"other", test.other}, {"Any Body", test.anybody}} {
			if got := s.signInTwice(one[0]); got != one[1] {
				t.Errorf("with the rule %v two AUTH as %s and QUIT are answered %s, want %s", test.rule, one[0], got, one[1])
			}
		}
		s.call(http.MethodDelete, "/keys/faults", devKey, 204, "")
	}
	s.addFault(fields{"stage": "auth", "reply": "535 5.7.8 No"})
	if got := s.codes(tested, "ada@company.test"); got != accepted {
		t.Errorf("a mail without AUTH is answered %s, want %s", got, accepted)
	}
}

// The same seed decides alike, whichever tries came to nothing in between.
func TestChancesOfAuthAreRepeatable(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	var runs []string
	for range 2 {
		s.addFault(fields{"stage": "auth", "reply": "454 4.7.0 Later", "probability": 0.5, "seed": 42})
		run := ""
		for range 20 {
			run += s.signInTwice("shop")[:4]
		}
		runs = append(runs, run)
		s.call(http.MethodDelete, "/keys/faults", devKey, 204, "")
	}
	if runs[0] != runs[1] || !strings.Contains(runs[0], "454") || !strings.Contains(runs[0], "235") {
		t.Errorf("two runs of 20 AUTH with the same seed are answered\n%s\n%s, want the same and both replies in them", runs[0], runs[1])
	}
}

// Credentials are in no transcript, whatever the mechanism and wherever it is refused.
func TestTranscriptsOfRefusedAuthHaveNoCredentials(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	s.addFault(fields{"stage": "auth", "reply": "535 5.7.8 No"})
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for _, lines := range [][]string{
		{"AUTH PLAIN " + encode("\x00shop\x00open sesame")},
		{"AUTH PLAIN", encode("\x00shop\x00open sesame")},
		{"AUTH LOGIN", encode("shop"), encode("open sesame")},
		{"AUTH LOGIN " + encode("shop"), encode("open sesame")},
		{"AUTH CRAM-MD5", encode("shop 0123456789abcdef0123456789abcdef")},
		{"AUTH XOAUTH2 " + encode("user=shop\x01auth=Bearer open sesame\x01\x01")},
	} {
		c := s.smtpFrom("127.0.0.1")
		reply(t, c, 250, "EHLO app")
		authenticate(t, c, 535, lines)
		reply(t, c, 221, "QUIT")
		s.awaitTranscript("/keys/transcripts", devKey)
		all := get[[]dialog](s, "/keys/transcripts", devKey)
		if len(all) == 0 || !strings.Contains(all[0].text(), "********") || !strings.Contains(all[0].text(), "S: 535 5.7.8 No") {
			t.Errorf("GET /keys/transcripts after %q: got %+v, want the newest to end with the refusal", lines, all)
			continue
		}
		for _, secret := range append(strings.Fields(strings.Join(lines, " "))[2:], "sesame", "0123456789abcdef") {
			if strings.Contains(all[0].text(), secret) {
				t.Errorf("the transcript of %q has %q in it, want no secrets:\n%s", lines, secret, all[0].text())
			}
		}
	}
}

// A session whose AUTH a rule refused has a transcript, without credentials, and one more for what it does then.
func TestTranscriptsTellOfRefusedAuth(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	s.addFault(fields{"stage": "auth", "reply": "454 4.7.0 Later", "times": 1})
	c := s.smtpFrom("127.0.0.1")
	reply(t, c, 250, "EHLO app")
	line := "AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00shop\x00secret"))
	reply(t, c, 454, line)
	const opening = "C: AUTH PLAIN ********\nS: 454 4.7.0 Later\n"
	s.awaitTranscript("/keys/transcripts", devKey)
	all := get[[]dialog](s, "/keys/transcripts", devKey)
	if len(all) != 1 || !all[0].Refused || all[0].Project == nil || *all[0].Project != "shop" || !strings.HasSuffix(all[0].text(), opening) {
		t.Errorf("GET /keys/transcripts after a refused AUTH: %+v, want one of the project shop that ends with\n%s", all, opening)
	}
	reply(t, c, 235, line)
	drop(t, c, "one", "ada@company.test")
	_ = codeOf(t, c, "QUIT")
	m := get[[]summary](s, "/keys/messages", devKey)[0]
	s.awaitTranscript("/messages/"+m.ID+"/transcript", devKey)
	if d := get[dialog](s, "/messages/"+m.ID+"/transcript", devKey); d.Refused || !strings.Contains(d.text(), opening+"C: AUTH PLAIN ********\nS: 235 2.7.0 Authentication successful\nC: MAIL FROM") {
		t.Errorf("the transcript of the message is\n%s\nrefused: %v, want both AUTH and that it is not refused", d.text(), d.Refused)
	}
	if all := get[[]dialog](s, "/keys/transcripts", devKey); len(all) != 1 {
		t.Errorf("GET /keys/transcripts after a mail: %+v, want that of AUTH alone", all)
	}
}
