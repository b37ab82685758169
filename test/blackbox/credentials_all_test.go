package blackbox_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// accessRule describes who may make a call of the API (docs/spec/conventions.md#credentials).
type accessRule struct {
	call      string   // as in the OpenAPI document
	schemes   string   // the credentials that it takes, "public" for none
	scope     string   // what a developer key must carry
	status    int      // of success
	code      string   // of the problem that every caller gets here, whatever it presents; then status is that of the problem
	query     string   // that the call needs
	staff     bool     // the account needs the role staff
	unknown   []string // for each parameter of the path: the code for what is another's or is not there at all
	resources func(*accountFixture) []string
	body      func(*accountFixture) any
	before    func(*accountFixture) // what must have happened; may be nil
}

// accessRules are all calls. A call of the OpenAPI document that is missing here fails the test, and so does the reverse,
// so that adding a call means stating here which credentials it accepts.
func accessRules() []accessRule {
	return slices.Concat(openToAll(), openToMailboxes(), openToUsers(), openToProjects(), openToHookOwners(), openToKeys(), openToStaff())
}

func openToAll() []accessRule {
	newcomer := func(e *accountFixture) any {
		e.newcomers++
		return fields{"email": fmt.Sprintf("new-%d-%s", e.newcomers, e.email), "password": userPassword}
	}
	return []accessRule{
		{call: "GET /healthz", schemes: "public", status: 200},
		{call: "GET /readyz", schemes: "public", status: 200},
		{call: "GET /domains", schemes: "public", status: 200},
		{call: "GET /plans", schemes: "public", status: 200},
		{call: "GET /payment-providers", schemes: "public", status: 200},
		{call: "GET /content/notices", schemes: "public", status: 200},
		{call: "GET /content/pages", schemes: "public", status: 200},
		{call: "GET /content/pages/{key}", schemes: "public", status: 200, resources: func(e *accountFixture) []string { return []string{e.helpPage()} }},
		{call: "POST /session", schemes: "public", status: 201},
		{call: "POST /integrations/bankpay/webhook", schemes: "bankpayApikey", status: 200, body: always(fields{"id": 1})},
		{call: "POST /ingress/{name}", schemes: "ingress", status: 406, code: "ingress.refused", resources: func(*accountFixture) []string { return []string{"raw"} }},      // without a message
		{call: "POST /ingress/{name}/mime", schemes: "ingress", status: 406, code: "ingress.refused", resources: func(*accountFixture) []string { return []string{"raw"} }}, // without a message
		{call: "POST /auth/register", schemes: "public", status: 201, body: newcomer},
		{call: "POST /auth/token", schemes: "public", status: 200, body: func(e *accountFixture) any { return fields{"email": e.email, "password": userPassword} }},
		{call: "GET /access", schemes: "public", status: 200},
		{call: "POST /auth/password/forgot", schemes: "public", status: 202, body: always(fields{"email": "nobody@example.org"})},
		{call: "POST /auth/password/reset", schemes: "public", status: 422, code: "account.code_invalid", body: always(fields{"token": "x", "password": userPassword})},
		{call: "GET /auth/oidc/start", schemes: "public", status: 403, code: "oidc.missing"},
		{call: "GET /auth/oidc/callback", schemes: "public", status: 403, code: "oidc.missing"},
		{call: "POST /auth/oidc/finish", schemes: "public", status: 400, code: "oidc.failed", body: always(fields{"ticket": "x"})},
		{call: "POST /auth/local", schemes: "public", status: 403, code: "access.client_not_allowed"}, // of profile: dev alone
		{call: "POST /mailboxes", schemes: "public guestSession userToken", status: 201},
		{call: "GET /session", schemes: "guestSession", status: 200},
		{call: "DELETE /session", schemes: "guestSession", status: 204},
	}
}

func openToMailboxes() []accessRule {
	message := func(e *accountFixture) []string { return []string{e.message.ID} }
	attachment := func(e *accountFixture) []string { return []string{e.message.ID, e.message.Attachments[0].ID} }
	part := func(e *accountFixture) []string { return []string{e.message.ID, "0"} }
	another := func(e *accountFixture) []string { // each credential deletes a message of its own
		return []string{e.mail(e.box.box(), apptest.Mail{Raw: mailWithFile}).ID}
	}
	none := []string{"message.not_found", "attachment.not_found"}
	const any = "mailboxToken userToken apiKey"
	return []accessRule{
		{call: "GET /mailboxes/me", schemes: "mailboxToken", status: 200},
		{call: "DELETE /mailboxes/me", schemes: "mailboxToken", status: 204},
		{call: "POST /mailboxes/me/extend", schemes: "mailboxToken", status: 200},
		{call: "GET /mailboxes/me/messages", schemes: "mailboxToken", status: 200},
		{call: "POST /mailboxes/me/messages", schemes: "mailboxToken", status: 201, body: always(fields{"text": "hello"})},
		{call: "GET /mailboxes/me/deliveries", schemes: "mailboxToken", status: 200},
		{call: "GET /mailboxes/me/events", schemes: "mailboxToken", status: 200},
		{call: "GET /mailboxes/me/otp/latest", schemes: "mailboxToken", status: 200},
		{call: "GET /messages/{id}", schemes: any, scope: "messages:read", status: 200, resources: message, unknown: none[:1]},
		{call: "PATCH /messages/{id}", schemes: any, scope: "mailboxes:write", status: 200, resources: message, unknown: none[:1], body: always(fields{"seen": true})},
		{call: "DELETE /messages/{id}", schemes: any, scope: "mailboxes:write", status: 204, resources: another, unknown: none[:1]},
		{call: "POST /messages/{id}/release", schemes: any, scope: "mailboxes:write", status: 202, resources: message, unknown: none[:1], body: always(fields{"to": "ops@company.example"})},
		{call: "GET /messages/{id}/raw", schemes: any, scope: "messages:read", status: 200, resources: message, unknown: none[:1]},
		{call: "GET /messages/{id}/checks", schemes: any, scope: "messages:read", status: 200, resources: message, unknown: none[:1]},
		{call: "GET /messages/{id}/transcript", schemes: any, scope: "messages:read", status: 404, code: "transcript.not_found", resources: message, unknown: none[:1]}, // it is not of the sink
		{call: "GET /messages/{id}/parts", schemes: any, scope: "messages:read", status: 200, resources: message, unknown: none[:1]},
		{call: "GET /messages/{id}/parts/{partId}", schemes: any, scope: "messages:read", status: 200, resources: part, unknown: none[:1]},
		{call: "GET /messages/{id}/attachments/{attId}", schemes: any, scope: "messages:read", status: 200, resources: attachment, unknown: none},
	}
}

func openToUsers() []accessRule {
	domain := func(e *accountFixture) []string { return []string{e.domain.ID} }
	fault := func(e *accountFixture) []string { return []string{e.fault()} }
	filter := func(e *accountFixture) []string { return []string{e.filter.ID} }
	key := func(e *accountFixture) []string { return []string{e.key.Prefix} }
	order := func(e *accountFixture) []string { return []string{e.order.ID} }
	code := func(e *accountFixture) any { return fields{"code": e.app.code(1)} }
	sample := fields{"filter": fields{"extractRegex": "x"}, "sample": fields{"text": "x"}}
	return []accessRule{
		{call: "GET /me", schemes: "userToken", status: 200},
		{call: "PATCH /me", schemes: "userToken", status: 200, body: always(fields{"locale": "vi"})},
		{call: "GET /me/2fa", schemes: "userToken", status: 200},
		{call: "POST /me/2fa/setup", schemes: "userToken", status: 200},
		{call: "POST /me/2fa/confirm", schemes: "userToken", status: 200, body: code, before: func(e *accountFixture) { e.app = e.setUp(e.user.Token) }},
		{call: "DELETE /me/2fa", schemes: "userToken", status: 204, body: code, before: func(e *accountFixture) { e.app, _ = e.twoFactor(e.user.Token) }},
		{call: "DELETE /auth/token", schemes: "userToken", status: 204},
		{call: "DELETE /me", schemes: "userToken", status: 204, body: always(fields{"password": userPassword})},
		{call: "GET /me/export", schemes: "userToken", status: 200},
		{call: "GET /me/wallet/topups", schemes: "userToken", status: 200},
		{call: "GET /me/sessions", schemes: "userToken", status: 200},
		{call: "DELETE /me/sessions", schemes: "userToken", status: 204},
		{call: "DELETE /me/sessions/{id}", schemes: "userToken", status: 204, resources: func(e *accountFixture) []string { return []string{e.anotherSession()} }, unknown: []string{"session.not_found"}},
		{call: "POST /me/password", schemes: "userToken", status: 204, body: always(fields{"current": userPassword, "password": "another password"})},
		{call: "POST /me/email", schemes: "userToken", status: 202, body: func(e *accountFixture) any { return fields{"password": userPassword, "email": "new-" + e.email} }},
		{call: "POST /me/email/confirm", schemes: "userToken", status: 422, code: "account.code_invalid", body: always(fields{"code": "482913"})},
		{call: "GET /me/mailboxes", schemes: "userToken", status: 200},
		{call: "GET /me/events", schemes: "userToken", status: 200},
		{call: "GET /me/messages", schemes: "userToken", status: 200, query: "?q=code&to=a"},
		{call: "GET /me/messages/count", schemes: "userToken", status: 200, query: "?q=code"},
		{call: "PATCH /me/messages", schemes: "userToken", status: 200, body: always(fields{"all": true, "seen": true, "tags": []string{"checkout"}})},
		{call: "DELETE /me/messages", schemes: "userToken", status: 200, body: always(fields{"q": "code"})},
		{call: "GET /me/domains", schemes: "userToken", status: 200},
		{call: "POST /me/domains", schemes: "userToken", status: 201, body: func(e *accountFixture) any { return fields{"domain": "new." + e.domain.Domain} }},
		{call: "DELETE /me/domains/{id}", schemes: "userToken", status: 204, resources: domain, unknown: []string{"domain.not_found"}},
		{call: "POST /me/domains/{id}/verify", schemes: "userToken", status: 200, resources: domain, unknown: []string{"domain.not_found"}},
		{call: "GET /me/faults", schemes: "userToken", status: 200},
		{call: "POST /me/faults", schemes: "userToken", status: 201, body: always(faultBody)},
		{call: "DELETE /me/faults", schemes: "userToken", status: 204},
		{call: "DELETE /me/faults/{id}", schemes: "userToken", status: 204, resources: fault, unknown: []string{"fault.not_found"}},
		{call: "GET /me/transcripts", schemes: "userToken", status: 200},
		{call: "GET /me/filters", schemes: "userToken", status: 200},
		{call: "POST /me/filters", schemes: "userToken", status: 201, body: always(fields{"name": "n", "extractRegex": "x"})},
		{call: "POST /me/filters/test", schemes: "userToken", status: 200, body: always(sample)},
		{call: "PATCH /me/filters/{id}", schemes: "userToken", status: 200, resources: filter, unknown: []string{"filter.not_found"}, body: always(fields{"name": "changed"})},
		{call: "DELETE /me/filters/{id}", schemes: "userToken", status: 204, resources: filter, unknown: []string{"filter.not_found"}},
		{call: "GET /me/wallet", schemes: "userToken", status: 200},
		{call: "GET /me/wallet/transactions", schemes: "userToken", status: 200},
		{call: "POST /me/wallet/topups", schemes: "userToken", status: 201, body: always(topupBody(10_000))},
		{call: "GET /me/wallet/topups/{orderId}", schemes: "userToken", status: 200, resources: order, unknown: []string{"order.not_found"}},
		{call: "GET /me/subscription", schemes: "userToken", status: 200},
		{call: "POST /me/subscription", schemes: "userToken", status: 201, body: always(fields{"planCode": "plus", "interval": "monthly"}), before: func(e *accountFixture) { e.grant(e.user, 1000) }},
		{call: "DELETE /me/subscription", schemes: "userToken", status: 200},
		{call: "GET /me/api-keys", schemes: "userToken", status: 200},
		{call: "POST /me/api-keys", schemes: "userToken", status: 201, body: always(fields{"name": "n", "scopes": allScopes})},
		{call: "DELETE /me/api-keys/{prefix}", schemes: "userToken", status: 204, resources: key, unknown: []string{"key.not_found"}},
	}
}

func openToKeys() []accessRule {
	box := func(e *accountFixture) []string { return []string{e.box.ID} }
	fault := func(e *accountFixture) []string { return []string{e.fault()} }
	none := []string{"mailbox.not_found"}
	return []accessRule{
		{call: "GET /keys/faults", schemes: "apiKey", scope: "mailboxes:write", status: 200},
		{call: "POST /keys/faults", schemes: "apiKey", scope: "mailboxes:write", status: 201, body: always(faultBody)},
		{call: "DELETE /keys/faults", schemes: "apiKey", scope: "mailboxes:write", status: 204},
		{call: "DELETE /keys/faults/{id}", schemes: "apiKey", scope: "mailboxes:write", status: 204, resources: fault, unknown: []string{"fault.not_found"}},
		{call: "GET /keys/transcripts", schemes: "apiKey", scope: "messages:read", status: 200},
		{call: "GET /keys/mailboxes", schemes: "apiKey", scope: "mailboxes:read", status: 200},
		{call: "POST /keys/mailboxes", schemes: "apiKey", scope: "mailboxes:write", status: 201},
		{call: "DELETE /keys/mailboxes/{id}", schemes: "apiKey", scope: "mailboxes:write", status: 204, resources: box, unknown: none},
		{call: "GET /keys/mailboxes/{id}/deliveries", schemes: "apiKey", scope: "messages:read", status: 200, resources: box, unknown: none},
		{call: "GET /keys/mailboxes/{id}/messages", schemes: "apiKey", scope: "messages:read", status: 200, resources: box, unknown: none},
		{call: "GET /keys/messages", schemes: "apiKey", scope: "messages:read", status: 200},
		{call: "GET /keys/messages/count", schemes: "apiKey", scope: "messages:read", status: 200},
		{call: "GET /keys/events", schemes: "apiKey", scope: "messages:read", status: 200},
		{call: "GET /keys/mailboxes/{id}/otp/latest", schemes: "apiKey", scope: "otp:read", status: 200, resources: box, unknown: none},
	}
}

var faultBody = fields{"stage": "rcpt", "reply": "451 4.3.2 Not now"}

// fault creates a fault rule of the account, for a call that deletes it.
func (e *accountFixture) fault() string {
	return createFault(e.service, "/me/faults", e.user.Token, faultBody).ID
}

func always(body fields) func(*accountFixture) any { return func(*accountFixture) any { return body } }

// accountFixture is an account with one of everything, and a guest session.
type accountFixture struct {
	*domainFixture
	email   string
	user    user
	key     developerKey // with the one scope that the call needs, or with all
	narrow  developerKey // with all but that
	box     mailbox
	toStaff string // a message to postmaster
	message message
	domain  privateDomain
	filter  extraction
	hook    hook
	attempt attempt // to deliver to hook
	order   topup
	guest   string
	blocked string // a block made by before
	notice  string // published by before
	payment string // a bank transaction for staff, made by before
	app     authenticator

	newcomers int // who have registered
}

// newAccountFixture makes an account for the tests of a call.
func (w *domainFixture) newAccountFixture(name string, o accessRule) *accountFixture {
	w.t.Helper()
	e := &accountFixture{domainFixture: w, email: name + "@example.org", guest: w.startSession().Key}
	e.user = w.account(e.email)
	scopes := allScopes
	if o.scope != "" {
		scopes = []string{o.scope}
	}
	e.key = w.key(e.user, fields{"scopes": scopes})
	e.narrow = w.key(e.user, fields{"scopes": slices.DeleteFunc(slices.Clone(allScopes), func(s string) bool { return s == o.scope })})
	e.domain = w.claim(e.user, name+".gonebox-tests.net")
	w.prove(e.domain)
	e.filter = w.filter(e.user, fields{"extractRegex": "order [0-9]+"})
	e.order = w.topup(e.user, 10_000)
	e.hook = w.register(e.user, fields{"url": "https://127.0.0.1:8443/", "events": []string{"domain.suspended"}}) // no process listens
	eventually(w.t, "an attempt", func() bool { return len(w.attempts(e.user, e.hook)) > 0 })
	e.attempt = w.attempts(e.user, e.hook)[0]
	e.box = w.create(e.user.Token, nil)
	got := w.mail(e.box.box(), apptest.Mail{Raw: mailWithFile})
	e.message = get[message](w.service, "/messages/"+got.ID, e.box.Token)
	if o.staff {
		e.promote(e.user)
	}
	if o.before != nil {
		o.before(e)
	}
	return e
}

var mailWithFile = crlf(
	"From: Sender <sender@example.org>", "Subject: Your code is 482913", "MIME-Version: 1.0", `Content-Type: multipart/mixed; boundary="b"`, "",
	"--b", "Content-Type: text/plain", "", "Your verification code is 482913.", "--b", "Content-Type: text/plain",
	`Content-Disposition: attachment; filename="notes.txt"`, "", "notes", "--b--",
)

// credentials are one of every kind, by the scheme that accepts it: those of the account, and two that are never valid.
func (e *accountFixture) credentials() map[string]string {
	return map[string]string{
		"public": "", "mailboxToken": e.box.Token, "guestSession": e.guest, "userToken": e.user.Token, "apiKey": e.key.Key,
		"bankpayApikey": "Apikey " + bankSecret, "a mistyped bank secret": "Apikey " + mistyped(bankSecret),
		"ingress": basic("raw", ingressSecret), "a mistyped ingress secret": basic("raw", mistyped(ingressSecret)),
		"a key without the scope": e.narrow.Key, "garbage": "garbage", "a mistyped mailbox token": mistyped(e.box.Token),
		"a mistyped guest key": mistyped(e.guest), "a mistyped user token": mistyped(e.user.Token), "a mistyped key": mistyped(e.key.Key),
	}
}

// accepts reports whether a credential opens the call. A public call accepts any credential that is valid.
func (o accessRule) accepts(name string) bool {
	return o.schemes == "public" || slices.Contains(strings.Fields(o.schemes), name)
}

// send makes the call with resources in the path's parameters.
func (o accessRule) send(e *accountFixture, credential string, things []string) apptest.Response {
	e.t.Helper()
	method, path, _ := strings.Cut(o.call, " ")
	for _, thing := range things {
		begin, end := strings.Index(path, "{"), strings.Index(path, "}")
		path = path[:begin] + url.PathEscape(thing) + path[end+1:]
	}
	var body any
	if o.body != nil {
		body = o.body(e)
	}
	return e.present(method, path+o.query, credential, body)
}

func (o accessRule) ownIDs(e *accountFixture) []string {
	if o.resources == nil {
		return nil
	}
	return o.resources(e)
}

// foreignIDs are identifiers that do not belong to the caller, by the problem code of their answer: another account's, and
// ones that do not exist.
func (o accessRule) foreignIDs(own, others []string) map[string][][]string {
	all := make(map[string][][]string)
	for i, code := range o.unknown {
		unknown := own[i][:len(own[i])-10] + "0000000000"
		for _, thing := range []string{others[i], unknown, "x", "mbx_" + strings.Repeat("0", 26), own[i] + "0"} {
			asked := slices.Clone(own)
			asked[i] = thing
			all[code] = append(all[code], asked)
		}
	}
	if len(o.unknown) > 1 {
		all[o.unknown[0]] = append(all[o.unknown[0]], others)
	}
	return all
}

// Every call with every kind of credential, on own resources and on another account's.
func TestCallsAcceptOnlyTheirCredentialsAndResources(t *testing.T) {
	t.Parallel()
	set := bankSettings()
	maps.Copy(set, settings{
		"plans.free.keys.max": "5", "plans.free.keys.calls": "100000/1m", "plans.free.keys.mailbox_create": "100000/1m", "plans.free.domains.max": "5",
		"plans.free.projects.max": "5", "smtp.projects": "on",
		"plans.free.webhooks.max": "5", "webhooks.allow_networks": "127.0.0.0/8",
		"relay.url": "smtp://" + apptest.NewRelay(t).Addr, "relay.from": "no-reply@box.example", "relay.allow": "ops@company.example",
		"ingress.raw.kind": "raw", "ingress.raw.secret": ingressSecret,
	})
	w := startDomains(t, set)
	d, listed := w.document(), make(map[string]bool)
	for i, o := range accessRules() {
		listed[o.call] = true
		if got := d.schemes(o.call); got != o.schemes {
			t.Errorf("%s takes %q in the document, want %q", o.call, got, o.schemes)
			continue
		}
		t.Run(o.call, func(t *testing.T) {
			ada, bob := w.newAccountFixture(fmt.Sprintf("ada%d", i), o), w.newAccountFixture(fmt.Sprintf("bob%d", i), o)
			o.checkRefused(t, ada, bob)
			o.checkHidden(t, ada, bob)
			for name, credential := range ada.credentials() { // now, since some calls end the credential
				if o.accepts(name) {
					want(t, o.send(ada, credential, o.ownIDs(ada)), o.status, o.code)
				}
			}
			want(t, o.send(bob, bob.credentials()[strings.Fields(o.schemes)[0]], o.ownIDs(bob)), o.status, o.code) // nothing of the above has changed it
		})
	}
	for path, methods := range d.Paths {
		for method := range methods {
			if call := strings.ToUpper(method) + " " + strings.TrimPrefix(path, "/api/v1"); !listed[call] {
				t.Errorf("%s has no row, want one in the openTo… function of its credentials (those of staff in staff_test.go, of webhooks in webhooks_test.go)", call)
			}
		}
	}
}

// schemes are the security schemes that a call declares.
func (d *document) schemes(call string) string {
	method, path, _ := strings.Cut(call, " ")
	o := d.Paths["/api/v1"+path][strings.ToLower(method)]
	switch {
	case o == nil:
		return "no such call"
	case len(o.Security) == 0:
		return "public"
	}
	var all []string
	for _, way := range o.Security {
		if len(way) == 0 {
			all = append(all, "public")
		}
		all = slices.AppendSeq(all, maps.Keys(way))
	}
	return strings.Join(all, " ")
}

// checkRefused checks that credentials which do not open the call are answered alike for own, foreign and unknown resources.
func (o accessRule) checkRefused(t *testing.T, ada, bob *accountFixture) {
	for name, credential := range ada.credentials() {
		status, code := http.StatusUnauthorized, "auth.invalid_token"
		switch {
		case o.accepts(name):
			continue
		case name == "public":
			code = "auth.required"
		case name == "a key without the scope" && o.scope != "":
			status, code = http.StatusForbidden, "auth.scope_missing"
		}
		first := o.send(ada, credential, o.ownIDs(ada))
		if first.Status != status || first.Code() != code {
			t.Errorf("%s with %s: %d %s, want %d %s", o.call, name, first.Status, first.Body, status, code)
		}
		for _, ways := range o.foreignIDs(o.ownIDs(ada), o.ownIDs(bob)) {
			for _, things := range ways {
				same(t, first, o.send(ada, credential, things))
			}
		}
	}
}

// checkHidden checks that foreign resources are answered like unknown ones.
func (o accessRule) checkHidden(t *testing.T, ada, bob *accountFixture) {
	for code, ways := range o.foreignIDs(o.ownIDs(ada), o.ownIDs(bob)) {
		for scheme := range strings.FieldsSeq(o.schemes) {
			first := o.send(ada, ada.credentials()[scheme], ways[0])
			want(t, first, http.StatusNotFound, code)
			for _, things := range ways {
				if a := o.send(ada, ada.credentials()[scheme], things); a.Status != http.StatusNotFound {
					t.Errorf("%s of %v with %s: %d %s, want 404", o.call, things, scheme, a.Status, a.Body)
				} else {
					same(t, first, a)
				}
			}
		}
	}
}

// A foreign domain in a request body is answered like an unknown one.
func TestForeignDomainInBodyLooksUnknown(t *testing.T) {
	t.Parallel()
	w := startDomains(t, settings{"plans.free.keys.calls": "100000/1m"})
	bob := w.account("bob@example.org")
	k := w.key(bob, nil)
	p := w.verified(w.ada, shop)
	for _, c := range []struct {
		path, credential, field, foreign string
		unknown                          []string
		more                             fields
		code                             string
	}{
		{"/mailboxes", "", "domain", shop, []string{"none.gonebox-tests.net"}, nil, "mailbox.domain_unavailable"},
		{"/mailboxes", bob.Token, "domain", shop, []string{"none.gonebox-tests.net"}, nil, "mailbox.domain_unavailable"},
		{"/mailboxes", w.startSession().Key, "domain", shop, []string{"none.gonebox-tests.net"}, nil, "mailbox.domain_unavailable"},
		{"/keys/mailboxes", k.Key, "domain", shop, []string{"none.gonebox-tests.net"}, nil, "mailbox.domain_unavailable"},
		{
			"/me/filters", bob.Token, "domainId", p.ID,
			[]string{"dom_" + strings.Repeat("0", 26), "x"},
			fields{"name": "n", "extractRegex": "x", "scopeType": "domain"},
			"request.invalid",
		},
		{
			"/me/webhooks", bob.Token, "domainId", p.ID,
			[]string{"dom_" + strings.Repeat("0", 26), "x"},
			fields{"url": "https://198.41.0.4/", "events": []string{"message.received"}},
			"request.invalid",
		},
	} {
		params := func(value string) apptest.Response {
			whole := fields{c.field: value}
			maps.Copy(whole, c.more)
			return w.Call(http.MethodPost, c.path, c.credential, whole)
		}
		foreign := params(c.foreign)
		want(t, foreign, 422, c.code)
		for _, unknown := range c.unknown {
			same(t, foreign, params(unknown))
		}
	}
}
