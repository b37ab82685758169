package smtpd_test

import (
	"net/smtp"
	"testing"

	"github.com/gonebox/gonebox/internal/smtpd"
)

// The client of the standard library can deliver mail.
func TestStandardLibraryClientCanSend(t *testing.T) {
	in := &fakeInbound{}
	_, addr := serve(t, smtpd.Config{}, in)
	err := smtp.SendMail(addr, nil, "a@sender.test", []string{"b@example.test", "c@example.test"}, []byte("Subject: hi\r\n\r\n.dot\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := in.deliveries()
	if len(got) != 1 || got[0].data != "Subject: hi\r\n\r\n.dot\r\n" || len(got[0].env.To) != 2 {
		t.Errorf("delivered %+v, want one mail hi with the line .dot to two recipients", got)
	}
}
