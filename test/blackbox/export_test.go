package blackbox_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

func TestExportHasEverythingButMessagesAndSecrets(t *testing.T) {
	t.Parallel()
	set := bankSettings()
	maps.Copy(set, settings{"webhooks.allow_networks": "127.0.0.0/8"})
	w := startDomains(t, set)
	other := w.account("eve@example.org")
	w.create(other.Token, nil)
	u := w.account("ada.lovelace@example.org")
	key := w.key(u, fields{"name": "CI"})
	w.claim(u, "ada.gonebox-tests.net")
	w.filter(u, fields{"extractRegex": "order [0-9]+"})
	hook := w.Call(http.MethodPost, "/me/webhooks", u.Token, fields{"url": "https://127.0.0.1:8443/hook", "events": []string{"message.received"}})
	want(t, hook, 201, "")
	w.grant(u, 100)
	order := w.topup(u, 10_000)
	var boxes []string
	for range 3 {
		box := w.create(u.Token, nil)
		w.mail(box.box(), apptest.Mail{Subject: "a secret subject", Text: "hello"})
		boxes = append(boxes, box.Address)
	}
	answer := w.Call(http.MethodGet, "/me/export", u.Token, nil)
	want(t, answer, 200, "")
	var parts map[string]json.RawMessage
	answer.Into(t, &parts)
	if got, want := slices.Sorted(maps.Keys(parts)), "[account domains filters keys ledger mailboxes orders webhooks]"; fmt.Sprint(got) != want {
		t.Errorf("GET /me/export has %v, want %s", got, want)
	}
	for part, wants := range map[string][]string{
		"account": {"ada.lovelace@example.org"}, "domains": {"ada.gonebox-tests.net"}, "filters": {"order [0-9]+"}, "keys": {key.Prefix, `"CI"`}, "ledger": {`"amount":100`},
		"orders": {order.ID, `"status":"pending"`}, "webhooks": {"https://127.0.0.1:8443/hook"}, "mailboxes": boxes,
	} {
		for _, text := range wants {
			if !strings.Contains(string(parts[part]), text) {
				t.Errorf("%s of GET /me/export = %s, want %s in it", part, parts[part], text)
			}
		}
	}
	var secret struct{ Secret string }
	hook.Into(t, &secret)
	for _, text := range []string{key.Key, secret.Secret, "a secret subject", "xm_", "eve@example.org", u.Token} {
		if strings.Contains(string(answer.Body), text) {
			t.Errorf("GET /me/export has %q, want it left out", text)
		}
	}
}

func TestTopupsAreListed(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u, other := s.account("ada@example.org"), s.account("eve@example.org")
	s.topup(other, 10_000)
	var ids []string
	for i := range 3 {
		s.Clock.Advance(1e9)
		o := s.topup(u, int64(i+1)*10_000)
		ids = append([]string{o.ID}, ids...)
		if i == 1 {
			s.transferred(1, o.Amount, o.Memo)
		}
	}
	eventually(t, "a paid order", func() bool {
		s.Clock.Advance(10e9)
		return get[[]topup](s, "/me/wallet/topups", u.Token)[1].Status == "paid"
	})
	all := get[[]topup](s, "/me/wallet/topups", u.Token)
	var got []string
	for _, o := range all {
		got = append(got, o.ID)
	}
	if !slices.Equal(got, ids) || all[0].Status != "pending" || all[2].Status != "pending" {
		t.Errorf("GET /me/wallet/topups = %+v, want the orders %v, newest first, the second paid", all, ids)
	}
	var paged []string
	for o := range pages[topup](s, "/me/wallet/topups?limit=2", u.Token) {
		paged = append(paged, o.ID)
	}
	if !slices.Equal(paged, ids) {
		t.Errorf("GET /me/wallet/topups, two a page = %v, want %v", paged, ids)
	}
}

// The same plan bought many times at once is debited once.
func TestPlanThatIsBoughtTwiceAtOnceIsDebitedOnce(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	s.grant(u, 1000)
	var all sync.WaitGroup
	answers := make([]apptest.Response, 8)
	for i := range answers {
		all.Go(func() {
			answers[i], _ = s.TryCall(t.Context(), http.MethodPost, "/me/subscription", u.Token, fields{"planCode": "plus", "interval": "monthly"})
		})
	}
	all.Wait()
	bought := map[string]bool{}
	for _, a := range answers {
		want(t, a, 201, "")
		var got standing
		a.Into(t, &got)
		bought[got.Subscription.ID] = true
	}
	if n := s.rows("SELECT count(*) FROM wallet_entry WHERE account_id = $1 AND kind = 'subscription'", u.Account.ID); n != 1 || len(bought) != 1 {
		t.Errorf("8 purchases of a plan at once: %d debits and %d subscriptions, want 1 of each", n, len(bought))
	}
}
