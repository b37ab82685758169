package blackbox_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// developerKey is a developer key as a client reads it.
type developerKey struct {
	Prefix, Name, Tier, Key string
	Scopes, AllowedCIDRs    []string
	CreatedAt               time.Time
	LastUsedAt, ExpiresAt   *time.Time
}

var allScopes = []string{"mailboxes:read", "mailboxes:write", "messages:read", "otp:read"}

// startKeys starts a service whose free plan allows a few keys.
func startKeys(t testing.TB, set settings) *service {
	t.Helper()
	own := settings{"plans.free.keys.max": "3", "plans.free.keys.calls": "100000/1m", "plans.free.keys.mailbox_create": "100000/1m"}
	maps.Copy(own, set)
	return startAccounts(t, own)
}

// key creates a key, with every scope unless params has others.
func (s *service) key(u user, params fields) (k developerKey) {
	s.t.Helper()
	whole := fields{"name": "test", "scopes": allScopes}
	maps.Copy(whole, params)
	a := s.Call(http.MethodPost, "/me/api-keys", u.Token, whole)
	if a.Status != http.StatusCreated {
		s.t.Fatalf("create a key: %d %s, want Status %v", a.Status, a.Body, http.StatusCreated)
	}
	a.Into(s.t, &k)
	return k
}

// keyMailbox makes a mailbox with a key.
func (s *service) keyMailbox(k developerKey, params any) (m mailbox) {
	s.t.Helper()
	a := s.Call(http.MethodPost, "/keys/mailboxes", k.Key, params)
	if a.Status != http.StatusCreated {
		s.t.Fatalf("create a mailbox with a key: %d %s, want Status %v", a.Status, a.Body, http.StatusCreated)
	}
	a.Into(s.t, &m)
	return m
}

// plan assigns a plan as staff do.
func (s *service) plan(u user, code string) {
	s.t.Helper()
	if _, err := s.Database().Exec("UPDATE account SET plan = $1 WHERE id = $2", code, u.Account.ID); err != nil {
		s.t.Fatal(err)
	}
}

// same fails the test unless two problems differ in their trace id alone.
func same(t *testing.T, a, b apptest.Response) {
	t.Helper()
	p, q := problemOf(t, a), problemOf(t, b)
	p.TraceID, q.TraceID = "", ""
	left, _ := json.Marshal(p)
	right, _ := json.Marshal(q)
	if a.Status != b.Status || string(left) != string(right) {
		t.Errorf("one response is %d %s, the other %d %s, want the same", a.Status, left, b.Status, right)
	}
}

func TestKeySecretIsShownOnce(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u := s.account("ada@example.org")
	until := s.Clock.Now().Add(time.Hour)
	k := s.key(u, fields{
		"name": "deploy", "scopes": []string{"otp:read", "mailboxes:read", "otp:read"}, "allowedCidrs": []string{"10.1.2.3/8", "2001:DB8::/32", "10.0.0.0/8"},
		"expiresAt": until,
	})
	if !strings.HasPrefix(k.Key, "x_"+k.Prefix+"_") || len(k.Prefix) != 10 || k.Name != "deploy" || k.Tier != "free" ||
		!slices.Equal(k.Scopes, []string{"mailboxes:read", "otp:read"}) || !slices.Equal(k.AllowedCIDRs, []string{"10.0.0.0/8", "2001:db8::/32"}) ||
		!k.CreatedAt.Equal(s.Clock.Now()) || k.LastUsedAt != nil || k.ExpiresAt == nil || !k.ExpiresAt.Equal(until) {
		t.Errorf("POST /me/api-keys with all fields = %+v, want deploy of the tier free, made at %v, valid until %v, with its scopes and networks, and its prefix in the key", k, s.Clock.Now(), until)
	}
	s.Clock.Advance(time.Second)
	s.key(u, fields{"name": "plain"})
	a := s.call(http.MethodGet, "/me/api-keys", u.Token, 200, "")
	var keys []developerKey
	a.Into(t, &keys)
	if len(keys) != 2 || keys[0].Name != "plain" || keys[0].ExpiresAt != nil || keys[0].AllowedCIDRs == nil || keys[1].Prefix != k.Prefix {
		t.Errorf("GET /me/api-keys = %s, want plain, without an expiry and with an empty list of networks, and then %s", a.Body, k.Prefix)
	}
	if strings.Contains(string(a.Body), `"key"`) || strings.Contains(string(a.Body), k.Key[13:]) {
		t.Errorf("GET /me/api-keys = %s, want no key in it", a.Body)
	}
	if others := get[[]developerKey](s, "/me/api-keys", s.account("eve@example.org").Token); len(others) != 0 {
		t.Errorf("GET /me/api-keys of another account = %+v, want none", others)
	}
	s.plan(u, "pro")
	if keys = get[[]developerKey](s, "/me/api-keys", u.Token); keys[0].Tier != "pro" {
		t.Errorf("the key after the plan changed is %+v, want the tier pro", keys[0])
	}
}

func TestCreateKeyRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u := s.account("ada@example.org")
	scopes := []string{"otp:read"}
	for what, c := range map[string]struct {
		params  any
		pointer string
	}{
		"no body":         {nil, ""},
		"no name":         {fields{"scopes": scopes}, ""},
		"empty name":      {fields{"name": "", "scopes": scopes}, "/name"},
		"long name":       {fields{"name": strings.Repeat("é", 101), "scopes": scopes}, "/name"},
		"no scopes":       {fields{"name": "n"}, ""},
		"empty scopes":    {fields{"name": "n", "scopes": []string{}}, "/scopes"},
		"null scopes":     {fields{"name": "n", "scopes": nil}, "/scopes"},
		"unknown scope":   {fields{"name": "n", "scopes": []string{"otp:read", "otp:write"}}, "/scopes/1"},
		"no network":      {fields{"name": "n", "scopes": scopes, "allowedCidrs": []string{"192.0.2.0/24", "192.0.2.0/33"}}, "/allowedCidrs/1"},
		"101 networks":    {fields{"name": "n", "scopes": scopes, "allowedCidrs": slices.Repeat([]string{"192.0.2.0/24"}, 101)}, "/allowedCidrs"},
		"over already":    {fields{"name": "n", "scopes": scopes, "expiresAt": s.Clock.Now()}, "/expiresAt"},
		"in the past":     {fields{"name": "n", "scopes": scopes, "expiresAt": s.Clock.Now().Add(-time.Hour)}, "/expiresAt"},
		"at zero":         {fields{"name": "n", "scopes": scopes, "expiresAt": "1970-01-01T00:00:00Z"}, "/expiresAt"},
		"before zero":     {fields{"name": "n", "scopes": scopes, "expiresAt": "1970-01-01T00:00:00+00:01"}, "/expiresAt"},
		"year 1":          {fields{"name": "n", "scopes": scopes, "expiresAt": "0001-01-01T00:00:00Z"}, "/expiresAt"},
		"year 10000":      {fields{"name": "n", "scopes": scopes, "expiresAt": "9999-12-31T23:59:59-00:01"}, "/expiresAt"},
		"no time":         {fields{"name": "n", "scopes": scopes, "expiresAt": "tomorrow"}, "/expiresAt"},
		"a tier":          {fields{"name": "n", "scopes": scopes, "tier": "pro"}, "/tier"},
		"a misspelt name": {fields{"name": "n", "scopes": scopes, "allowedCIDRs": []string{}}, "/allowedCIDRs"},
	} {
		a := s.Call(http.MethodPost, "/me/api-keys", u.Token, c.params)
		want(t, a, 422, "request.invalid")
		if p := problemOf(t, a); c.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s: POST /me/api-keys = %s, want an error at %s first", what, a.Body, c.pointer)
		}
	}
	s.key(u, fields{"name": strings.Repeat("é", 100), "allowedCidrs": []string{}})
}

func TestRevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u, eve := s.account("ada@example.org"), s.account("eve@example.org")
	k := s.key(u, nil)
	m := s.keyMailbox(k, nil)
	foreign := s.call(http.MethodDelete, "/me/api-keys/"+k.Prefix, eve.Token, 404, "key.not_found")
	for _, unknown := range []string{"0000000000", "x", k.Key} {
		same(t, foreign, s.call(http.MethodDelete, "/me/api-keys/"+unknown, eve.Token, 404, "key.not_found"))
	}
	s.call(http.MethodGet, "/keys/mailboxes", k.Key, 200, "")
	s.call(http.MethodDelete, "/me/api-keys/"+k.Prefix, u.Token, 204, "")
	s.call(http.MethodGet, "/keys/mailboxes", k.Key, 401, "auth.invalid_token")
	s.call(http.MethodDelete, "/me/api-keys/"+k.Prefix, u.Token, 404, "key.not_found")
	if boxes := get[[]mailbox](s, "/me/mailboxes", u.Token); len(boxes) != 1 || boxes[0].ID != m.ID {
		t.Errorf("GET /me/mailboxes after the key was revoked = %+v, want %s", boxes, m.ID)
	}
	s.key(u, nil)
	s.key(u, nil)
	s.key(u, nil)
	a := s.Call(http.MethodPost, "/me/api-keys", u.Token, fields{"name": "one more", "scopes": allScopes})
	want(t, a, 403, "key.limit_reached")
	s.plan(u, "plus")
	s.key(u, nil)
}

func TestKeyEndsAtExpiryAndWithAccount(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u := s.account("ada@example.org")
	k, lasting := s.key(u, fields{"expiresAt": s.Clock.Now().Add(time.Minute)}), s.key(u, nil)
	s.Clock.Advance(time.Minute - time.Millisecond)
	s.call(http.MethodGet, "/keys/mailboxes", k.Key, 200, "")
	s.Clock.Advance(time.Millisecond)
	s.call(http.MethodGet, "/keys/mailboxes", k.Key, 401, "auth.invalid_token")
	s.call(http.MethodGet, "/keys/mailboxes", lasting.Key, 200, "")
	if _, err := s.Database().Exec("UPDATE account SET disabled = 1 WHERE id = $1", u.Account.ID); err != nil {
		t.Fatal(err)
	}
	s.call(http.MethodGet, "/keys/mailboxes", lasting.Key, 401, "auth.invalid_token")
}

func TestLastUseIsRecorded(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u := s.account("ada@example.org")
	k := s.key(u, fields{"scopes": []string{"mailboxes:read"}})
	s.Clock.Advance(time.Second)
	s.call(http.MethodPost, "/keys/mailboxes", k.Key, 403, "auth.scope_missing")
	if got := get[[]developerKey](s, "/me/api-keys", u.Token)[0]; got.LastUsedAt != nil {
		t.Errorf("after a refused call the last use is %s, want none", got.LastUsedAt)
	}
	s.call(http.MethodGet, "/keys/mailboxes", k.Key, 200, "")
	used := s.Clock.Now().UnixMicro()
	shown := func() bool {
		at := get[[]developerKey](s, "/me/api-keys", u.Token)[0].LastUsedAt
		return at != nil && at.UnixMicro() == used
	}
	if !s.OnPostgres() && !shown() { // other processes show it once it is written
		t.Error("GET /me/api-keys does not show the use that has just been made, want it shown")
	}
	stored := func() bool {
		var at int64
		err := s.Database().QueryRow("SELECT coalesce(last_used_at, 0) FROM api_key WHERE prefix = $1", k.Prefix).Scan(&at)
		return err == nil && at == used
	}
	if stored() {
		t.Error("the call itself stored its use, want it stored later")
	}
	eventually(t, "writing the use", func() bool {
		s.Clock.Advance(30 * time.Second)
		return stored()
	})
	if !shown() {
		t.Error("GET /me/api-keys does not show the stored use, want it shown")
	}
	s.call(http.MethodGet, "/keys/mailboxes", k.Key, 200, "")
	used = s.Clock.Now().UnixMicro()
	if err := s.Stop(); err != nil || !stored() {
		t.Errorf("Stop = %v, the last use is stored: %t, want no error and true", err, stored())
	}
}

// keyCalls are the calls that accept a key, with their scopes.
func keyCalls(m mailbox) map[string]string {
	return map[string]string{
		"GET /keys/mailboxes":                                   "mailboxes:read",
		"POST /keys/mailboxes":                                  "mailboxes:write",
		"GET /keys/mailboxes/" + m.ID + "/messages":             "messages:read",
		"GET /keys/mailboxes/" + m.ID + "/deliveries":           "messages:read",
		"GET /keys/mailboxes/" + m.ID + "/otp/latest":           "otp:read",
		"DELETE /keys/mailboxes/mbx_" + strings.Repeat("0", 26): "mailboxes:write",
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"plans.free.keys.max": "10", "plans.free.mailboxes.max": "100"})
	u := s.account("ada@example.org")
	m := s.keyMailbox(s.key(u, nil), nil)
	for _, scope := range allScopes {
		with := s.key(u, fields{"scopes": []string{scope}})
		without := s.key(u, fields{"scopes": slices.DeleteFunc(slices.Clone(allScopes), func(other string) bool { return other == scope })})
		for call, needs := range keyCalls(m) {
			method, path, _ := strings.Cut(call, " ")
			for _, k := range []developerKey{with, without} {
				a := s.Call(method, path, k.Key, nil)
				refused := a.Code() == "auth.scope_missing"
				if refused == slices.Contains(k.Scopes, needs) || refused && a.Status != 403 {
					t.Errorf("%s with %v: %d %s, want it refused for its scope unless it has %s", call, k.Scopes, a.Status, a.Body, needs)
				}
			}
		}
	}
}

func TestKeyNetworks(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"http.trusted_proxies": "127.0.0.1/32"})
	u := s.account("ada@example.org")
	k := s.key(u, fields{"allowedCidrs": []string{"192.0.2.0/24", "2001:db8::/32"}, "scopes": []string{"mailboxes:read"}})
	free := s.key(u, nil)
	m := s.keyMailbox(free, nil)
	call := func(k developerKey, method, path, from string) apptest.Response {
		return s.do(method, path, k.Key, nil, func(r *http.Request) { r.Header.Set("X-Forwarded-For", from) })
	}
	for from, allowed := range map[string]bool{
		"192.0.2.1": true, "::ffff:192.0.2.1": true, "2001:db8:1::1": true, "192.0.3.1": false, "2001:db9::1": false, "::1": false,
	} {
		if allowed {
			want(t, call(k, http.MethodGet, "/keys/mailboxes", from), 200, "")
		} else {
			want(t, call(k, http.MethodGet, "/keys/mailboxes", from), 403, "auth.address_not_allowed")
		}
		want(t, call(free, http.MethodGet, "/keys/mailboxes", from), 200, "")
	}
	for c := range keyCalls(m) {
		method, path, _ := strings.Cut(c, " ")
		want(t, call(k, method, path, "203.0.113.1"), 403, "auth.address_not_allowed") // before the scope
	}
}

func TestKeyHeaders(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u := s.account("ada@example.org")
	k, other := s.key(u, nil), s.key(u, nil)
	with := func(name, value string) apptest.Response {
		return s.do(http.MethodGet, "/keys/mailboxes", "", nil, func(r *http.Request) { r.Header.Set(name, value) })
	}
	want(t, with("X-Api-Key", k.Key), 200, "")
	want(t, with("Authorization", "Bearer "+k.Key), 200, "")
	want(t, with("X-Api-Key", u.Token), 401, "auth.invalid_token")
	want(t, with("Authorization", "Apikey "+k.Key), 401, "auth.invalid_token")
	want(t, with("X-Api-Key", mistyped(k.Key)), 401, "auth.invalid_token")
	at := strings.LastIndexByte(k.Key, '_')
	want(t, with("X-Api-Key", "x_"+other.Prefix+k.Key[at:]), 401, "auth.invalid_token")
	m := s.keyMailbox(k, nil)
	foreign := startKeys(t, nil)
	strange := foreign.key(foreign.account("ada@example.org"), nil).Key
	for _, call := range answersOf("=/me/mailboxes", "/me/api-keys", "/keys") {
		words := strings.Fields(call)
		if words[2] != "401" || words[3] != "auth.required" {
			continue
		}
		path := strings.NewReplacer("{id}", m.ID, "{prefix}", k.Prefix).Replace(words[1])
		s.call(words[0], path, "", 401, "auth.required")
		wrong := u.Token
		if strings.HasPrefix(path, "/me") {
			wrong = k.Key
		}
		for _, credential := range []string{wrong, m.Token, s.startSession().Key, strange, "x_", "garbage"} {
			s.call(words[0], path, credential, 401, "auth.invalid_token")
		}
	}
	for _, path := range []string{"/me", "/mailboxes/me", "/session", "/me/api-keys"} {
		s.call(http.MethodGet, path, k.Key, 401, "auth.invalid_token")
	}
	want(t, s.Call(http.MethodPost, "/mailboxes", k.Key, nil), 401, "auth.invalid_token")
}

func TestKeyOpensMailboxesOfItsAccount(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u, eve := s.account("ada@example.org"), s.account("eve@example.org")
	k, second, foreign := s.key(u, nil), s.key(u, nil), s.key(eve, nil)
	made := s.keyMailbox(k, fields{"localPart": "made", "ttl": 3600})
	if made.Source != "key" || made.Tier != "free" || made.TTL != 3600 || !strings.HasPrefix(made.Token, "xm_") {
		t.Errorf("POST /keys/mailboxes = %+v, want it made by the key, of the tier free, for 3600 s, with a token", made)
	}
	own := s.create(u.Token, nil)
	s.Send(apptest.Mail{To: []string{made.Address, own.Address}, Subject: "Sign in", Text: "Your verification code is 482913."})
	for _, k := range []developerKey{k, second} {
		if got := get[[]mailbox](s, "/keys/mailboxes", k.Key); len(got) != 2 {
			t.Errorf("GET /keys/mailboxes = %+v, want two", got)
		}
		for _, m := range []mailbox{made, own} {
			list := get[[]summary](s, "/keys/mailboxes/"+m.ID+"/messages?limit=5", k.Key)
			if len(list) != 1 || list[0].Subject != "Sign in" || list[0].MailboxID != m.ID || list[0].Seen {
				t.Errorf("GET /keys/mailboxes/%s/messages?limit=5 = %+v, want Sign in alone, unseen", m.ID, list)
			}
			if got := get[code](s, "/keys/mailboxes/"+m.ID+"/otp/latest?from=sender", k.Key); got.Code != "482913" || got.MessageID != list[0].ID {
				t.Errorf("GET /keys/mailboxes/%s/otp/latest?from=sender = %+v, want 482913 of %s", m.ID, got, list[0].ID)
			}
			s.call(http.MethodGet, "/keys/mailboxes/"+m.ID+"/otp/latest?after="+list[0].ID, k.Key, 404, "otp.not_found")
			s.call(http.MethodGet, "/keys/mailboxes/"+m.ID+"/messages?after="+m.ID, k.Key, 422, "request.invalid")
		}
	}
	guest, gone := s.create("", nil), s.keyMailbox(k, fields{"ttl": 60})
	s.Clock.Advance(time.Minute)
	for _, sub := range []string{"/messages", "/otp/latest", ""} {
		method := http.MethodGet
		if sub == "" {
			method = http.MethodDelete
		}
		unknown := s.call(method, "/keys/mailboxes/mbx_"+strings.Repeat("0", 26)+sub, k.Key, 404, "mailbox.not_found")
		for _, other := range []string{"x", guest.ID, gone.ID, strings.Replace(made.ID, "mbx", "msg", 1)} {
			same(t, unknown, s.call(method, "/keys/mailboxes/"+other+sub, k.Key, 404, "mailbox.not_found"))
		}
		same(t, unknown, s.call(method, "/keys/mailboxes/"+made.ID+sub, foreign.Key, 404, "mailbox.not_found"))
	}
	s.call(http.MethodDelete, "/keys/mailboxes/"+made.ID, second.Key, 204, "")
	s.call(http.MethodDelete, "/keys/mailboxes/"+made.ID, second.Key, 404, "mailbox.not_found")
	s.call(http.MethodGet, "/mailboxes/me", made.Token, 401, "auth.invalid_token")
	if got := get[[]mailbox](s, "/keys/mailboxes", k.Key); len(got) != 1 || got[0].ID != own.ID || got[0].Source != "account" {
		t.Errorf("GET /keys/mailboxes = %+v, want %s of the account alone", got, own.ID)
	}
}

func TestCreateMailboxWithKeyRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"plans.free.mailboxes.max": "2"})
	k := s.key(s.account("ada@example.org"), nil)
	s.create("", fields{"localPart": "taken"})
	for _, c := range []struct {
		params fields
		code   string
	}{
		{fields{"localPart": "taken"}, "mailbox.local_part_taken"},
		{fields{"localPart": "postmaster"}, "mailbox.local_part_reserved"},
		{fields{"domain": "example.org"}, "mailbox.domain_unavailable"},
		{fields{"domain": strings.Repeat("a", 256)}, "request.invalid"},
		{fields{"ttl": 7*day + 1}, "mailbox.ttl_too_long"},
		{fields{"ttl": 59}, "request.invalid"},
		{fields{"name": "x"}, "request.invalid"},
	} {
		a := s.Call(http.MethodPost, "/keys/mailboxes", k.Key, c.params)
		want(t, a, 422, c.code)
		if p := problemOf(t, a); p.Status != 422 {
			t.Errorf("POST /keys/mailboxes with %v: %s, want the status 422 in the problem", c.params, a.Body)
		}
	}
	if m := s.keyMailbox(k, nil); m.TTL != day {
		t.Errorf("the default: %+v, want TTL %v", m, day)
	}
	s.keyMailbox(k, fields{"ttl": 7 * day})
	want(t, s.Call(http.MethodPost, "/keys/mailboxes", k.Key, nil), 422, "mailbox.limit_reached")
}

// The plan's limit of live mailboxes is exact under concurrent calls, and expired or destroyed mailboxes stop counting
// at once.
func TestLiveMailboxLimitIsExact(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"plans.free.mailboxes.max": "3", "mailbox.erase_every": "24h"})
	u := s.account("ada@example.org")
	k := s.key(u, nil)
	full := func() {
		t.Helper()
		want(t, s.Call(http.MethodPost, "/keys/mailboxes", k.Key, nil), 422, "mailbox.limit_reached")
		want(t, s.Call(http.MethodPost, "/mailboxes", u.Token, nil), 422, "mailbox.limit_reached")
	}
	first := s.create(u.Token, nil)
	s.keyMailbox(k, fields{"ttl": 60})
	s.keyMailbox(k, fields{"ttl": 120})
	full()
	s.create("", nil)
	s.create(s.account("eve@example.org").Token, nil)
	s.Clock.Advance(time.Minute)
	s.create(u.Token, nil)
	full()
	s.call(http.MethodDelete, "/mailboxes/me", first.Token, 204, "")
	s.keyMailbox(k, nil)
	full()
	s.plan(u, "plus")
	if m := s.create(u.Token, nil); m.Tier != "paid" || m.TTL != 7*day {
		t.Errorf(`s.create(u.Token, nil) = %+v, want Tier "paid" and TTL %v`, m, 7*day)
	}
}

func TestMailboxesOfAccountArePaged(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u := s.account("ada@example.org")
	k := s.key(u, nil)
	var made []string
	for i := range 5 {
		m := s.create(u.Token, fields{"ttl": 600 + i})
		made = append([]string{m.ID}, made...)
		s.Clock.Advance(time.Millisecond)
	}
	s.create("", nil)
	s.create(s.account("eve@example.org").Token, nil)
	for path, credential := range map[string]string{"/me/mailboxes": u.Token, "/keys/mailboxes": k.Key} {
		var listed []string
		for m := range pages[mailbox](s, path+"?limit=2", credential) {
			listed = append(listed, m.ID)
			if got := get[mailbox](s, "/mailboxes/me", m.Token); got.ID != m.ID || m.Tier != "free" || m.Source != "account" {
				t.Errorf("GET /mailboxes/me = %+v, want %s of the account and of the tier free", m, m.ID)
			}
		}
		if !slices.Equal(listed, made) {
			t.Errorf("the pages of GET %s list %v, want %v", path, listed, made)
		}
		for _, wrong := range []string{"cursor=x", "cursor=!", "limit=0", "limit=101", "page=2"} {
			s.call(http.MethodGet, path+"?"+wrong, credential, 422, "request.invalid")
		}
	}
	s.Clock.Advance(602 * time.Second)
	if got := get[[]mailbox](s, "/me/mailboxes", u.Token); len(got) != 2 {
		t.Errorf("%d are left, want 2", len(got))
	}
}

func TestKeysArePaged(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u := s.account("ada@example.org")
	want := []string{s.key(u, nil).Prefix, s.key(u, nil).Prefix, s.key(u, nil).Prefix}
	var listed []string
	for k := range pages[developerKey](s, "/me/api-keys?limit=1", u.Token) {
		listed = append(listed, k.Prefix)
	}
	slices.Sort(want)
	slices.Sort(listed)
	if !slices.Equal(listed, want) {
		t.Errorf("the pages of GET /me/api-keys list %v, want %v", listed, want)
	}
	for _, cursor := range []string{"!", "eA", "MTIz", "MSA"} {
		s.call(http.MethodGet, "/me/api-keys?cursor="+cursor, u.Token, 422, "request.invalid")
	}
}

func TestWaitWithKey(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	k := s.key(s.account("ada@example.org"), nil)
	m := s.keyMailbox(k, nil)
	path := "/keys/mailboxes/" + m.ID
	mail, code := s.waiting(path+"/messages?wait=60", k.Key), s.waiting(path+"/otp/latest?wait=60", k.Key)
	s.Send(apptest.Mail{To: []string{m.Address}, Subject: "Sign in", Text: "Your verification code is 482913."})
	want(t, mail(), 200, "")
	want(t, code(), 200, "")
	newer := s.page(m.Token, "limit=1").Data[0].ID
	mail, code = s.waiting(path+"/messages?wait=60&after="+newer, k.Key), s.waiting(path+"/otp/latest?wait=60&after="+newer, k.Key)
	s.call(http.MethodDelete, path, k.Key, 204, "")
	want(t, mail(), 404, "mailbox.not_found")
	want(t, code(), 404, "mailbox.not_found")
}

func TestKeysAreLimitedByPlan(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"plans.free.keys.calls": "4/1m", "plans.free.keys.mailbox_create": "2/1m", "plans.plus.keys.calls": "9/1m", "limits.other": "20/1m"})
	u := s.account("ada@example.org")
	k, second := s.key(u, nil), s.key(u, nil)
	m := s.keyMailbox(k, nil)
	s.keyMailbox(k, nil)
	a := s.call(http.MethodPost, "/keys/mailboxes", k.Key, 429, "rate.limited")
	if a.Header.Get("RateLimit-Policy") != `"keys_mailbox_create";q=2;w=60` {
		t.Errorf("POST /keys/mailboxes over its limit: the header is %v, want the policy keys_mailbox_create of 2 in 60 s", a.Header)
	}
	for range 4 {
		s.call(http.MethodGet, "/keys/mailboxes", k.Key, 200, "")
	}
	for call := range keyCalls(m) {
		method, path, _ := strings.Cut(call, " ")
		s.call(method, path, k.Key, 429, "rate.limited")
	}
	s.call(http.MethodGet, "/keys/mailboxes", second.Key, 200, "")
	s.plan(u, "plus")
	s.Clock.Advance(8 * time.Second) // nine a minute leave one by now, four would not
	s.call(http.MethodGet, "/keys/mailboxes", k.Key, 200, "")
	s.Clock.Advance(time.Minute)
	for range 20 { // those without a good key count by their address
		s.call(http.MethodGet, "/keys/mailboxes", "x_", 401, "auth.invalid_token")
	}
	s.call(http.MethodGet, "/keys/mailboxes", "x_", 429, "rate.limited")
	s.call(http.MethodGet, "/keys/mailboxes", k.Key, 200, "")
	s.plan(u, "free")
	for range 20 {
		s.Call(http.MethodGet, "/me/api-keys", u.Token, nil)
	}
	for _, call := range []string{"GET /me/mailboxes", "GET /me/api-keys", "POST /me/api-keys", "DELETE /me/api-keys/x"} {
		method, path, _ := strings.Cut(call, " ")
		s.call(method, path, u.Token, 429, "rate.limited")
	}
}

func TestBodiesAndQueriesOfKeys(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"http.body_max": "1KiB"})
	u := s.account("ada@example.org")
	k := s.key(u, nil)
	m := s.keyMailbox(k, nil)
	for _, call := range answersOf("=/me/mailboxes", "/me/api-keys", "/keys") {
		words := strings.Fields(call)
		method, path := words[0], strings.NewReplacer("{id}", m.ID, "{prefix}", k.Prefix).Replace(words[1])
		credential := u.Token
		if strings.HasPrefix(path, "/keys") {
			credential = k.Key
		}
		switch words[2] {
		case "413":
			want(t, s.Call(method, path, credential, append([]byte(`{"name":"`), make([]byte, 2000)...)), 413, "request.too_large")
		case "415":
			a := s.do(method, path, credential, fields{}, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
			want(t, a, 415, "request.media_type")
		case "422":
			s.call(method, path+"?no=1", credential, 422, "request.invalid")
		}
	}
}

// The former owner of an address may have it again, through any call; others only after the cool-down.
func TestAccountCanReclaimItsAddress(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	u, eve := s.account("ada@example.org"), s.account("eve@example.org")
	k := s.key(u, nil)
	params := fields{"localPart": "mine"}
	m := s.create(u.Token, params)
	s.call(http.MethodDelete, "/mailboxes/me", m.Token, 204, "")
	want(t, s.Call(http.MethodPost, "/mailboxes", "", params), 409, "mailbox.local_part_taken")
	want(t, s.Call(http.MethodPost, "/mailboxes", eve.Token, params), 409, "mailbox.local_part_taken")
	again := s.keyMailbox(k, params)
	if again.ID == m.ID || again.Address != m.Address {
		t.Errorf("POST /keys/mailboxes again = %+v, want another mailbox than %s at %s", again, m.ID, m.Address)
	}
	want(t, s.Call(http.MethodPost, "/mailboxes", u.Token, params), 409, "mailbox.local_part_taken")
	s.Clock.Advance(day * time.Second) // it expires
	s.create(u.Token, params)
}

// The daily cap of an account counts over all of its mailboxes; mail beyond it is deferred (docs/spec/smtp.md#replies).
func TestDailyMailCapOfAccount(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"plans.free.mail.daily.max": "3"})
	u := s.account("ada@example.org")
	a, b, guest := s.create(u.Token, fields{"ttl": 7 * day}), s.create(u.Token, fields{"ttl": 7 * day}), s.create("", nil)
	deferred := func(to ...string) {
		t.Helper()
		if err := s.TrySend(apptest.Mail{To: to}); err == nil || !strings.HasPrefix(err.Error(), "452") {
			t.Errorf("to %v: %v, want 452", to, err)
		}
	}
	s.Send(apptest.Mail{To: []string{a.Address, b.Address}})
	deferred(a.Address, b.Address)
	s.Send(apptest.Mail{To: []string{a.Address}})
	deferred(b.Address)
	deferred(guest.Address, b.Address)
	s.Send(apptest.Mail{To: []string{guest.Address}})
	s.Clock.Advance(12 * time.Hour) // the next UTC day
	s.Send(apptest.Mail{To: []string{b.Address}})
	if got := get[mailbox](s, "/mailboxes/me", b.Token); got.MessageCount != 2 {
		t.Errorf("GET /mailboxes/me = %+v, want two messages", got)
	}
}
