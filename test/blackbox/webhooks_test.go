package blackbox_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	reference "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// hook is a webhook endpoint as a client reads it.
type hook struct {
	ID, URL, Status, Secret string
	Events                  []string
	DomainID, PausedReason  *string
	FailureCount            int
	LastDeliveryAt          *time.Time
	CreatedAt               time.Time
}

// attempt is a delivery attempt as a client reads it.
type attempt struct {
	ID, EventID, Event, Outcome, ResponseBody string
	Attempt                                   int
	HTTPStatus                                *int
	Error                                     *string
	DurationMS                                int64
	AttemptedAt                               time.Time
	NextAttemptAt                             *time.Time
}

// webhookEvent is an event as a receiver reads it.
type webhookEvent struct {
	Type      string
	Timestamp time.Time
	Data      json.RawMessage
}

var allEvents = []string{"message.received", "otp.extracted", "mailbox.created", "mailbox.expired", "domain.verified", "domain.suspended"}

// hookSettings let a service reach the receivers of a test, and let every account have some.
func hookSettings(set settings) settings {
	own := settings{"webhooks.allow_networks": "127.0.0.0/8", "webhooks.retry_jitter": "0", "plans.free.webhooks.max": "20"}
	maps.Copy(own, set)
	return own
}

// hook registers an endpoint and waits for its ping.
func (s *service) hook(u user, r *apptest.Receiver, events ...string) (h hook) {
	s.t.Helper()
	h = s.register(u, fields{"url": r.URL, "events": events})
	eventually(s.t, "the ping", func() bool { return len(s.attempts(u, h)) > 0 })
	return h
}

func (s *service) register(u user, params fields) (h hook) {
	s.t.Helper()
	a := s.Call(http.MethodPost, "/me/webhooks", u.Token, params)
	if a.Status != http.StatusCreated {
		s.t.Fatalf("register a webhook: %d %s, want Status %v", a.Status, a.Body, http.StatusCreated)
	}
	a.Into(s.t, &h)
	return h
}

// attempts are an endpoint's delivery attempts, newest first.
func (s *service) attempts(u user, h hook) []attempt {
	s.t.Helper()
	return get[[]attempt](s, "/me/webhooks/"+h.ID+"/deliveries", u.Token)
}

// attempted waits until there are n attempts.
func (s *service) attempted(u user, h hook, n int) (all []attempt) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("attempt %d", n), func() bool { all = s.attempts(u, h); return len(all) >= n })
	if len(all) > n {
		s.t.Fatalf("%d attempts, want %d: %+v", len(all), n, all)
	}
	return all
}

func (s *service) patch(u user, h hook, change fields) (changed hook) {
	s.t.Helper()
	a := s.Call(http.MethodPatch, "/me/webhooks/"+h.ID, u.Token, change)
	want(s.t, a, 200, "")
	a.Into(s.t, &changed)
	return changed
}

// shown is an endpoint as it is now.
func (s *service) shown(u user, h hook) hook {
	s.t.Helper()
	for _, now := range get[[]hook](s, "/me/webhooks", u.Token) {
		if now.ID == h.ID {
			return now
		}
	}
	s.t.Fatalf("GET /me/webhooks does not list %s, want it there", h.ID)
	return hook{}
}

// arrived waits until a receiver has n deliveries.
func arrived(t testing.TB, r *apptest.Receiver, n int) (all []apptest.Delivery) {
	t.Helper()
	eventually(t, fmt.Sprintf("delivery %d", n), func() bool { all = r.Got(); return len(all) >= n })
	if len(all) > n {
		t.Fatalf("%d deliveries, want %d", len(all), n)
	}
	return all
}

// read verifies a delivery with the reference implementation of Standard Webhooks, and decodes it.
func (s *service) read(secret string, d apptest.Delivery) (e webhookEvent) {
	s.t.Helper()
	check, err := reference.NewWebhook(secret)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := check.VerifyIgnoringTimestamp(d.Body, d.Header); err != nil { // the service's clock stands elsewhere
		s.t.Errorf("the reference refuses a delivery: %v", err)
	}
	if err := check.VerifyIgnoringTimestamp(append(d.Body[:len(d.Body):len(d.Body)], ' '), d.Header); err == nil {
		s.t.Error("the reference accepts the signature for another body, want it refused")
	}
	if got := d.Header.Get("Content-Type"); got != "application/json" {
		s.t.Errorf(`Content-Type %s, want "application/json"`, got)
	}
	if err := json.Unmarshal(d.Body, &e); err != nil {
		s.t.Fatalf("decode the delivery %s: %v", d.Body, err)
	}
	return e
}

func TestCreateWebhook(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.register(u, fields{"url": r.URL, "events": []string{"otp.extracted", "message.received"}})
	identifier(t, h.ID, "whk")
	if h.URL != r.URL || !slices.Equal(h.Events, []string{"otp.extracted", "message.received"}) || h.Status != "active" || h.DomainID != nil ||
		h.PausedReason != nil || h.FailureCount != 0 || h.LastDeliveryAt != nil || !h.CreatedAt.Equal(s.Clock.Now()) {
		t.Errorf("POST /me/webhooks = %+v, want %s for its two events, active since %v, with no delivery and no failures", h, r.URL, s.Clock.Now())
	}
	if !strings.HasPrefix(h.Secret, "whsec_") || len(h.Secret) != len("whsec_")+44 {
		t.Errorf("the secret is %q, want whsec_ and 44 characters", h.Secret)
	}
	d := arrived(t, r, 1)[0]
	e := s.read(h.Secret, d)
	identifier(t, d.Event(), "evt")
	if got := d.Header.Get("Webhook-Timestamp"); got != strconv.FormatInt(s.Clock.Now().Unix(), 10) {
		t.Errorf("webhook-timestamp %s, now is %d, want %v", got, s.Clock.Now().Unix(), strconv.FormatInt(s.Clock.Now().Unix(), 10))
	}
	var pinged hook
	if err := json.Unmarshal(e.Data, &pinged); err != nil {
		t.Fatal(err)
	}
	if e.Type != "webhook.ping" || !e.Timestamp.Equal(s.Clock.Now()) || pinged.ID != h.ID || pinged.URL != h.URL || pinged.Secret != "" {
		t.Errorf("the first delivery is %s, want the ping of %s at %v, without the secret", d.Body, h.ID, s.Clock.Now())
	}
	got := s.attempted(u, h, 1)[0]
	identifier(t, got.ID, "dlv")
	if got.EventID != d.Event() || got.Event != "webhook.ping" || got.Attempt != 1 || got.Outcome != "succeeded" || got.HTTPStatus == nil || *got.HTTPStatus != 204 ||
		got.Error != nil || got.NextAttemptAt != nil || !got.AttemptedAt.Equal(s.Clock.Now()) || got.ResponseBody != "" {
		t.Errorf("the attempt is %+v, want the first for %s, succeeded with 204 at %v", got, d.Event(), s.Clock.Now())
	}
	if now := s.shown(u, h); now.Secret != "" || now.LastDeliveryAt == nil || !now.LastDeliveryAt.Equal(s.Clock.Now()) {
		t.Errorf("GET /me/webhooks has %+v, want the last delivery at %v, and no secret", now, s.Clock.Now())
	}
	if strings.Contains(fmt.Sprint(column(t, s.Database(), "SELECT secret FROM webhook")), h.Secret[6:20]) {
		t.Error("the secret is stored as it is, want it sealed")
	}
	if all := get[[]hook](s, "/me/webhooks", s.account("eve@example.org").Token); len(all) != 0 {
		t.Errorf("GET /me/webhooks of another account = %+v, want none", all)
	}
}

func TestCreateWebhookRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"plans.free.webhooks.max": "1", "dns.timeout": "100ms"})
	u := s.account("ada@example.org")
	one := []string{"message.received"}
	for what, c := range map[string]struct {
		params        any
		code, pointer string
	}{
		"no body":             {nil, "request.invalid", ""},
		"no url":              {fields{"events": one}, "request.invalid", ""},
		"null url":            {fields{"url": nil, "events": one}, "request.invalid", "/url"},
		"long url":            {fields{"url": "https://a.example/" + strings.Repeat("x", 2048), "events": one}, "request.invalid", "/url"},
		"no events":           {fields{"url": "https://192.0.2.1/"}, "request.invalid", ""},
		"null events":         {fields{"url": "https://192.0.2.1/", "events": nil}, "request.invalid", "/events"},
		"empty events":        {fields{"url": "https://192.0.2.1/", "events": []string{}}, "request.invalid", "/events"},
		"an unknown event":    {fields{"url": "https://192.0.2.1/", "events": []string{"message.read"}}, "request.invalid", "/events/0"},
		"an event twice":      {fields{"url": "https://192.0.2.1/", "events": append(one, one...)}, "request.invalid", "/events"},
		"an unknown field":    {fields{"url": "https://192.0.2.1/", "events": one, "secret": "x"}, "request.invalid", "/secret"},
		"no id of a domain":   {fields{"url": "https://198.41.0.4/", "events": one, "domainId": "x"}, "request.invalid", "/domainId"},
		"unknown domain":      {fields{"url": "https://198.41.0.4/", "events": one, "domainId": "dom_" + strings.Repeat("0", 26)}, "request.invalid", "/domainId"},
		"plain http":          {fields{"url": "http://198.41.0.4/", "events": one}, "webhook.url_forbidden", "/url"},
		"another port":        {fields{"url": "https://198.41.0.4:444/", "events": one}, "webhook.url_forbidden", "/url"},
		"a user":              {fields{"url": "https://me@198.41.0.4/", "events": one}, "webhook.url_forbidden", "/url"},
		"loopback":            {fields{"url": "https://127.0.0.1/", "events": one}, "webhook.url_forbidden", "/url"},
		"a private address":   {fields{"url": "https://10.0.0.1/", "events": one}, "webhook.url_forbidden", "/url"},
		"metadata":            {fields{"url": "https://169.254.169.254/", "events": one}, "webhook.url_forbidden", "/url"},
		"a mapped address":    {fields{"url": "https://[::ffff:127.0.0.1]/", "events": one}, "webhook.url_forbidden", "/url"},
		"a decimal address":   {fields{"url": "https://2130706433/", "events": one}, "webhook.url_forbidden", "/url"},
		"a name without DNS":  {fields{"url": "https://hooks.gonebox-tests.net/", "events": one}, "webhook.url_forbidden", "/url"},
		"no url at all":       {fields{"url": "hooks", "events": one}, "webhook.url_forbidden", "/url"},
		"not a text":          {fields{"url": 7, "events": one}, "request.invalid", "/url"},
		"an event, no list":   {fields{"url": "https://192.0.2.1/", "events": "message.received"}, "request.invalid", "/events"},
		"a number for events": {fields{"url": "https://192.0.2.1/", "events": []int{1}}, "request.invalid", "/events/0"},
	} {
		a := s.Call(http.MethodPost, "/me/webhooks", u.Token, c.params)
		if a.Status != 422 || a.Code() != c.code {
			t.Errorf("%s: POST /me/webhooks = %d %s, want 422 %s", what, a.Status, a.Body, c.code)
		}
		if p := problemOf(t, a); c.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s: POST /me/webhooks = %s, want an error at %s first", what, a.Body, c.pointer)
		}
	}
	s.register(u, fields{"url": "https://198.41.0.4/", "events": one, "domainId": nil})
	want(t, s.Call(http.MethodPost, "/me/webhooks", u.Token, fields{"url": "https://198.41.0.4/", "events": one}), 403, "webhook.limit_reached")
}

func TestUpdateWebhook(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, eve := s.account("ada@example.org"), s.account("eve@example.org")
	first, second := authority.NewReceiver(t), authority.NewReceiver(t)
	h := s.hook(u, first, "message.received")
	path := "/me/webhooks/" + h.ID
	if got := s.patch(u, h, fields{"events": []string{"otp.extracted"}}); !slices.Equal(got.Events, []string{"otp.extracted"}) || got.URL != first.URL || got.Secret != "" {
		t.Errorf("PATCH to otp.extracted alone = %+v, want that, at %s, without the secret", got, first.URL)
	}
	if got := s.patch(u, h, fields{"url": second.URL}); got.URL != second.URL || !slices.Equal(got.Events, []string{"otp.extracted"}) {
		t.Errorf("PATCH to another URL = %+v, want %s for otp.extracted", got, second.URL)
	}
	for _, field := range []string{"url", "events", "status"} {
		want(t, s.Call(http.MethodPatch, path, u.Token, fields{field: nil}), 422, "request.invalid")
	}
	if got := s.patch(u, h, fields{"status": "paused"}); got.Status != "paused" || text(got.PausedReason) != "manual" {
		t.Errorf("PATCH to paused = %+v, want it paused by hand", got)
	}
	if got := s.patch(u, h, fields{"status": "active"}); got.Status != "active" || got.PausedReason != nil {
		t.Errorf("PATCH to active = %+v, want it active, with no reason", got)
	}
	for _, c := range []struct {
		change        fields
		code, pointer string
	}{
		{fields{"url": "http://198.41.0.4/"}, "webhook.url_forbidden", "/url"},
		{fields{"url": ""}, "request.invalid", "/url"},
		{fields{"events": []string{}}, "request.invalid", "/events"},
		{fields{"events": []string{"x"}}, "request.invalid", "/events/0"},
		{fields{"status": "gone"}, "request.invalid", "/status"},
		{fields{"domainId": nil}, "request.invalid", "/domainId"},
	} {
		a := s.Call(http.MethodPatch, path, u.Token, c.change)
		want(t, a, 422, c.code)
		if p := problemOf(t, a); len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer {
			t.Errorf("PATCH with %v: %s, want an error at %s first", c.change, a.Body, c.pointer)
		}
	}
	for _, call := range answersOf("/me/webhooks") {
		words := strings.Fields(call)
		if words[2] != "404" || words[3] != "webhook.not_found" {
			continue
		}
		var change any
		if words[0] == http.MethodPatch {
			change = fields{"url": "http://refused"}
		}
		at := func(id string) string {
			return strings.NewReplacer("{id}", id, "{deliveryId}", "x").Replace(words[1])
		}
		foreign := s.Call(words[0], at(h.ID), eve.Token, change)
		want(t, foreign, 404, "webhook.not_found")
		for _, other := range []string{"x", "whk_" + strings.Repeat("0", 26), strings.Replace(h.ID, "whk", "mbx", 1)} {
			same(t, foreign, s.Call(words[0], at(other), u.Token, change))
		}
	}
	s.call(http.MethodDelete, path, u.Token, 204, "")
	s.call(http.MethodDelete, path, u.Token, 404, "webhook.not_found")
}

func TestBodiesQueriesAndLimitsOfWebhooks(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(settings{"http.body_max": "1KiB", "limits.other": "60/1m"}))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.register(u, fields{"url": r.URL, "events": []string{"message.received"}})
	eventually(t, "the ping", func() bool {
		a := s.Call(http.MethodGet, "/me/webhooks/"+h.ID+"/deliveries", u.Token, nil)
		if a.Status == http.StatusTooManyRequests { // on a busy machine the calls of this loop reach the limit
			s.Clock.Advance(time.Minute)
			return false
		}
		var attempts []attempt
		a.Into(t, &attempts)
		return len(attempts) > 0
	})
	s.Clock.Advance(time.Minute)
	box := s.create(u.Token, nil)
	path := strings.NewReplacer("{id}", h.ID, "{deliveryId}", s.attempts(u, h)[0].ID)
	for _, call := range answersOf("/me/webhooks") {
		words := strings.Fields(call)
		method, path := words[0], path.Replace(words[1])
		switch {
		case words[2] == "413":
			want(t, s.Call(method, path, u.Token, append([]byte(`{"url":"`), make([]byte, 2000)...)), 413, "request.too_large")
		case words[2] == "415":
			a := s.do(method, path, u.Token, fields{}, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
			want(t, a, 415, "request.media_type")
		case words[2] == "422":
			s.call(method, path+"?no=1", u.Token, 422, "request.invalid")
		case words[2] == "401" && words[3] == "auth.required":
			s.call(method, path, "", 401, "auth.required")
			for _, wrong := range []string{box.Token, "xu_", mistyped(u.Token)} {
				s.call(method, path, wrong, 401, "auth.invalid_token")
			}
		}
	}
	s.call(http.MethodPost, "/me/webhooks/"+h.ID+"/deliveries/x/redeliver", u.Token, 404, "webhook.delivery_not_found")
	for refused := 0; refused < 10; { // every process has heard of it by then
		if s.Call(http.MethodGet, "/me/webhooks", u.Token, nil).Status == http.StatusTooManyRequests {
			refused++
		}
	}
	for _, call := range operationsOf("/me/webhooks") {
		words := strings.Fields(call)
		s.call(words[0], path.Replace(words[1]), u.Token, 429, "rate.limited")
	}
}

func TestWebhooksArePaged(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u := s.account("ada@example.org")
	var ids []string
	for range 5 {
		ids = append(ids, s.register(u, fields{"url": "https://198.41.0.4/", "events": []string{"message.received"}}).ID)
		s.Clock.Advance(time.Millisecond)
	}
	slices.Reverse(ids)
	var got []string
	for h := range pages[hook](s, "/me/webhooks?limit=2", u.Token) {
		got = append(got, h.ID)
	}
	if !slices.Equal(got, ids) {
		t.Errorf("the pages of GET /me/webhooks list %v, want %v", got, ids)
	}
}

// openToHookOwners are the calls of the group, for the table of all calls.
func openToHookOwners() []accessRule {
	hook := func(e *accountFixture) []string { return []string{e.hook.ID} }
	delivery := func(e *accountFixture) []string { return []string{e.hook.ID, e.attempt.ID} }
	params := always(fields{"url": "https://198.41.0.4/", "events": []string{"message.received"}})
	none := []string{"webhook.not_found", "webhook.delivery_not_found"}
	return []accessRule{
		{call: "GET /me/webhooks", schemes: "userToken", status: 200},
		{call: "POST /me/webhooks", schemes: "userToken", status: 201, body: params},
		{call: "PATCH /me/webhooks/{id}", schemes: "userToken", status: 200, resources: hook, unknown: none[:1], body: always(fields{"events": []string{"webhook.ping"}})},
		{call: "DELETE /me/webhooks/{id}", schemes: "userToken", status: 204, resources: hook, unknown: none[:1]},
		{call: "GET /me/webhooks/{id}/deliveries", schemes: "userToken", status: 200, resources: hook, unknown: none[:1]},
		{call: "POST /me/webhooks/{id}/rotate-secret", schemes: "userToken", status: 200, resources: hook, unknown: none[:1]},
		{call: "POST /me/webhooks/{id}/test", schemes: "userToken", status: 202, resources: hook, unknown: none[:1]},
		{call: "POST /me/webhooks/{id}/deliveries/{deliveryId}/redeliver", schemes: "userToken", status: 202, resources: delivery, unknown: none},
	}
}
