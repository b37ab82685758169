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
	os.Exit(apptest.WithAuthority(&authority, func() int { return apptest.RunLong("Node and Python", m.Run) }))
}

// Every receiver of the page accepts the service's own deliveries, octet for octet, with the secret from before a
// rotation and with the one from after it.
func TestDocumentedReceiversAcceptDeliveries(t *testing.T) {
	for _, r := range receivers() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			start := r.taken(t)
			first, second, all := deliveries(t) // not before the receiver is built, which may take minutes: they are valid for five
			before, after := start(first), start(second)
			for i, d := range all {
				if got := forward(t, before.url, d); got != http.StatusNoContent {
					t.Errorf("%s: %d by the secret from before, want %v", d.Body, got, http.StatusNoContent)
				}
				want := http.StatusNoContent
				if i == 0 {
					want = http.StatusBadRequest // it is older than the new secret
				}
				if got := forward(t, after.url, d); got != want {
					t.Errorf("the receiver with the new secret answers %d to %s, want %d", got, d.Body, want)
				}
			}
			if again := forward(t, before.url, all[1]); again != http.StatusNoContent {
				t.Errorf("again: %d, want %v", again, http.StatusNoContent)
			}
			seen := before.take(t, 4)
			for _, event := range append(subscribed(), "webhook.ping") {
				if strings.Count(seen, event) != 1 {
					t.Errorf("the receiver took %s, want %s among them once", seen, event)
				}
			}
		})
	}
}

// subscribed are the events of deliveries, beside the ping.
func subscribed() []string { return []string{"message.received", "otp.extracted", "mailbox.created"} }

// deliveries returns what a service delivers to an endpoint, the ping first, and the secrets from before and after a rotation between
// the ping and the rest.
func deliveries(t *testing.T) (before, after string, all []apptest.Delivery) {
	t.Helper()
	s := apptest.Start(t, apptest.Options{RealClock: true, Set: map[string]string{
		"webhooks.allow_networks": "127.0.0.0/8", "account.password.memory": "64KiB", "account.password.passes": "1",
	}})
	endpoint := authority.NewReceiver(t)
	account := created(t, s, "/auth/register", "", map[string]any{"email": "ada@example.org", "password": "correct horse battery"})
	hook := created(t, s, "/me/webhooks", account["token"].(string), map[string]any{"url": endpoint.URL, "events": subscribed()})
	arrived(t, endpoint, 1)
	rotated := s.Call(http.MethodPost, fmt.Sprintf("/me/webhooks/%s/rotate-secret", hook["id"]), account["token"].(string), nil)
	var second map[string]any
	rotated.Into(t, &second)

	box := created(t, s, "/mailboxes", account["token"].(string), map[string]any{})
	s.Send(apptest.Mail{To: []string{box["address"].(string)}, Subject: "Mã xác nhận <của bạn>", Text: "Your verification code is 246810."})
	all = arrived(t, endpoint, 4)
	if n := len(strings.Fields(all[3].Header.Get("Webhook-Signature"))); n != 2 {
		t.Errorf("%d signatures after a rotation, want 2", n)
	}
	return hook["secret"].(string), second["secret"].(string), all
}

func created(t *testing.T, s *apptest.Service, path, token string, body map[string]any) (data map[string]any) {
	t.Helper()
	a := s.Call(http.MethodPost, path, token, body)
	if a.Status != http.StatusCreated {
		t.Fatalf("POST %s: %d %s, want %d", path, a.Status, a.Body, http.StatusCreated)
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
	t.Fatalf("%d deliveries have not arrived within a minute, want them all", n)
	return nil
}

// forward passes a delivery on to a receiver, as a reverse proxy in front of it would.
func forward(t *testing.T, url string, d apptest.Delivery) int {
	t.Helper()
	return post(t, url, delivery{
		id: d.Header.Get("Webhook-Id"), sent: d.Header.Get("Webhook-Timestamp"), signature: d.Header.Get("Webhook-Signature"), body: string(d.Body),
	})
}
