package blackbox_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// tenant is an account or a guest, and all that it should see.
type tenant struct {
	*sharedService
	name    string
	user    user   // of an account
	guest   string // the key of a guest
	locale  string
	boxes   map[string]mailbox  // by id
	through map[string]string   // the prefix of the key that a mailbox's token carries, by the mailbox's id
	mails   map[string][]string // the subjects in a mailbox, by its id
	keys    map[string]developerKey
	filters map[string]extraction
	domains map[string]privateDomain
	ended   []string // credentials that were good once
}

// sharedService is a service that two accounts and a guest use at the same time; both accounts want the same two
// domains.
type sharedService struct {
	*domainFixture
	rt       *rapid.T
	accounts [2]*tenant
	guest    *tenant
	names    []string
	mailed   int
}

// Whatever two accounts and a guest do, each sees exactly its own resources, and cannot reach another's.
func TestTenantsAreIsolated(t *testing.T) {
	t.Parallel()
	w := startDomains(t, settings{
		"plans.free.keys.max": "50", "plans.free.keys.calls": "100000/1m", "plans.free.keys.mailbox_create": "100000/1m",
		"plans.free.mailboxes.max": "90", "plans.free.filters.max": "50", "plans.free.domains.max": "5",
	})
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		n := w.newSharedService(rt, runs)
		for range rapid.IntRange(3, 8).Draw(rt, "steps") {
			n.step()
			n.listings()
		}
		n.contents()
	})
}

// newSharedService begins a run: the service is kept, so each run uses names of its own.
func (w *domainFixture) newSharedService(rt *rapid.T, number int) *sharedService {
	n := &sharedService{domainFixture: w, rt: rt}
	for i := range 2 {
		n.names = append(n.names, fmt.Sprintf("d%d-%d.gonebox-tests.net", number, i))
		n.accounts[i] = n.tenant(fmt.Sprintf("tenant%d-%d", number, i))
		n.accounts[i].user, n.accounts[i].locale = w.account(n.accounts[i].name+"@example.org"), "en"
	}
	n.guest = n.tenant("guest")
	n.guest.guest = w.startSession().Key
	for _, a := range append(n.accounts[:], n.guest) {
		a.makeMailbox()
		a.mailToMailbox()
	}
	for _, a := range n.accounts {
		a.makeKey()
		a.makeFilter()
		a.claimDomain()
		a.verifyDomain()
	}
	return n
}

func (n *sharedService) tenant(name string) *tenant {
	return &tenant{
		sharedService: n, name: name, boxes: map[string]mailbox{}, through: map[string]string{}, mails: map[string][]string{}, keys: map[string]developerKey{},
		filters: map[string]extraction{}, domains: map[string]privateDomain{},
	}
}

// step makes one tenant do something.
func (n *sharedService) step() {
	i := rapid.IntRange(0, 1).Draw(n.rt, "who")
	a, other := n.accounts[i], n.accounts[1-i]
	steps := map[string]func(){
		"make a mailbox": a.makeMailbox, "make a mailbox with a key": a.makeKeyMailbox, "destroy a mailbox": a.destroyMailbox,
		"make a key": a.makeKey, "revoke a key": a.revokeKey, "make a filter": a.makeFilter, "change a filter": a.changeFilter,
		"delete a filter": a.deleteFilter, "claim a domain": a.claimDomain, "verify a domain": a.verifyDomain,
		"delete a domain": a.deleteDomain, "mail to a mailbox": a.mailToMailbox, "mail to a domain": a.mailToDomain,
		"change the locale": a.changeLocale, "sign in again": a.signInAgain, "the guest makes a mailbox": n.guest.makeMailbox,
		"trespass": func() { a.trespass(other) }, "trespass on the guest": func() { a.trespass(n.guest) },
	}
	steps[rapid.SampledFrom(slices.Sorted(maps.Keys(steps))).Draw(n.rt, "step")]()
}

// answers makes a call, checks its status, and decodes its answer.
func (n *sharedService) answers(status int, code, method, path, credential string, body, into any) {
	n.t.Helper()
	a := n.Call(method, path, credential, body)
	if a.Status != status || a.Code() != code {
		n.rt.Fatalf("%s %s %v: %d %s, want %d %q", method, path, body, a.Status, a.Body, status, code)
	}
	if into != nil {
		a.Into(n.t, into)
	}
}

// pick draws one of a tenant's resources.
func pick[T any](rt *rapid.T, all map[string]T, what string) (thing T, ok bool) {
	if len(all) == 0 {
		return thing, false
	}
	ids := slices.Sorted(maps.Keys(all))
	return all[ids[rapid.IntRange(0, len(ids)-1).Draw(rt, what)]], true
}

func (a *tenant) credential() string {
	if a.guest != "" && a.user.Token == "" {
		return a.guest
	}
	return a.user.Token
}

func (a *tenant) makeMailbox() {
	params := fields{}
	if p, ok := pick(a.rt, a.domains, "domain"); ok && p.Status == "verified" {
		params["domain"] = p.Domain
	}
	var m mailbox
	a.answers(201, "", http.MethodPost, "/mailboxes", a.credential(), params, &m)
	a.boxes[m.ID] = m
}

func (a *tenant) makeKeyMailbox() {
	if k, ok := pick(a.rt, a.keys, "key"); ok {
		var m mailbox
		a.answers(201, "", http.MethodPost, "/keys/mailboxes", k.Key, nil, &m)
		a.boxes[m.ID], a.through[m.ID] = m, k.Prefix
	}
}

func (a *tenant) destroyMailbox() {
	m, ok := pick(a.rt, a.boxes, "mailbox")
	if !ok {
		return
	}
	if k, ok := pick(a.rt, a.keys, "key"); ok {
		a.answers(204, "", http.MethodDelete, "/keys/mailboxes/"+m.ID, k.Key, nil, nil)
	} else {
		a.answers(204, "", http.MethodDelete, "/mailboxes/me", m.Token, nil, nil)
	}
	a.forget(m)
}

func (a *tenant) forget(m mailbox) {
	delete(a.boxes, m.ID)
	delete(a.mails, m.ID)
	a.ended = append(a.ended, m.Token)
}

func (a *tenant) makeKey() {
	var k developerKey
	a.answers(201, "", http.MethodPost, "/me/api-keys", a.user.Token, fields{"name": a.name, "scopes": allScopes}, &k)
	a.keys[k.Prefix] = k
}

func (a *tenant) revokeKey() {
	if k, ok := pick(a.rt, a.keys, "key"); ok {
		a.answers(204, "", http.MethodDelete, "/me/api-keys/"+k.Prefix, a.user.Token, nil, nil)
		delete(a.keys, k.Prefix)
		a.ended = append(a.ended, k.Key)
		for _, m := range get[[]mailbox](a.service, "/me/mailboxes?limit=100", a.user.Token) {
			if a.through[m.ID] == k.Prefix { // its token ended with the key
				a.ended = append(a.ended, a.boxes[m.ID].Token)
				a.boxes[m.ID] = m
				delete(a.through, m.ID)
			}
		}
	}
}

func (a *tenant) makeFilter() {
	params := fields{"name": a.name, "extractRegex": "code of " + a.name}
	if p, ok := pick(a.rt, a.domains, "domain"); ok {
		params["scopeType"], params["domainId"] = "domain", p.ID
	}
	var f extraction
	a.answers(201, "", http.MethodPost, "/me/filters", a.user.Token, params, &f)
	a.filters[f.ID] = f
}

func (a *tenant) changeFilter() {
	if f, ok := pick(a.rt, a.filters, "filter"); ok {
		change := fields{"priority": rapid.IntRange(1, 9999).Draw(a.rt, "priority"), "status": "disabled"}
		a.answers(200, "", http.MethodPatch, "/me/filters/"+f.ID, a.user.Token, change, &f)
		a.filters[f.ID] = f
	}
}

func (a *tenant) deleteFilter() {
	if f, ok := pick(a.rt, a.filters, "filter"); ok {
		a.answers(204, "", http.MethodDelete, "/me/filters/"+f.ID, a.user.Token, nil, nil)
		delete(a.filters, f.ID)
	}
}

// holder is the tenant that has verified a domain, nil if there is none.
func (n *sharedService) holder(name string) *tenant {
	for _, a := range n.accounts {
		if p, ok := a.has(name); ok && p.Status == "verified" {
			return a
		}
	}
	return nil
}

func (a *tenant) has(name string) (privateDomain, bool) {
	for _, p := range a.domains {
		if p.Domain == name {
			return p, true
		}
	}
	return privateDomain{}, false
}

func (a *tenant) claimDomain() {
	name := rapid.SampledFrom(a.names).Draw(a.rt, "name")
	if _, mine := a.has(name); mine || a.holder(name) != nil {
		a.answers(409, "domain.taken", http.MethodPost, "/me/domains", a.user.Token, fields{"domain": name}, nil)
		return
	}
	var p privateDomain
	a.answers(201, "", http.MethodPost, "/me/domains", a.user.Token, fields{"domain": name}, &p)
	a.domains[p.ID] = p
}

func (a *tenant) verifyDomain() {
	p, ok := pick(a.rt, a.domains, "domain")
	if !ok {
		return
	}
	a.prove(p)
	path := "/me/domains/" + p.ID + "/verify"
	if h := a.holder(p.Domain); h != nil && h != a {
		a.answers(422, "domain.verification_failed", http.MethodPost, path, a.user.Token, nil, nil)
		return
	}
	a.answers(200, "", http.MethodPost, path, a.user.Token, nil, &p)
	a.domains[p.ID] = p
}

func (a *tenant) deleteDomain() {
	p, ok := pick(a.rt, a.domains, "domain")
	if !ok {
		return
	}
	a.answers(204, "", http.MethodDelete, "/me/domains/"+p.ID, a.user.Token, nil, nil)
	delete(a.domains, p.ID)
	for _, m := range a.boxes {
		if m.Domain == p.Domain {
			a.forget(m)
		}
	}
}

func (a *tenant) mailToMailbox() {
	if m, ok := pick(a.rt, a.boxes, "mailbox"); ok {
		a.mails[m.ID] = append(a.mails[m.ID], a.sendTo(m.Address))
	}
}

// sendTo sends a unique mail and returns its subject.
func (n *sharedService) sendTo(to string) string {
	n.mailed++
	subject := fmt.Sprintf("mail %d to %s", n.mailed, to)
	if err := n.TrySend(apptest.Mail{To: []string{to}, Subject: subject, Text: "Your verification code is 482913."}); err != nil {
		n.rt.Fatalf("mail to %s: %v", to, err)
	}
	return subject
}

// mailToDomain sends mail to a domain: it must reach its holder alone, and may open a mailbox there.
func (a *tenant) mailToDomain() {
	name := rapid.SampledFrom(a.names).Draw(a.rt, "name")
	to := rapid.SampledFrom([]string{"ann", "bob"}).Draw(a.rt, "local part") + "@" + name
	h := a.holder(name)
	if h == nil {
		if err := a.TrySend(apptest.Mail{To: []string{to}}); err == nil {
			a.rt.Fatalf("mail to the unverified domain %s was accepted, want an error", to)
		}
		return
	}
	subject := a.sendTo(to)
	m, ok := a.domainFixture.boxes(h.user)[to]
	if !ok {
		a.rt.Fatalf("%s has no mailbox %s, want the mail to open it", h.name, to)
	}
	if _, known := h.boxes[m.ID]; !known {
		h.boxes[m.ID] = m
	}
	h.mails[m.ID] = append(h.mails[m.ID], subject)
}

func (a *tenant) changeLocale() {
	a.locale = rapid.SampledFrom([]string{"en", "vi", "pt-BR"}).Draw(a.rt, "locale")
	a.answers(200, "", http.MethodPatch, "/me", a.user.Token, fields{"locale": a.locale}, nil)
}

func (a *tenant) signInAgain() {
	old := a.user.Token
	a.answers(200, "", http.MethodPost, "/auth/token", "", fields{"email": a.name + "@example.org", "password": userPassword}, &a.user)
	a.answers(204, "", http.MethodDelete, "/auth/token", old, nil, nil)
	a.ended = append(a.ended, old)
}

// trespass makes a tenant call with another's identifiers, which must look unknown. That nothing changed shows when the
// other's resources are checked next.
func (a *tenant) trespass(other *tenant) {
	a.reachForMailbox(other)
	a.reachForMessages(other)
	a.reachForDomain(other)
	a.reachForFilter(other)
	a.reachForKey(other)
	for _, m := range other.boxes {
		a.opensNothing(m.Token, "/me", "/me/mailboxes", "/keys/mailboxes", "/session")
	}
	a.opensNothing(other.credential(), "/mailboxes/me", "/keys/mailboxes")
	for _, credential := range other.ended {
		a.opensNothing(credential, "/me", "/mailboxes/me", "/keys/mailboxes", "/session")
	}
}

func (a *tenant) opensNothing(credential string, paths ...string) {
	for _, path := range paths {
		a.answers(401, "auth.invalid_token", http.MethodGet, path, credential, nil, nil)
	}
}

func (a *tenant) reachForMailbox(other *tenant) {
	m, ok := pick(a.rt, other.boxes, "mailbox")
	if !ok {
		return
	}
	if k, ok := pick(a.rt, a.keys, "key"); ok {
		a.answers(404, "mailbox.not_found", http.MethodGet, "/keys/mailboxes/"+m.ID+"/messages", k.Key, nil, nil)
		a.answers(404, "mailbox.not_found", http.MethodGet, "/keys/mailboxes/"+m.ID+"/otp/latest", k.Key, nil, nil)
		a.answers(404, "mailbox.not_found", http.MethodDelete, "/keys/mailboxes/"+m.ID, k.Key, nil, nil)
	}
	code := "mailbox.local_part_taken"
	if _, private := other.has(m.Domain); private {
		code = "mailbox.domain_unavailable"
	}
	status := map[string]int{"mailbox.local_part_taken": 409, "mailbox.domain_unavailable": 422}[code]
	a.answers(status, code, http.MethodPost, "/mailboxes", a.user.Token, fields{"domain": m.Domain, "localPart": m.LocalPart}, nil)
}

func (a *tenant) reachForMessages(other *tenant) {
	theirs, ok := pick(a.rt, other.boxes, "their mailbox")
	mine, too := pick(a.rt, a.boxes, "my mailbox")
	if !ok || !too {
		return
	}
	for _, m := range get[[]summary](a.service, "/mailboxes/me/messages?limit=100", theirs.Token) {
		a.answers(404, "message.not_found", http.MethodGet, "/messages/"+m.ID, mine.Token, nil, nil)
		a.answers(404, "message.not_found", http.MethodGet, "/messages/"+m.ID+"/raw", mine.Token, nil, nil)
		a.answers(404, "message.not_found", http.MethodGet, "/messages/"+m.ID+"/checks", mine.Token, nil, nil)
		a.answers(404, "message.not_found", http.MethodPatch, "/messages/"+m.ID, mine.Token, fields{"seen": true}, nil)
		a.answers(404, "message.not_found", http.MethodDelete, "/messages/"+m.ID, mine.Token, nil, nil)
	}
}

func (a *tenant) reachForDomain(other *tenant) {
	p, ok := pick(a.rt, other.domains, "domain")
	if !ok {
		return
	}
	path := "/me/domains/" + p.ID
	a.answers(404, "domain.not_found", http.MethodDelete, path, a.user.Token, nil, nil)
	a.answers(404, "domain.not_found", http.MethodPost, path+"/verify", a.user.Token, nil, nil)
	params := fields{"name": "n", "extractRegex": "x", "scopeType": "domain", "domainId": p.ID}
	a.answers(422, "request.invalid", http.MethodPost, "/me/filters", a.user.Token, params, nil)
	if p.Status == "verified" {
		a.answers(422, "mailbox.domain_unavailable", http.MethodPost, "/mailboxes", a.user.Token, fields{"domain": p.Domain}, nil)
	}
}

func (a *tenant) reachForFilter(other *tenant) {
	if f, ok := pick(a.rt, other.filters, "filter"); ok {
		path := "/me/filters/" + f.ID
		a.answers(404, "filter.not_found", http.MethodPatch, path, a.user.Token, fields{"name": "mine", "status": "disabled"}, nil)
		a.answers(404, "filter.not_found", http.MethodDelete, path, a.user.Token, nil, nil)
	}
}

func (a *tenant) reachForKey(other *tenant) {
	theirs, ok := pick(a.rt, other.keys, "their key")
	if !ok {
		return
	}
	a.answers(404, "key.not_found", http.MethodDelete, "/me/api-keys/"+theirs.Prefix, a.user.Token, nil, nil)
	a.opensNothing(theirs.Key, "/me", "/me/mailboxes", "/mailboxes/me")
	if mine, ok := pick(a.rt, a.keys, "my key"); ok { // their name with my secret
		a.opensNothing("x_"+theirs.Prefix+strings.TrimPrefix(mine.Key, "x_"+mine.Prefix), "/keys/mailboxes")
	}
}

// listings checks that every tenant sees its own resources and no others.
func (n *sharedService) listings() {
	for _, a := range n.accounts {
		lists(a, "/me/mailboxes?limit=100", a.user.Token, func(m mailbox) string { return m.ID }, slices.Collect(maps.Keys(a.boxes)))
		lists(a, "/me/domains", a.user.Token, domainLine, lines(a.domains, domainLine))
		lists(a, "/me/filters", a.user.Token, filterLine, lines(a.filters, filterLine))
		lists(a, "/me/api-keys", a.user.Token, keyLine, lines(a.keys, keyLine))
		if k, ok := pick(n.rt, a.keys, "key"); ok {
			lists(a, "/keys/mailboxes?limit=100", k.Key, func(m mailbox) string { return m.ID }, slices.Collect(maps.Keys(a.boxes)))
		}
		if got := get[account](n.service, "/me", a.user.Token); got.ID != a.user.Account.ID || got.Locale != a.locale {
			n.rt.Fatalf("%s is %+v, want ID %v and Locale %v", a.name, got, a.user.Account.ID, a.locale)
		}
	}
	var boxes []string
	for _, m := range get[session](n.service, "/session", n.guest.guest).Mailboxes {
		boxes = append(boxes, m.ID)
	}
	n.alike("the guest's mailboxes", boxes, slices.Collect(maps.Keys(n.guest.boxes)))
}

func domainLine(p privateDomain) string { return p.ID + " " + p.Domain + " " + p.Status }

func filterLine(f extraction) string {
	return fmt.Sprint(f.ID, " ", f.Name, " ", f.ExtractRegex, " ", f.Priority, " ", f.Status, " ", text(f.DomainID))
}

func keyLine(k developerKey) string { return k.Prefix + " " + k.Name }

func lines[T any](things map[string]T, line func(T) string) (all []string) {
	for _, thing := range things {
		all = append(all, line(thing))
	}
	return all
}

// lists checks one list of an account.
func lists[T any](a *tenant, path, credential string, line func(T) string, want []string) {
	var got []string
	for _, thing := range get[[]T](a.service, path, credential) {
		got = append(got, line(thing))
	}
	a.alike(path+" of "+a.name, got, want)
}

func (n *sharedService) alike(what string, got, want []string) {
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		n.rt.Fatalf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// contents checks that every mailbox holds exactly the mail that was sent to it.
func (n *sharedService) contents() {
	for _, a := range append(n.accounts[:], n.guest) {
		for _, m := range a.boxes {
			var subjects []string
			for _, got := range get[[]summary](n.service, "/mailboxes/me/messages?limit=100", m.Token) {
				if got.MailboxID != m.ID {
					n.rt.Fatalf("%s shows %+v, want MailboxID %v", m.Address, got, m.ID)
				}
				subjects = append(subjects, got.Subject)
			}
			n.alike(m.Address, subjects, a.mails[m.ID])
		}
	}
}
