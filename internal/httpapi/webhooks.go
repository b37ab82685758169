package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/resource"
	"github.com/gonebox/gonebox/internal/webhook"
)

// webhooks registers the group webhooks (docs/spec/webhooks.md).
func (a *API) webhooks() {
	const group = "webhooks"
	with := func(method, id, path, summary string, status int, codes ...problem.Code) httpkit.Operation {
		return httpkit.Operation{
			ID: id, Method: method, Path: "/me/webhooks" + path, Summary: summary, Status: status, Codes: codes,
			Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
		}
	}
	list := with(http.MethodGet, "list-webhooks", "", "List the webhook endpoints", 200)
	list.Text = "Newest first, without their secrets."
	register(a, group, list, a.listWebhooks)
	create := with(http.MethodPost, "create-webhook", "", "Register a webhook endpoint", 201, problem.WebhookURLForbidden, problem.WebhookLimitReached, problem.AccountUnconfirmed)
	create.Text = "The signing secret is shown only in this answer. A `webhook.ping` is sent at once. Deliveries follow Standard Webhooks."
	register(a, group, create, a.createWebhook)
	update := with(http.MethodPatch, "update-webhook", "/{id}", "Change, pause or resume a webhook endpoint", 200, problem.WebhookNotFound, problem.WebhookURLForbidden)
	update.Text = "Omitted fields stay as they are. Events wait for a paused endpoint, up to three days. Resuming it resets its failure count and delivers them."
	register(a, group, update, a.updateWebhook)
	remove := with(http.MethodDelete, "delete-webhook", "/{id}", "Delete a webhook endpoint", 204, problem.WebhookNotFound)
	remove.Text = "Its undelivered events are deleted too."
	register(a, group, remove, a.deleteWebhook)
	history := with(http.MethodGet, "list-webhook-deliveries", "/{id}/deliveries", "List the last delivery attempts", 200, problem.WebhookNotFound)
	history.Text = "The last 100, newest first, on one page."
	register(a, group, history, a.listDeliveries)
	rotate := with(http.MethodPost, "rotate-webhook-secret", "/{id}/rotate-secret", "Give a webhook endpoint a new secret", 200, problem.WebhookNotFound)
	rotate.Text = "The secret is shown only in this answer. For 24 hours deliveries are signed with both the new and the previous secret."
	register(a, group, rotate, a.rotateSecret)
	test := with(http.MethodPost, "test-webhook", "/{id}/test", "Send a ping to a webhook endpoint", 202, problem.WebhookNotFound)
	test.Text = "It is sent once, now, even if the endpoint is paused. The attempt is listed among its deliveries."
	register(a, group, test, a.testWebhook)
	again := with(http.MethodPost, "redeliver-webhook", "/{id}/deliveries/{deliveryId}/redeliver", "Send an event again", 202,
		problem.WebhookNotFound, problem.WebhookDeliveryNotFound)
	again.Text = "The event of one of the last 100 attempts is sent once more, now, with the same `webhook-id` and body, even if the endpoint is paused."
	register(a, group, again, a.redeliver)
}

func shownWebhook(e *webhook.Endpoint, secret string) resource.Webhook {
	shown := e.Resource()
	shown.Secret = secret
	return shown
}

func (a *API) listWebhooks(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[resource.Webhook], error) {
	last, err := httpkit.Before[id.Webhook](*in)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(*in)
	all, err := a.Webhooks.List(ctx, from(ctx).account.ID, last, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(e *webhook.Endpoint) string { return string(e.ID) })
	shown := make([]resource.Webhook, len(all))
	for i, e := range all {
		shown[i] = shownWebhook(e, "")
	}
	return httpkit.Page(shown, next), nil
}

// webhookCreation is the body that registers an endpoint.
type webhookCreation struct {
	_        struct{}     `additionalProperties:"false"`
	URL      string       `json:"url" minLength:"1" maxLength:"2048" doc:"https on port 443 or 8443, resolving to a public address." example:"https://hooks.example.org/gonebox"`
	Events   []event.Name `json:"events" minItems:"1" uniqueItems:"true" nullable:"false" enum:"message.received,otp.extracted,mailbox.created,mailbox.expired,domain.verified,domain.suspended,webhook.ping" doc:"The events that the endpoint receives."`
	DomainID *string      `json:"domainId,omitempty" nullable:"true" maxLength:"64" doc:"One of your private domains, to get only its events; all events if absent."`
}

func (c webhookCreation) params() (p webhook.Params, err error) {
	p = webhook.Params{URL: c.URL, Events: c.Events}
	if c.DomainID != nil {
		if p.Domain, err = id.Parse[id.Domain](*c.DomainID); err != nil {
			err = problem.Invalid("/domainId", "is not one of your private domains")
		}
	}
	return p, err
}

func (a *API) createWebhook(ctx context.Context, in *struct{ Body webhookCreation }) (*httpkit.One[resource.Webhook], error) {
	if err := a.Accounts.CheckConfirmed(from(ctx).account); err != nil {
		return nil, err
	}
	params, err := in.Body.params()
	if err != nil {
		return nil, err
	}
	params.Local = httpkit.IsLocal(ctx)
	e, secret, err := a.Webhooks.Create(ctx, from(ctx).account.ID, params)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownWebhook(e, secret)), nil
}

// WebhookPath is the path of operations on one endpoint.
type WebhookPath struct {
	ID string `path:"id" doc:"The webhook endpoint's id."`
}

// webhook returns the id in the path. A malformed id gets the same response as an unknown one.
func (p WebhookPath) webhook() (id.Webhook, error) {
	w, err := id.Parse[id.Webhook](p.ID)
	if err != nil {
		return "", problem.New(problem.WebhookNotFound)
	}
	return w, nil
}

// webhookUpdate is the body that changes an endpoint.
type webhookUpdate struct {
	_      struct{}     `additionalProperties:"false"`
	URL    *string      `json:"url,omitempty" minLength:"1" maxLength:"2048" doc:"Where events are sent." example:"https://hooks.example.org/gonebox"`
	Events []event.Name `json:"events,omitempty" minItems:"1" uniqueItems:"true" enum:"message.received,otp.extracted,mailbox.created,mailbox.expired,domain.verified,domain.suspended,webhook.ping" doc:"The events that the endpoint receives."`
	Status *string      `json:"status,omitempty" enum:"active,paused" doc:"Paused endpoints receive nothing until they are resumed."`
}

func (a *API) updateWebhook(ctx context.Context, in *struct {
	WebhookPath
	Body webhookUpdate
},
) (*httpkit.One[resource.Webhook], error) {
	known, err := in.webhook()
	if err != nil {
		return nil, err
	}
	c := webhook.Change{URL: in.Body.URL, Events: in.Body.Events, Local: httpkit.IsLocal(ctx)}
	if in.Body.Status != nil {
		paused := *in.Body.Status != statusActive
		c.Paused = &paused
	}
	e, err := a.Webhooks.Update(ctx, from(ctx).account.ID, known, c)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownWebhook(e, "")), nil
}

func (a *API) deleteWebhook(ctx context.Context, in *WebhookPath) (*struct{}, error) {
	known, err := in.webhook()
	if err != nil {
		return nil, err
	}
	return nil, a.Webhooks.Delete(ctx, from(ctx).account.ID, known)
}

func (a *API) rotateSecret(ctx context.Context, in *WebhookPath) (*httpkit.One[resource.Webhook], error) {
	known, err := in.webhook()
	if err != nil {
		return nil, err
	}
	e, secret, err := a.Webhooks.RotateSecret(ctx, from(ctx).account.ID, known)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownWebhook(e, secret)), nil
}
