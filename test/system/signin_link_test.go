package system_test

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// signInToken returns the user token of the link in the greeting, which must be to the sign-in page below a URL; "": there is no link.
func (s *service) signInToken(base string) string {
	s.t.Helper()
	said := s.greeting()
	for line := range strings.Lines(said) {
		label, link, found := strings.Cut(strings.TrimSpace(line), "  ")
		if !found || label != "sign in" {
			continue
		}
		token, found := strings.CutPrefix(strings.TrimSpace(link), base+"/sign-in#token=")
		if !found || !strings.HasPrefix(token, "xu_") {
			s.t.Fatalf("the greeting is\n%s\nwant a link that begins with %s/sign-in#token=xu_", said, base)
		}
		return token
	}
	return ""
}

// wantStatus checks the status of GET /me with a token.
func (s *service) wantStatus(when, token string, want int) {
	s.t.Helper()
	if got, body := s.call(http.MethodGet, "/me", token, nil); got != want {
		s.t.Errorf("GET /me with the token of the link %s: got %d %s, want %d", when, got, body, want)
	}
}

func TestStartOfTheDevProfilePrintsASignInLink(t *testing.T) {
	t.Parallel()
	set := map[string]string{"profile": "dev", "compat.mailpit.addr": "", "smtp.tls.addr": "", "account.password.memory": "8KiB"}
	s := start(t, options{set: set})
	base := "http://" + s.http
	first := s.signInToken(base)
	if body := s.get("/me", first); decode[struct{ Email string }](t, body).Email != "dev@gonebox.localhost" {
		t.Errorf("GET /me with the token of the link: got %s, want dev@gonebox.localhost", body)
	}
	if log := s.proc.err.String(); strings.Contains(log, first) {
		t.Errorf("the log is\n%s\nwant it without the token of the link", log)
	}

	// A new password ends the token, and the next start makes another one. A restart does not collect sessions.
	if out, err := exec.Command(program(t), "user", "reset-password", "dev@gonebox.localhost", "--data-dir", s.dir).CombinedOutput(); err != nil {
		t.Fatalf("gonebox user reset-password: %v\n%s", err, out)
	}
	s.wantStatus("after a new password", first, http.StatusUnauthorized)
	var last string
	for range 2 {
		s.stop()
		s.restart()
		last = s.signInToken(base)
	}
	sessions := decode[[]struct{ UserAgent string }](t, s.get("/me/sessions", last))
	if len(sessions) != 1 || sessions[0].UserAgent != "gonebox serve" {
		t.Errorf("GET /me/sessions after three starts: got %+v, want one session of gonebox serve", sessions)
	}

	// A configured key is not printed; the link is.
	s.stop()
	s.o.set["dev.key"] = "x_ar71pbq8b0_YYr1twATtvBfi5SsMDZrMRZ3N5tlgx7lxpU1gKChkju4YHnhf"
	s.restart()
	last = s.signInToken(base)
	s.wantStatus("of a start with dev.key", last, http.StatusOK)

	// The service starts while the account is disabled, without a link, which would not work.
	setDisabled := func(command string) {
		t.Helper()
		s.stop()
		if out, err := exec.Command(program(t), "user", command, "dev@gonebox.localhost", "--data-dir", s.dir).CombinedOutput(); err != nil {
			t.Fatalf("gonebox user %s: %v\n%s", command, err, out)
		}
		s.restart()
	}
	setDisabled("disable")
	if got := s.signInToken(base); got != "" {
		t.Errorf("the greeting while the account is disabled has a link, want none")
	}
	setDisabled("enable")
	last = s.signInToken(base)
	s.wantStatus("of an account that was enabled again", last, http.StatusOK)
	if got, body := s.call(http.MethodGet, "/keys/mailboxes", s.o.set["dev.key"], nil); got != http.StatusOK {
		t.Errorf("GET /keys/mailboxes with dev.key of an account that was enabled again: got %d %s, want 200", got, body)
	}

	// A start without the profile ends what was printed.
	s.stop()
	s.o.set = map[string]string{}
	s.restart()
	if got := s.signInToken(base); got != "" {
		t.Errorf("the greeting without the profile has a link, want none")
	}
	s.wantStatus("without the profile", last, http.StatusUnauthorized)
}

func TestSignInLinkIsBelowThePathOfBaseURL(t *testing.T) {
	t.Parallel()
	s, base := startBelow(t, false, map[string]string{"profile": "dev", "compat.mailpit.addr": "", "smtp.tls.addr": ""})
	s.wantStatus("below a path", s.signInToken(base), http.StatusOK)
}
