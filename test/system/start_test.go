package system_test

import "testing"

// The lexicon of the code extractor takes the longest to load, and readiness does not wait for it. A mail does, also one
// whose sender connects before the service is ready.
func TestMailOfTheFirstMomentGetsItsCode(t *testing.T) {
	s := start(t, options{})
	box := s.newMailbox()
	s.stop()
	s.proc = launch(t, nil, s.arguments()...)
	var sender *client
	await(t, "a connection over SMTP", func() (connected bool) {
		var err error
		sender, err = dial(t.Context(), s.smtp)
		return err == nil
	})
	defer sender.conn.Close()
	reply, err := sender.send("sender@example.org", []string{box.Address}, sampleMail("Sign in", "Your verification code is 482913."))
	if err != nil {
		t.Fatal(err)
	}
	wantReply(t, "the first mail", reply, "250")
	const path = "/mailboxes/me/otp/latest"
	status, body := s.call("GET", path, box.Token, nil)
	if got := decode[struct{ Code string }](t, body).Code; status != 200 || got != "482913" {
		t.Errorf("GET %s after the first mail: %d, code %q, want 200 and 482913", path, status, got)
	}
}
