package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/resource"
)

// domains registers the group domains (docs/spec/domains.md#private-domains).
func (a *API) domains() {
	const group = "domains"
	with := func(method, id, path, summary string, status int, codes ...problem.Code) httpkit.Operation {
		return httpkit.Operation{
			ID: id, Method: method, Path: "/me/domains" + path, Summary: summary, Status: status, Codes: codes,
			Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
		}
	}
	list := with(http.MethodGet, "list-private-domains", "", "List the private domains", 200)
	list.Text = "Newest first."
	register(a, group, list, a.listPrivateDomains)
	create := with(http.MethodPost, "create-private-domain", "", "Add a private domain", 201,
		problem.DomainNotAllowed, problem.DomainTaken, problem.DomainLimitReached, problem.AccountUnconfirmed)
	create.Text = "It is pending until it is verified: add its `records` to DNS and call verify. Internationalized names are accepted as U-labels or A-labels and kept as A-labels."
	register(a, group, create, a.createPrivateDomain)
	remove := with(http.MethodDelete, "delete-private-domain", "/{id}", "Delete a private domain with its mailboxes", 204, problem.DomainNotFound)
	remove.Text = "Its mailboxes are destroyed before the response is sent."
	register(a, group, remove, a.deletePrivateDomain)
	verify := with(http.MethodPost, "verify-private-domain", "/{id}/verify", "Verify a private domain by its DNS records", 200,
		problem.DomainNotFound, problem.DomainVerificationFailed)
	verify.Text = "Looks up both records now. If one is wrong, `errors` says what was found instead. A suspended domain becomes verified again."
	register(a, group, verify, a.verifyPrivateDomain)
}

func (a *API) listPrivateDomains(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[resource.PrivateDomain], error) {
	last, err := httpkit.Before[id.Domain](*in)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(*in)
	all, err := a.Domains.List(ctx, from(ctx).account.ID, last, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(p *domain.Private) string { return string(p.ID) })
	shown := make([]resource.PrivateDomain, len(all))
	for i, p := range all {
		shown[i] = a.Domains.Resource(p)
	}
	return httpkit.Page(shown, next), nil
}

// domainClaim is the body that adds a private domain.
type domainClaim struct {
	_      struct{} `additionalProperties:"false"`
	Domain string   `json:"domain" minLength:"1" maxLength:"253" example:"mail.example.org" doc:"The domain name; international names are accepted in either form."`
}

func (a *API) createPrivateDomain(ctx context.Context, in *struct{ Body domainClaim }) (*httpkit.One[resource.PrivateDomain], error) {
	if err := a.Accounts.CheckConfirmed(from(ctx).account); err != nil {
		return nil, err
	}
	p, err := a.Domains.Claim(ctx, from(ctx).account.ID, in.Body.Domain)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(a.Domains.Resource(p)), nil
}

// DomainPath is the path of operations on one private domain.
type DomainPath struct {
	ID string `path:"id" doc:"The private domain's id."`
}

// domain returns the id in the path. A malformed id gets the same response as an unknown one.
func (p DomainPath) domain() (id.Domain, error) {
	d, err := id.Parse[id.Domain](p.ID)
	if err != nil {
		return "", problem.New(problem.DomainNotFound)
	}
	return d, nil
}

func (a *API) deletePrivateDomain(ctx context.Context, in *DomainPath) (*struct{}, error) {
	d, err := in.domain()
	if err != nil {
		return nil, err
	}
	return nil, a.Domains.Delete(ctx, from(ctx).account.ID, d, a.Mailboxes)
}

func (a *API) verifyPrivateDomain(ctx context.Context, in *DomainPath) (*httpkit.One[resource.PrivateDomain], error) {
	d, err := in.domain()
	if err != nil {
		return nil, err
	}
	p, err := a.Domains.Verify(ctx, from(ctx).account.ID, d, a.Mailboxes)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(a.Domains.Resource(p)), nil
}
