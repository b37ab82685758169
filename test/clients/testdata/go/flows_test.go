package flows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	gonebox "github.com/gonebox/gonebox/clients/go"
	"github.com/gonebox/gonebox/clients/go/goneboxtest"
)

var ctx = context.Background()

// send is the application under test, which sends mail over SMTP.
func send(t *testing.T, s *goneboxtest.Service, m *gonebox.Mailbox, flags ...string) {
	t.Helper()
	flags = append([]string{"send", "--server", s.SMTP, "--to", m.Address}, flags...)
	if out, err := exec.Command(os.Getenv("GONEBOX_BINARY"), flags...).CombinedOutput(); err != nil {
		t.Error(err, string(out))
	}
}

// receiver receives webhooks; the channel has those of the wanted type.
func receiver(t *testing.T, wanted string) (string, chan event) {
	events := make(chan event, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e event
		if json.NewDecoder(r.Body).Decode(&e) == nil && e.Type == wanted {
			events <- e
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, events
}

type event struct {
	Type string
	Data struct{ Code string }
}

func check[T comparable](t *testing.T, got T, err error, want T) {
	t.Helper()
	if err != nil || got != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestFlows(t *testing.T) {
	s := goneboxtest.Start(t)
	for name, flow := range map[string]func(*testing.T, *goneboxtest.Service){
		"sign up, wait for the code": signUp, "reset by link": resetByLink, "invoice with attachment and subject": invoice,
		"no mail comes": noMail, "40 in parallel": parallel, "webhook to localhost": webhook, "all mail of an account": account, "messages as they come": push,
		"checks of a message": checks, "an address of the sink before its mail": sinkAddress,
		"a project of the test's own": ownProject,
	} {
		t.Run(name, func(t *testing.T) { flow(t, s) })
	}
}

func sinkAddress(t *testing.T, s *goneboxtest.Service) {
	g := gonebox.New(s.URL)
	mailbox, err := g.OpenMailbox(ctx, "new.user@company.test")
	if err != nil {
		t.Fatalf("OpenMailbox at an address of the sink: %v", err)
	}
	send(t, s, mailbox, "--code", "246810")
	code, err := mailbox.WaitForCode(ctx)
	check(t, code, err, "246810")
	again, err := g.OpenMailbox(ctx, mailbox.Address)
	if err != nil {
		t.Fatalf("OpenMailbox at the address of a mailbox of the sink: %v", err)
	}
	check(t, again.ID, err, mailbox.ID)
	message, err := mailbox.WaitForMessage(ctx)
	if err != nil {
		t.Fatalf("WaitForMessage: %v", err)
	}
	dialog, err := mailbox.Transcript(ctx, message.ID)
	if err != nil || dialog.Refused || len(dialog.Lines) == 0 || dialog.Lines[len(dialog.Lines)-1].Text != "250 2.0.0 Message taken" {
		t.Errorf("Transcript: %+v, %v, want a dialog that ends in 250 2.0.0 Message taken", dialog, err)
	}
}

func signUp(t *testing.T, s *goneboxtest.Service) {
	mailbox := s.Mailbox(t)
	send(t, s, mailbox, "--code", "246810")
	code, err := mailbox.WaitForCode(ctx)
	check(t, code, err, "246810")
}

func ownProject(t *testing.T, s *goneboxtest.Service) {
	project := s.Project(t, "flows")
	host, _, err := net.SplitHostPort(s.SMTP)
	if err != nil {
		t.Fatal(err)
	}
	auth := smtp.PlainAuth("", project.SMTP.Username, project.SMTP.Password, host)
	mail := []byte("Subject: Welcome\r\n\r\nYour code is 135790.\r\n")
	if err := smtp.SendMail(s.SMTP, auth, "app@shop.example", []string{"anyone@shop.example"}, mail); err != nil {
		t.Fatal(err)
	}
	code, err := project.WaitForCode(ctx, gonebox.WaitOptions{To: "anyone@"})
	check(t, code, err, "135790")
	_, err = project.WaitForCode(ctx, gonebox.WaitOptions{To: "nobody@", Timeout: 300 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), project.Name) {
		t.Errorf("waiting for a code to nobody@ of the project %s: %v, want an error that names it", project.Name, err)
	}
}

func resetByLink(t *testing.T, s *goneboxtest.Service) {
	mailbox := s.Mailbox(t)
	send(t, s, mailbox, "--subject", "Your password", "--html", `<a href="https://app.example/">App</a> <a href="https://app.example/reset?token=Zx81">Reset</a>`)
	link, err := mailbox.WaitForLink(ctx, gonebox.WaitOptions{Subject: "password"})
	check(t, link, err, "https://app.example/reset?token=Zx81")
}

func invoice(t *testing.T, s *goneboxtest.Service) {
	mailbox := s.Mailbox(t)
	send(t, s, mailbox, "--subject", "Invoice 4711", "--from", "billing@app.example", "--attach", "invoice.txt")
	send(t, s, mailbox, "--subject", "Newsletter")
	mail, err := mailbox.WaitForMessage(ctx, gonebox.WaitOptions{From: "billing@", Subject: "invoice", Has: []string{"attachment"}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, mail.Subject+mail.Attachments[0].Filename, nil, "Invoice 4711invoice.txt")
	octets, err := mailbox.Attachment(ctx, mail.ID, mail.Attachments[0].ID)
	check(t, string(octets), err, "EUR 42\n")
	check(t, mail.Verified || mail.Authentication.Verified, nil, false)
	check(t, mail.Authentication.DKIM+mail.Authentication.Domain, nil, "none")
}

func noMail(t *testing.T, s *goneboxtest.Service) {
	mailbox := s.Mailbox(t)
	err := mailbox.ExpectNoMessage(ctx, gonebox.WaitOptions{Timeout: time.Second})
	check(t, true, err, true)
	send(t, s, mailbox)
	var problem *gonebox.Error
	err = mailbox.ExpectNoMessage(ctx, gonebox.WaitOptions{Timeout: 20 * time.Second})
	check(t, errors.As(err, &problem) && problem.Code == "wait.unexpected_message", nil, true)
	_, err = mailbox.WaitForCode(ctx, gonebox.WaitOptions{From: "other", Timeout: 300 * time.Millisecond})
	check(t, errors.As(err, &problem) && strings.Contains(problem.Error(), mailbox.Address), nil, true)
}

func parallel(t *testing.T, s *goneboxtest.Service) {
	for i := range 40 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			mailbox := s.Mailbox(t)
			_, err := mailbox.Inject(ctx, gonebox.Draft{Text: fmt.Sprintf("Your code is %d.", 246800+i)})
			check(t, true, err, true)
			code, err := mailbox.WaitForCode(ctx)
			check(t, code, err, fmt.Sprint(246800+i))
		})
	}
}

func push(t *testing.T, s *goneboxtest.Service) {
	mailbox := s.Mailbox(t)
	_, before := mailbox.Inject(ctx, gonebox.Draft{Subject: "Before", Text: "Hello"})
	arrived := make(chan string, 2)
	stop, err := mailbox.On(ctx, "message", func(e gonebox.Event) { arrived <- e.Message.Subject })
	check(t, before, err, nil)
	_, first := mailbox.Inject(ctx, gonebox.Draft{Subject: "One", Text: "Hello", Attachments: []gonebox.File{{Filename: "a.bin", Content: []byte{0, 255}}}})
	_, second := mailbox.InjectRaw(ctx, []byte("Subject: Two\r\n\r\nHello\r\n"))
	check(t, <-arrived+" "+<-arrived, errors.Join(first, second), "One Two")
	stop()
}

func checks(t *testing.T, s *goneboxtest.Service) {
	mailbox := s.Mailbox(t)
	message, err := mailbox.Inject(ctx, gonebox.Draft{Text: "Hello", HTML: "<p>\n<b style='display:grid'>Hello</b></p>"})
	if err != nil {
		t.Fatalf("Inject: %v", err)
	}
	got, err := mailbox.Checks(ctx, message.ID)
	if err != nil || got.Score >= 100 || len(got.ClientsAsOf) != len("2026-01-31") {
		t.Fatalf("Checks(%s) = %+v, %v; want a score below 100 and a day", message.ID, got, err)
	}
	found := ""
	for _, w := range got.Warnings {
		if w.Code == "unsubscribe_missing" && w.Line == 0 && w.Feature == "" {
			found += "unsubscribe "
		}
		if w.Feature == "css-display-grid" && w.Title == "display:grid" && w.Line == 2 && slices.Contains(w.Clients, "Outlook Windows") {
			found += "grid"
		}
	}
	if found != "unsubscribe grid" {
		t.Errorf("Checks(%s) = %+v, want display:grid in line 2, and no List-Unsubscribe", message.ID, got)
	}
}

func webhook(t *testing.T, s *goneboxtest.Service) {
	var account struct{ Token string }
	err := s.Request(ctx, "POST", "/auth/register", map[string]string{"email": "go@app.example", "password": "correct horse"}, &account)
	check(t, true, err, true)
	app := gonebox.New(s.URL, account.Token)
	url, events := receiver(t, "otp.extracted")
	err = app.Request(ctx, "POST", "/me/webhooks", map[string]any{"url": url, "events": []string{"otp.extracted"}}, nil)
	check(t, true, err, true)
	mailbox, err := app.CreateMailbox(ctx)
	send(t, s, mailbox, "--code", "135791")
	check(t, (<-events).Data.Code, err, "135791")
}

func account(t *testing.T, s *goneboxtest.Service) {
	var user struct{ Token string }
	err := s.Request(ctx, "POST", "/auth/register", map[string]string{"email": "go-all@app.example", "password": "correct horse"}, &user)
	check(t, true, err, true)
	app := gonebox.New(s.URL, user.Token)
	var key struct{ Key string }
	err = app.Request(ctx, "POST", "/me/api-keys", map[string]any{"name": "n", "scopes": []string{"messages:read"}}, &key)
	check(t, true, err, true)
	one, err := app.CreateMailbox(ctx)
	check(t, true, err, true)
	two, err := app.CreateMailbox(ctx)
	check(t, true, err, true)
	for _, g := range []*gonebox.Gonebox{app, gonebox.New(s.URL, key.Key)} {
		send(t, s, one, "--code", "135791", "--subject", "Code for one")
		send(t, s, two, "--subject", "Reset", "--html", `<a href="https://app.example/reset?token=Zx81">Reset</a>`)
		code, err := g.WaitForCode(ctx, gonebox.WaitOptions{To: one.Address})
		check(t, code, err, "135791")
		link, err := g.WaitForLink(ctx, gonebox.WaitOptions{To: two.Address, Q: "subject:reset"})
		check(t, link, err, "https://app.example/reset?token=Zx81")
		mail, err := g.WaitForMessage(ctx, gonebox.WaitOptions{Q: "code", Mailbox: one.ID})
		check(t, mail.Subject, err, "Code for one")
		found, err := g.Messages(ctx, gonebox.Filter{Q: "reset", To: two.Address, Limit: 1})
		check(t, fmt.Sprint(len(found), found[0].Address), err, "1"+two.Address)
		_, err = g.WaitForCode(ctx, gonebox.WaitOptions{To: two.Address, Timeout: 300 * time.Millisecond})
		check(t, err != nil && strings.Contains(err.Error(), two.Address), nil, true)
	}
	code, err := one.WaitForCode(ctx, gonebox.WaitOptions{To: one.Address})
	check(t, code, err, "135791")
	none, err := one.Messages(ctx, gonebox.Filter{To: "absent@"})
	check(t, len(none), err, 0)
}

func TestNoServiceAnswers(t *testing.T) {
	if _, err := gonebox.New("http://127.0.0.1:9").CreateMailbox(ctx); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:9") {
		t.Error(err)
	}
}
