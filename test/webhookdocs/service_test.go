package webhookdocs_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// authority issues the receivers' certificates; the service trusts it.
var authority *apptest.Authority

func TestMain(m *testing.M) {
	apptest.Child()
	var err error
	if authority, err = apptest.NewAuthority(); err != nil {
		panic(err)
	}
	code := apptest.RunLong("Node and Python", m.Run)
	if err := authority.Close(); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// Every receiver of the page accepts the service's own deliveries, octet for octet, with the secret from before a
// rotation and with the one from after it.
func TestDocumentedReceiversAcceptDeliveries(t *testing.T) {
	s := apptest.Start(t, apptest.Options{RealClock: true, Set: map[string]string{
		"webhooks.allow_networks": "127.0.0.0/8", "account.password.memory": "64KiB", "account.password.passes": "1",
	}})
	endpoint := authority.NewReceiver(t)
	account := created(t, s, "/auth/register", "", map[string]any{"email": "ada@example.org", "password": "correct horse battery"})
	events := []string{"message.received", "otp.extracted", "mailbox.created"}
	hook := created(t, s, "/me/webhooks", account["token"].(string), map[string]any{"url": endpoint.URL, "events": events})
	arrived(t, endpoint, 1)
	first := hook["secret"].(string)
	rotated := s.Call(http.MethodPost, fmt.Sprintf("/me/webhooks/%s/rotate-secret", hook["id"]), account["token"].(string), nil)
	var second map[string]any
	rotated.Into(t, &second)

	box := created(t, s, "/mailboxes", account["token"].(string), map[string]any{})
	s.Send(apptest.Mail{To: []string{box["address"].(string)}, Subject: "Mã xác nhận <của bạn>", Text: "Your verification code is 246810."})
	all := arrived(t, endpoint, 4)
	if n := len(strings.Fields(all[3].Header.Get("Webhook-Signature"))); n != 2 {
		t.Errorf("%d signatures after a rotation", n)
	}

	for _, r := range receivers() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			start := r.taken(t)
			before, after := start(first), start(second["secret"].(string))
			for i, d := range all {
				if got := forward(t, before.url, d); got != http.StatusNoContent {
					t.Errorf("%s: %d by the secret from before", d.Body, got)
				}
				want := http.StatusNoContent
				if i == 0 {
					want = http.StatusBadRequest // it is older than the new secret
				}
				if got := forward(t, after.url, d); got != want {
					t.Errorf("%s: %d by the new secret, not %d", d.Body, got, want)
				}
			}
			if again := forward(t, before.url, all[1]); again != http.StatusNoContent {
				t.Errorf("again: %d", again)
			}
			seen := before.take(t, 4)
			for _, event := range append(events, "webhook.ping") {
				if strings.Count(seen, event) != 1 {
					t.Errorf("%s is not among %s", event, seen)
				}
			}
		})
	}
}

func created(t *testing.T, s *apptest.Service, path, token string, body map[string]any) (data map[string]any) {
	t.Helper()
	a := s.Call(http.MethodPost, path, token, body)
	if a.Status != http.StatusCreated {
		t.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
	a.Into(t, &data)
	return data
}

// arrived waits until an endpoint has received n deliveries, a minute at most.
func arrived(t *testing.T, r *apptest.Receiver, n int) []apptest.Delivery {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if all := r.Got(); len(all) >= n {
			return all
		}
	}
	t.Fatalf("%d deliveries have not arrived", n)
	return nil
}

// forward passes a delivery on to a receiver, as a reverse proxy in front of it would.
func forward(t *testing.T, url string, d apptest.Delivery) int {
	t.Helper()
	return post(t, url, delivery{
		id: d.Header.Get("Webhook-Id"), sent: d.Header.Get("Webhook-Timestamp"), signature: d.Header.Get("Webhook-Signature"), body: string(d.Body),
	})
}
