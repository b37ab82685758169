package app_test

import (
	"net/http"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// A mailbox, a mail over SMTP, its code over HTTP.
func TestLongPollReturnsCodeOfMail(t *testing.T) {
	s := apptest.Start(t, apptest.Options{})
	box := s.NewMailbox()
	responses := make(chan apptest.Response)
	go func() {
		a, _ := s.TryCall(t.Context(), http.MethodGet, "/mailboxes/me/otp/latest?wait=30", box.Token, nil)
		responses <- a
	}()
	s.Send(apptest.Mail{To: []string{box.Address}, Subject: "Sign in", Text: "Your verification code is 482913."})

	a := <-responses
	var code struct{ Code string }
	a.Into(t, &code)
	if a.Status != http.StatusOK || code.Code != "482913" {
		t.Errorf(`<-responses = %d %s, want Status %v and Code "482913"`, a.Status, a.Body, http.StatusOK)
	}
}
