package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/ingress"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// ingress registers the operations that take mail from providers (docs/spec/ingress.md).
func (a *API) ingress() {
	o := httpkit.Operation{
		ID: "receive-mail", Method: http.MethodPost, Path: "/ingress/{name}", Summary: "Receive a mail", Status: 200,
		Text: "For mail providers and workers of the operator, in the form of the kind of the ingress: a message, a form, or the JSON of Postmark or SNS. The mail is on stable storage when the response has the status 200. " +
			"Mail that is sent again within a day is stored once. After 503 it must be sent again, and after 406 its sender must be told.",
		Auth:   []httpkit.Scheme{ingressKey},
		Codes:  []problem.Code{problem.IngressNotFound, problem.IngressRefused, problem.RateLimited},
		Upload: &httpkit.UploadForm{Media: "message/rfc822", Also: []string{"multipart/form-data", "application/x-www-form-urlencoded"}},
	}
	register(a, "integrations", o, a.receiveMail)
	o.ID, o.Path = "receive-mime-mail", "/ingress/{name}/mime"
	o.Summary, o.Text = "Receive a mail of a route", "The same as without `/mime`, by which Mailgun recognises that a route wants whole messages."
	register(a, "integrations", o, a.receiveMail)
}

// ingressCall is a request to an ingress.
type ingressCall struct {
	Name string `path:"name" maxLength:"32" doc:"The name of the ingress." example:"cloudflare"`
	httpkit.Upload
}

const (
	mailTime        = 2 * time.Minute // to receive a large mail, and to store it
	unauthorizedMax = 1 << 20         // octets that are read of a request that is not authenticated
)

func (a *API) receiveMail(ctx context.Context, in *ingressCall) (*httpkit.One[ingress.Receipt], error) {
	receipt, err := a.received(ctx, in)
	if err != nil {
		return nil, a.countForbidden(ctx, err)
	}
	return httpkit.Single(receipt), nil
}

// received reads a mail and stores it.
func (a *API) received(ctx context.Context, in *ingressCall) (none ingress.Receipt, err error) {
	r := &ingress.Request{Header: in.Header(), Client: httpkit.ClientAddr(ctx)}
	max, err := a.Ingress.Admit(in.Name, r)
	if err != nil {
		in.Drop(unauthorizedMax)
		return none, err
	}
	a.kit.ExtendBody(ctx, mailTime)
	body, lease, err := a.kit.ReadOctets(ctx, in.Upload, max, a.Ingress.MemoryFor)
	switch {
	case problem.Has(err, problem.RequestTooLarge):
		in.Drop(max) // a client that sends all of it before it reads must get the response
		return a.Ingress.Refuse(ctx, in.Name, "552 5.3.4 The message is too large")
	case problem.Has(err, problem.RequestInvalid):
		return none, a.Ingress.BrokeOff()
	case err != nil:
		return none, err
	}
	defer lease.Release()
	return a.Ingress.Receive(ctx, in.Name, r, body, lease)
}

// countForbidden counts a request that was not authenticated against the limit of its address, so that secrets cannot be guessed. Mail
// counts against no limit of the API: providers send that of many clients from few addresses.
func (a *API) countForbidden(ctx context.Context, err error) error {
	if !problem.Has(err, problem.AuthRequired) && !problem.Has(err, problem.AuthInvalidToken) && !problem.Has(err, problem.IngressNotFound) {
		return err
	}
	httpkit.Challenge(ctx, `Basic realm="ingress"`)
	if d := a.kit.Count(ctx, ratelimit.Other, httpkit.AddrIdentity(ctx), a.kit.Limit(ratelimit.Other)); !d.OK {
		httpkit.ShowLimit(ctx, d)
		return d.Problem()
	}
	return err
}

// staffIngress registers the operation that shows the ingresses.
func (a *API) staffIngress() {
	registerStaff(a, httpkit.Operation{
		ID: "list-ingresses", Method: http.MethodGet, Path: "/staff/ingresses", Summary: "List the ingresses", Status: 200,
		Text: "The configured ones, with the last mail and the last error of each.",
	}, a.listIngresses)
}

// StaffIngress is an ingress as staff see it.
type StaffIngress struct {
	Name        string       `json:"name" doc:"The name in the configuration." example:"cloudflare"`
	Kind        string       `json:"kind" doc:"The kind." example:"cloudflare"`
	Mails       int64        `json:"mails" doc:"How many mails were stored, each counted once for all its recipients." example:"1204"`
	LastMailAt  *clock.Stamp `json:"lastMailAt" doc:"When the last mail was stored, or null."`
	LastErrorAt *clock.Stamp `json:"lastErrorAt" doc:"When the last mail was refused or deferred, or null."`
	LastError   *string      `json:"lastError" doc:"Why, or null." example:"550 5.1.1 There is no such mailbox here"`
}

func (a *API) listIngresses(ctx context.Context, _ *struct{}) (*httpkit.Many[StaffIngress], error) {
	states, err := a.Ingress.States(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]StaffIngress, len(states))
	for i, s := range states {
		all[i] = StaffIngress{Name: s.Name, Kind: s.Kind, Mails: s.Mails, LastMailAt: clock.Optional(s.LastMailAt), LastErrorAt: clock.Optional(s.LastErrorAt)}
		if s.LastError != "" {
			all[i].LastError = &s.LastError
		}
	}
	return httpkit.Page(all, ""), nil
}
