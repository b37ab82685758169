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

// formatTime formats a time as mail.tm does: in whole seconds, with a numeric zone.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05-07:00") }

// domainResource is a domain in the format of mail.tm.
type domainResource struct {
	jsonLD
	ID        string `json:"id"`
	Domain    string `json:"domain"`
	IsActive  bool   `json:"isActive"`
	IsPrivate bool   `json:"isPrivate"`
	CreatedAt string `json:"createdAt"`
	UpdatedAt string `json:"updatedAt"`
}

// domains returns the domains in which accounts can be created. The identifier of a domain is its name. topLevel is passed
// to newJSONLD.
func (a *API) domains(r *http.Request, topLevel bool) (all []domainResource) {
	for _, d := range a.Domains.Public() {
		created := formatTime(a.started)
		all = append(all, domainResource{
			jsonLD: newJSONLD(r, "Domain", "/domains/"+d.Name, topLevel), ID: d.Name, Domain: d.Name, IsActive: true, CreatedAt: created, UpdatedAt: created,
		})
	}
	return all
}

// listDomains responds with a page of the domains in which accounts can be created.
func (a *API) listDomains(w http.ResponseWriter, r *http.Request) error {
	page, err := parsePage(r)
	if err != nil {
		return err
	}
	all := a.domains(r, false)
	from := min((page-1)*pageLen, len(all))
	return respondList(w, r, "Domain", "/domains", page, len(all), all[from:min(from+pageLen, len(all))])
}

// getDomain responds with the domain that the path names. Error: route.not_found.
func (a *API) getDomain(w http.ResponseWriter, r *http.Request) error {
	for _, d := range a.domains(r, true) {
		if d.ID == r.PathValue("id") {
			return respond(w, r, http.StatusOK, d)
		}
	}
	return problem.New(problem.RouteNotFound)
}

// accountQuota is the quota of an account in octets that clients see. It has no effect: the limits of the plan apply.
const accountQuota = 40_000_000

// accountResource is a mailbox in the format that mail.tm has for an account.
type accountResource struct {
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

// respondAccount responds with a mailbox as an account. iri is the @id of the resource.
func (a *API) respondAccount(w http.ResponseWriter, r *http.Request, status int, m *mailbox.Mailbox, iri string) error {
	used, err := a.Messages.Size(r.Context(), m.ID)
	if err != nil {
		return err
	}
	const usedMax = 1<<31 - 1 // some clients decode it into a signed 32-bit integer
	return respond(w, r, status, accountResource{
		jsonLD: newJSONLD(r, "Account", iri, true), ID: m.ID, Address: m.Address, Quota: accountQuota, Used: min(used, usedMax),
		CreatedAt: formatTime(m.CreatedAt), UpdatedAt: formatTime(m.CreatedAt),
	})
}

// credentials is the body of a request for a new account or a token. Decoding does not validate it.
type credentials struct {
	Address  string `json:"address"`
	Password string `json:"password"`
}

const (
	// The messages are those of mail.tm's validator, and the codes are the identifiers that it has for its constraints.
	notBlank        = "This value should not be blank."
	notBlankCode    = "c1051bb4-d103-4f74-8988-acbcafc7fdc3"
	passwordMax     = 200
	passwordTooLong = "This value is too long. It should have 200 characters or less."
	tooLongCode     = "d94b19cc-114f-4f44-9cc4-4138e80a87b9"
	notAddressCode  = "bd79c0ab-ddba-46cc-a703-a7a4b08de310"
	usedCode        = "23bd9dbf-6b9b-41cd-a99e-4844bcf3077f"
)

// validate checks the credentials of a new account and returns the mailbox to create, still without its password. domains
// are the domains in which accounts can be created. Error: validationError.
func (c credentials) validate(domains []string) (p mailbox.CreateParams, err error) {
	at := strings.LastIndexByte(c.Address, '@')
	switch {
	case c.Address == "":
		return p, validationError{"address", notBlank, notBlankCode}
	case c.Password == "":
		return p, validationError{"password", notBlank, notBlankCode}
	case utf8.RuneCountInString(c.Password) > passwordMax:
		return p, validationError{"password", passwordTooLong, tooLongCode}
	case at < 1 || at == len(c.Address)-1:
		return p, validationError{"address", "This value is not a valid email address.", notAddressCode}
	}
	address := strings.ToLower(c.Address)
	if p = (mailbox.CreateParams{LocalPart: address[:at], Domain: address[at+1:]}); !slices.Contains(domains, p.Domain) {
		return p, validationError{"address", "The domain is not one of GET /domains.", notAddressCode}
	}
	return p, nil
}

// createAccount creates a mailbox with a password. The call is counted against its rate limit before the password is
// hashed, since hashing costs more than everything else.
func (a *API) createAccount(w http.ResponseWriter, r *http.Request) error {
	if a.GuestsOff {
		return problem.Detailf(problem.AccessClosed, "this service does not create mailboxes without an account")
	}
	var c credentials
	if err := a.decodeBody(r, &c); err != nil {
		return err
	}
	var domains []string
	for _, d := range a.Domains.Public() {
		domains = append(domains, d.Name)
	}
	params, err := c.validate(domains)
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
	if params.Password, err = a.Accounts.HashPassword(r.Context(), slot, c.Password); err != nil {
		return err
	}
	params.TTL, params.Lasting = a.TTL, true
	m, err := a.Mailboxes.Create(r.Context(), params, mailbox.Owner{})
	if err != nil {
		return translateCreateError(err)
	}
	return a.respondAccount(w, r, http.StatusCreated, m, "/accounts/"+string(m.ID))
}

// translateCreateError translates an error of mailbox.Service.Create into a validationError with the message that mail.tm
// has for it. Errors without such a message are returned unchanged.
func translateCreateError(err error) error {
	switch {
	case problem.Has(err, problem.MailboxLocalPartTaken):
		return validationError{"address", "This value is already used.", usedCode}
	case problem.Has(err, problem.MailboxLocalPartReserved):
		return validationError{"address", "This value is reserved.", usedCode}
	case problem.Has(err, problem.MailboxDomainUnavailable):
		return validationError{"address", "The domain is not one of GET /domains.", notAddressCode}
	case problem.Has(err, problem.RequestInvalid):
		return validationError{"address", "This value is not valid: the part before the @ must be 1 to 64 of a-z 0-9 . _ - and begin with a letter or digit, without a dot at its end or two in a row.", notAddressCode}
	}
	return err
}

// reserveHash reserves a slot in the queue of password hashes, counts the call against the limit of its address, and waits
// for its turn. The caller must release the slot. The sign-ins of package httpapi use the same queue. Error: rate.limited.
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

// countSignIn counts a sign-in against the rate limits of a mail address: first the limit for sign-ins from this client,
// then the one for sign-ins from everywhere. Error: rate.limited.
func (a *API) countSignIn(r *http.Request, address string) error {
	ctx := r.Context()
	if d := a.kit.Count(ctx, ratelimit.SignIn, address+" "+httpkit.AddrIdentity(ctx), a.kit.Limit(ratelimit.SignIn)); !d.OK {
		return d.Problem()
	}
	if d := a.kit.Count(ctx, ratelimit.SignInAccount, address, a.kit.Limit(ratelimit.SignInAccount)); !d.OK {
		return d.Problem()
	}
	return nil
}

// tokenResource is the body of the response with a token. IRI is "" in plain JSON.
type tokenResource struct {
	IRI   string     `json:"@id,omitempty"`
	ID    id.Mailbox `json:"id"`
	Token string     `json:"token"`
}

// createToken responds with a new token of the mailbox that has the given address and password. An unknown address takes
// as much time as a wrong password, so that neither the response nor its time reveals which addresses exist. Errors:
// auth.invalid_credentials, rate.limited.
func (a *API) createToken(w http.ResponseWriter, r *http.Request) error {
	var c credentials
	if err := a.decodeBody(r, &c); err != nil {
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
	if err := a.countSignIn(r, address); err != nil {
		return err
	}
	m, hash, err := a.Mailboxes.Password(r.Context(), address)
	if err != nil {
		return err
	}
	matches, err := a.Accounts.CheckPassword(r.Context(), slot, hash, c.Password)
	if err != nil {
		return err
	}
	if !matches {
		return problem.New(problem.AuthInvalidCredentials)
	}
	if m, err = a.Mailboxes.Use(r.Context(), m, a.TTL); err != nil {
		return err
	}
	token, err := a.Mailboxes.LastingToken(r.Context(), m)
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusOK, tokenResource{newJSONLD(r, "Account", "/accounts/"+string(m.ID), false).IRI, m.ID, token})
}

// me responds with the account of the token.
func (a *API) me(w http.ResponseWriter, r *http.Request, m *mailbox.Mailbox) error {
	return a.respondAccount(w, r, http.StatusOK, m, "/me")
}

// getAccount responds with the account of the token. Any other account counts as not found. Error: route.not_found.
func (a *API) getAccount(w http.ResponseWriter, r *http.Request, m *mailbox.Mailbox) error {
	if r.PathValue("id") != string(m.ID) {
		return problem.New(problem.RouteNotFound)
	}
	return a.respondAccount(w, r, http.StatusOK, m, "/accounts/"+string(m.ID))
}

// deleteAccount destroys the mailbox of the token. Any other account counts as not found. Error: route.not_found.
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
