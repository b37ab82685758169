package flows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
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
		"no mail comes": noMail, "40 in parallel": parallel, "webhook to localhost": webhook, "messages as they come": push,
	} {
		t.Run(name, func(t *testing.T) { flow(t, s) })
	}
}

func signUp(t *testing.T, s *goneboxtest.Service) {
	mailbox := s.Mailbox(t)
	send(t, s, mailbox, "--code", "246810")
	code, err := mailbox.WaitForCode(ctx)
	check(t, code, err, "246810")
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

func TestNoServiceAnswers(t *testing.T) {
	if _, err := gonebox.New("http://127.0.0.1:9").CreateMailbox(ctx); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:9") {
		t.Error(err)
	}
}
