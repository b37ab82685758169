package mailtm

import (
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// stamp formats a time as mail.tm does: in whole seconds, with a numeric zone.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05-07:00") }

// shownDomain is a domain as mail.tm shows it.
type shownDomain struct {
	jsonLD
	ID        string `json:"id"`
	Domain    string `json:"domain"`
	IsActive  bool   `json:"isActive"`
	IsPrivate bool   `json:"isPrivate"`
	CreatedAt string `json:"createdAt"`
	UpdatedAt string `json:"updatedAt"`
}

// domains returns the domains on which accounts can be created. Their identifier is their name. outer is that of link.
func (a *API) domains(r *http.Request, outer bool) (all []shownDomain) {
	for _, d := range a.Domains.Public() {
		at := stamp(a.started)
		all = append(all, shownDomain{
			jsonLD: newJSONLD(r, "Domain", "/domains/"+d.Name, outer), ID: d.Name, Domain: d.Name, IsActive: true, CreatedAt: at, UpdatedAt: at,
		})
	}
	return all
}

func (a *API) listDomains(w http.ResponseWriter, r *http.Request) error {
	page, err := parsePage(r)
	if err != nil {
		return err
	}
	all := a.domains(r, false)
	from := min((page-1)*pageLen, len(all))
	return respondList(w, r, "Domain", "/domains", page, len(all), all[from:min(from+pageLen, len(all))])
}

// getDomain answers with a domain by its name. Error: route.not_found.
func (a *API) getDomain(w http.ResponseWriter, r *http.Request) error {
	for _, d := range a.domains(r, true) {
		if d.ID == r.PathValue("id") {
			return respond(w, r, http.StatusOK, d)
		}
	}
	return problem.New(problem.RouteNotFound)
}

// quota is the size of an account in octets that clients see. Nothing depends on it: the plan's own bounds apply.
const quota = 40_000_000

// shownAccount is a mailbox as mail.tm shows an account.
type shownAccount struct {
	jsonLD
	ID         id.Mailbox `json:"id"`
	Address    string     `json:"address"`
	Quota      int        `json:"quota"`
	Used       int64      `json:"used"`
	IsDisabled bool       `json:"isDisabled"`
	IsDeleted  bool       `json:"isDeleted"`
	CreatedAt  string     `json:"createdAt"`
	UpdatedAt  string     `json:"updatedAt"`
}

// answerAccount answers with a mailbox as an account. iri is the path that it is shown under.
func (a *API) answerAccount(w http.ResponseWriter, r *http.Request, status int, m *mailbox.Mailbox, iri string) error {
	used, err := a.Messages.Size(r.Context(), m.ID)
	if err != nil {
		return err
	}
	const usedMax = 1<<31 - 1 // clients decode a signed 32-bit number
	return respond(w, r, status, shownAccount{
		jsonLD: newJSONLD(r, "Account", iri, true), ID: m.ID, Address: m.Address, Quota: quota, Used: min(used, usedMax),
		CreatedAt: stamp(m.CreatedAt), UpdatedAt: stamp(m.CreatedAt),
	})
}

// credentials is the body that creates an account or asks for a token. Neither is checked by decoding.
type credentials struct {
	Address  string `json:"address"`
	Password string `json:"password"`
}

const (
	// The texts are those of mail.tm's validator, and the codes the identifiers of its constraints.
	notBlank        = "This value should not be blank."
	notBlankCode    = "c1051bb4-d103-4f74-8988-acbcafc7fdc3"
	passwordMax     = 200
	passwordTooLong = "This value is too long. It should have 200 characters or less."
	tooLongCode     = "d94b19cc-114f-4f44-9cc4-4138e80a87b9"
	notAddressCode  = "bd79c0ab-ddba-46cc-a703-a7a4b08de310"
	usedCode        = "23bd9dbf-6b9b-41cd-a99e-4844bcf3077f"
)

// wish parses the address of a new account into the mailbox to create. domains are those that may be chosen. Error:
// validationError.
func (c credentials) wish(domains []string) (w mailbox.Wish, err error) {
	at := strings.LastIndexByte(c.Address, '@')
	switch {
	case c.Address == "":
		return w, validationError{"address", notBlank, notBlankCode}
	case c.Password == "":
		return w, validationError{"password", notBlank, notBlankCode}
	case utf8.RuneCountInString(c.Password) > passwordMax:
		return w, validationError{"password", passwordTooLong, tooLongCode}
	case at < 1 || at == len(c.Address)-1:
		return w, validationError{"address", "This value is not a valid email address.", notAddressCode}
	}
	address := strings.ToLower(c.Address)
	if w = (mailbox.Wish{LocalPart: address[:at], Domain: address[at+1:]}); !slices.Contains(domains, w.Domain) {
		return w, validationError{"address", "The domain is not one of GET /domains.", notAddressCode}
	}
	return w, nil
}

// createAccount creates a mailbox with a password. The call is counted before the password is hashed, since a hash
// costs more than all else.
func (a *API) createAccount(w http.ResponseWriter, r *http.Request) error {
	if a.GuestsOff {
		return problem.Detailf(problem.AccessClosed, "this service does not create mailboxes without an account")
	}
	var c credentials
	if err := a.decodeBody(w, r, &c); err != nil {
		return err
	}
	var names []string
	for _, d := range a.Domains.Public() {
		names = append(names, d.Name)
	}
	wish, err := c.wish(names)
	if err != nil {
		return err
	}
	if d := a.kit.Count(r.Context(), ratelimit.MailboxCreate, httpkit.AddrIdentity(r.Context()), a.kit.Limit(ratelimit.MailboxCreate)); !d.OK {
		return d.Problem()
	}
	slot, err := a.reserveHash(r)
	if err != nil {
		return err
	}
	defer slot.Release()
	if wish.Password, err = a.Accounts.HashPassword(r.Context(), slot, c.Password); err != nil {
		return err
	}
	wish.TTL, wish.Lasting = a.TTL, true
	m, err := a.Mailboxes.Create(r.Context(), wish, mailbox.Owner{})
	if err != nil {
		return creationFault(err)
	}
	return a.answerAccount(w, r, http.StatusCreated, m, "/accounts/"+string(m.ID))
}

// creationFault translates an error of creating an account into the texts that mail.tm uses. Other errors are returned
// as they are.
func creationFault(err error) error {
	switch {
	case problem.Has(err, problem.MailboxLocalPartTaken):
		return validationError{"address", "This value is already used.", usedCode}
	case problem.Has(err, problem.MailboxLocalPartReserved):
		return validationError{"address", "This value is reserved.", usedCode}
	case problem.Has(err, problem.MailboxDomainUnavailable):
		return validationError{"address", "The domain is not one of GET /domains.", notAddressCode}
	case problem.Has(err, problem.RequestInvalid):
		return validationError{"address", "This value is not valid: the part before the @ must be 1 to 64 of a-z 0-9 . _ - and begin with a letter or digit.", notAddressCode}
	}
	return err
}

// reserveHash reserves a slot in the queue of password hashes, counts the call against the limit of its address, and waits for
// its turn. The caller releases the slot. Hashing shares its queue with sign-ins of package httpapi. Error: rate.limited.
func (a *API) reserveHash(r *http.Request) (*account.HashSlot, error) {
	ctx := r.Context()
	slot, err := a.Accounts.ReserveHash(httpkit.AddrIdentity(ctx))
	if err != nil {
		return nil, err
	}
	if _, err := a.kit.AwaitTurn(ctx, ratelimit.SignInAddress, slot); err != nil {
		return nil, err
	}
	return slot, nil
}

// allow counts a sign-in against the limits of a mail address: first the limit for sign-ins from this client, then the one for sign-ins
// from everywhere. Error: rate.limited.
func (a *API) allow(r *http.Request, address string) error {
	ctx := r.Context()
	if d := a.kit.Count(ctx, ratelimit.SignIn, address+" "+httpkit.AddrIdentity(ctx), a.kit.Limit(ratelimit.SignIn)); !d.OK {
		return d.Problem()
	}
	if d := a.kit.Count(ctx, ratelimit.SignInAccount, address, a.kit.Limit(ratelimit.SignInAccount)); !d.OK {
		return d.Problem()
	}
	return nil
}

// shownToken is the answer with a token. In plain JSON there is no IRI.
type shownToken struct {
	IRI   string     `json:"@id,omitempty"`
	ID    id.Mailbox `json:"id"`
	Token string     `json:"token"`
}

// token answers with a new token of a mailbox, for its address and password. An unknown address costs as much time as a
// wrong password, so that neither the answer nor its time reveals which addresses exist. Errors:
// auth.invalid_credentials, rate.limited.
func (a *API) token(w http.ResponseWriter, r *http.Request) error {
	var c credentials
	if err := a.decodeBody(w, r, &c); err != nil {
		return err
	}
	address := strings.ToLower(c.Address)
	const addressMax = 320
	if address == "" || c.Password == "" || len(address) > addressMax || utf8.RuneCountInString(c.Password) > passwordMax {
		return problem.New(problem.AuthInvalidCredentials)
	}
	slot, err := a.reserveHash(r)
	if err != nil {
		return err
	}
	defer slot.Release()
	if err := a.allow(r, address); err != nil {
		return err
	}
	m, hash, err := a.Mailboxes.Password(r.Context(), address)
	if err != nil {
		return err
	}
	right, err := a.Accounts.CheckPassword(r.Context(), slot, hash, c.Password)
	if err != nil {
		return err
	}
	if !right {
		return problem.New(problem.AuthInvalidCredentials)
	}
	if m, err = a.Mailboxes.Use(r.Context(), m, a.TTL); err != nil {
		return err
	}
	credential, err := a.Mailboxes.LastingToken(r.Context(), m)
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusOK, shownToken{newJSONLD(r, "Account", "/accounts/"+string(m.ID), false).IRI, m.ID, credential})
}

func (a *API) me(w http.ResponseWriter, r *http.Request, m *mailbox.Mailbox) error {
	return a.answerAccount(w, r, http.StatusOK, m, "/me")
}

// getAccount answers with the token's own account; any other is not found.
func (a *API) getAccount(w http.ResponseWriter, r *http.Request, m *mailbox.Mailbox) error {
	if r.PathValue("id") != string(m.ID) {
		return problem.New(problem.RouteNotFound)
	}
	return a.answerAccount(w, r, http.StatusOK, m, "/accounts/"+string(m.ID))
}

// deleteAccount destroys the token's own mailbox.
func (a *API) deleteAccount(w http.ResponseWriter, r *http.Request, m *mailbox.Mailbox) error {
	if r.PathValue("id") != string(m.ID) {
		return problem.New(problem.RouteNotFound)
	}
	if err := a.Mailboxes.Destroy(r.Context(), m.ID); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
