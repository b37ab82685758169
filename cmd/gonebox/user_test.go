package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// accounts is a running service with one account, which the commands change.
type accounts struct {
	*apptest.Service
	t     *testing.T
	token string
}

const ada = "ada@example.org"

func startAccounts(t *testing.T) *accounts {
	t.Helper()
	s := &accounts{t: t, Service: apptest.Start(t, apptest.Options{Set: map[string]string{
		"account.password.memory": "64KiB", "account.password.passes": "1", "limits.signin": "10000/1m",
	}})}
	s.token = s.register(ada)
	return s
}

func (s *accounts) register(email string) (token string) {
	s.t.Helper()
	a := s.Call(http.MethodPost, "/auth/register", "", map[string]string{"email": email, "password": "correct horse"})
	if a.Status != http.StatusCreated {
		s.t.Fatalf("register %s: %d %s", email, a.Status, a.Body)
	}
	var answer struct{ Token string }
	a.Into(s.t, &answer)
	return answer.Token
}

// user runs gonebox user … on the database of the service and returns its output.
func (s *accounts) user(line string) string {
	s.t.Helper()
	got := gonebox(s.t, "user "+line+" --set account.password.memory=64KiB --data-dir "+s.Dir)
	if got.code != exitOK || got.err != "" {
		s.t.Fatalf("user %s: code %d, %s", line, got.code, got.err)
	}
	return got.out
}

// row runs a command with --json and returns the account that it prints.
func (s *accounts) row(line string) (row map[string]any) {
	s.t.Helper()
	out := s.user(line + " --json")
	if err := json.Unmarshal([]byte(out), &row); err != nil {
		s.t.Fatalf("user %s: %v in %s", line, err, out)
	}
	return row
}

// me returns the response of GET /me.
func (s *accounts) me(token string) (status int, me map[string]any) {
	s.t.Helper()
	a := s.Call(http.MethodGet, "/me", token, nil)
	if a.Status == http.StatusOK {
		a.Into(s.t, &me)
	}
	return a.Status, me
}

// signIn signs in and returns the status and the token.
func (s *accounts) signIn(password string) (status int, token string) {
	s.t.Helper()
	a := s.Call(http.MethodPost, "/auth/token", "", map[string]string{"email": ada, "password": password})
	var answer struct{ Token string }
	if a.Status == http.StatusOK {
		a.Into(s.t, &answer)
	}
	return a.Status, answer.Token
}

func TestPlanAndRoleApplyAtOnce(t *testing.T) {
	s := startAccounts(t)
	s.user("set-plan " + ada + " plus")
	s.user("set-role " + strings.ToUpper(ada) + " staff")
	if _, me := s.me(s.token); me["plan"] != "plus" || me["role"] != "staff" {
		t.Errorf("%v", me)
	}
	row := s.row("show " + ada)
	if row["email"] != ada || row["plan"] != "plus" || row["role"] != "staff" || row["disabled"] != false || row["twoFactor"] != "off" || row["password"] != nil {
		t.Errorf("%v", row)
	}
	if again := s.row("show " + row["id"].(string)); again["email"] != ada {
		t.Errorf("by identifier: %v", again)
	}
	s.user("set-role " + ada + " user")
	if _, me := s.me(s.token); me["role"] != "user" {
		t.Errorf("%v", me)
	}
}

func TestDisabledUserIsSignedOutAtOnce(t *testing.T) {
	s := startAccounts(t)
	if out := s.user("disable " + ada); !strings.Contains(out, "disabled") {
		t.Errorf("%s", out)
	}
	status, _ := s.me(s.token)
	again, _ := s.signIn("correct horse")
	if status != 401 || again != 401 {
		t.Errorf("a call with the token returns %d, signing in %d", status, again)
	}
	s.user("enable " + ada)
	if status, _ := s.me(s.token); status != 401 {
		t.Errorf("enabling brought the token back: %d", status)
	}
	if status, token := s.signIn("correct horse"); status != 200 || token == "" {
		t.Errorf("after enabling: %d", status)
	}
}

func TestResetPasswordSignsOutAndPrintsNewPassword(t *testing.T) {
	s := startAccounts(t)
	password, _ := s.row("reset-password " + ada)["password"].(string)
	if len(password) < 20 {
		t.Fatalf("password %q", password)
	}
	if status, _ := s.me(s.token); status != 401 {
		t.Errorf("a call with the old token returns %d", status)
	}
	if status, _ := s.signIn("correct horse"); status != 401 {
		t.Errorf("signing in with the old password returns %d", status)
	}
	status, token := s.signIn(password)
	if status != 200 {
		t.Fatalf("signing in with the new password returns %d", status)
	}
	out := s.user("reset-password " + ada)
	if again := out[strings.LastIndex(out, " ")+1:]; strings.Count(out, "\n") != 1 || strings.TrimSpace(again) == password || len(again) < 20 {
		t.Errorf("%s", out)
	}
	if status, _ := s.me(token); status != 401 {
		t.Errorf("a call with the token of the previous password returns %d", status)
	}
}

func TestResetPasswordReadsStandardInput(t *testing.T) {
	s := startAccounts(t)
	line := "user reset-password " + ada + " --password-stdin --data-dir " + s.Dir
	for text, want := range map[string]string{"": "EOF", "\n": "empty", "short\n": "8 to 200"} {
		stdin(t, text)
		gonebox(t, line).oneErrorLine(t, line, exitFailure, want)
	}
	if status, _ := s.me(s.token); status != 200 {
		t.Errorf("a refused password signed out: %d", status)
	}
	stdin(t, "battery staple\r\nignored")
	if out := s.user("reset-password " + ada + " --password-stdin"); strings.Contains(out, "battery") {
		t.Errorf("the password is printed: %s", out)
	}
	if status, _ := s.signIn("battery staple"); status != 200 {
		t.Errorf("signing in with the new password returns %d", status)
	}
}

// stdin replaces standard input until the test ends.
func stdin(t *testing.T, text string) {
	t.Helper()
	path := t.TempDir() + "/stdin"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdin
	os.Stdin = f
	t.Cleanup(func() {
		os.Stdin = old
		f.Close()
	})
}

func TestResetPasswordEndsTwoFactorOnRequest(t *testing.T) {
	s := startAccounts(t)
	s.Call(http.MethodPost, "/me/2fa/setup", s.token, nil)
	// The command uses the system clock, by which the enrolment may have expired, so the service is asked.
	s.user("reset-password " + ada)
	_, token := s.signInWith(s.row("reset-password " + ada))
	if _, me := s.me(token); me["twoFactor"] != "pending" {
		t.Errorf("%v", me)
	}
	_, token = s.signInWith(s.row("reset-password " + ada + " --end-two-factor"))
	if _, me := s.me(token); me["twoFactor"] != "off" {
		t.Errorf("%v", me)
	}
}

func (s *accounts) signInWith(row map[string]any) (int, string) {
	password, _ := row["password"].(string)
	return s.signIn(password)
}

func TestUserListHasPages(t *testing.T) {
	s := startAccounts(t)
	s.register("bob@example.org")
	s.register("carol@example.com")
	var all []map[string]any
	if err := json.Unmarshal([]byte(s.user("list --json")), &all); err != nil || len(all) != 3 {
		t.Fatalf("%v, %v", all, err)
	}
	page := s.user("list --limit 2")
	if strings.Count(page, "\n") != 4 || !strings.HasPrefix(page, "ID ") || !strings.Contains(page, "More: --after "+all[1]["id"].(string)) {
		t.Errorf("%s", page)
	}
	rest := s.user("list --limit 2 --after " + all[1]["id"].(string))
	if !strings.Contains(rest, all[2]["email"].(string)) || strings.Count(rest, "\n") != 2 {
		t.Errorf("%s", rest)
	}
	found := s.user("list --search @Example.ORG")
	if strings.Count(found, "@example.org") != 2 || strings.Contains(found, "carol") {
		t.Errorf("%s", found)
	}
	if none := s.user("list --search unknown --json"); none != "[]\n" {
		t.Errorf("%s", none)
	}
}

func TestUserCommandsRefuseInvalidInput(t *testing.T) {
	s := startAccounts(t)
	for line, want := range map[string]string{
		"show unknown@example.org":           "no account unknown@example.org",
		"set-plan " + ada + " gold":          `plan "gold" is not`,
		"set-plan " + ada + " guest":         `plan "guest" is not`,
		"set-plan unknown@example.org plus":  "no account",
		"disable unknown@example.org":        "no account",
		"reset-password unknown@example.org": "no account",
		"list --after x":                     `"x" is not the identifier of an account`,
	} {
		line = "user " + line + " --data-dir " + s.Dir
		gonebox(t, line).oneErrorLine(t, line, exitFailure, want)
	}
	for line, want := range map[string]string{
		"user":                              "see gonebox user --help",
		"user show":                         "see gonebox user show --help",
		"user set-plan " + ada:              "see gonebox user set-plan --help",
		"user set-role " + ada + " root":    "see gonebox user set-role --help",
		"user list --limit 0":               "--limit 0: must be from 1 to 1000; see gonebox user list --help",
		"user list --limit 1001":            "must be from 1 to 1000",
		"user list --limit x":               "see gonebox user list --help",
		"user reset-password a b --nothing": "see gonebox user reset-password --help",
	} {
		gonebox(t, line).oneErrorLine(t, line, exitUsage, want)
	}
	if _, me := s.me(s.token); me["plan"] != "free" {
		t.Errorf("%v", me)
	}
}

func TestUserHelpHasExamples(t *testing.T) {
	for _, command := range []string{"", "list ", "show ", "set-plan ", "set-role ", "reset-password ", "disable ", "enable "} {
		got := gonebox(t, "user "+command+"--help")
		if got.code != exitOK || got.err != "" || !strings.Contains(got.out, "Example:") || !strings.Contains(got.out, "  gonebox user "+command) {
			t.Errorf("user %s--help: code %d\n%s%s", command, got.code, got.out, got.err)
		}
	}
}
