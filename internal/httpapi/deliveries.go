package httpapi

import (
	"context"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/webhook"
)

// Delivery is an attempt to deliver an event as the endpoint's owner sees it.
type Delivery struct {
	ID            id.Delivery  `json:"id" doc:"The identifier of the attempt." example:"dlv_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	EventID       id.Event     `json:"eventId" doc:"The webhook-id that was sent: the same for every attempt." example:"evt_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Event         event.Name   `json:"event" doc:"The name of the event." example:"message.received"`
	Attempt       int          `json:"attempt" doc:"1 for the first attempt."`
	Outcome       string       `json:"outcome" enum:"succeeded,failed" doc:"Whether the endpoint answered 2xx in time."`
	HTTPStatus    *int         `json:"httpStatus" nullable:"true" doc:"The endpoint's response, or null if there was none."`
	Error         *string      `json:"error" nullable:"true" doc:"Why it failed, or null." example:"the endpoint did not answer in time"`
	DurationMS    int64        `json:"durationMs" doc:"How long the attempt took, in milliseconds." example:"84"`
	AttemptedAt   clock.Stamp  `json:"attemptedAt" doc:"When the attempt was made."`
	NextAttemptAt *clock.Stamp `json:"nextAttemptAt" doc:"When it is retried, or null."`
	ResponseBody  string       `json:"responseBody" doc:"The beginning of the endpoint's response, at most 1 KiB." example:"thanks"`
}

func shownDelivery(d *webhook.Delivery) Delivery {
	shown := Delivery{
		ID: d.ID, EventID: d.EventID, Event: d.Event, Attempt: d.Attempt, Outcome: "failed", Error: textOrNull(d.Error),
		DurationMS: d.Duration.Milliseconds(), AttemptedAt: clock.Stamp{Time: d.AttemptedAt}, NextAttemptAt: clock.Optional(d.NextAttemptAt), ResponseBody: d.ResponseBody,
	}
	if d.Succeeded {
		shown.Outcome = "succeeded"
	}
	if d.HTTPStatus != 0 {
		shown.HTTPStatus = &d.HTTPStatus
	}
	return shown
}

func (a *API) listDeliveries(ctx context.Context, in *WebhookPath) (*httpkit.Many[Delivery], error) {
	known, err := in.webhook()
	if err != nil {
		return nil, err
	}
	all, err := a.Webhooks.Deliveries(ctx, from(ctx).account.ID, known)
	if err != nil {
		return nil, err
	}
	shown := make([]Delivery, len(all))
	for i, d := range all {
		shown[i] = shownDelivery(d)
	}
	return httpkit.Page(shown, ""), nil
}

// Sent names an event that was queued for an endpoint.
type Sent struct {
	EventID id.Event `json:"eventId" doc:"The webhook-id to look for among the deliveries." example:"evt_01jzq8w3v5e4t9n2k7m6x0y1dr"`
}

func (a *API) testWebhook(ctx context.Context, in *WebhookPath) (*httpkit.One[Sent], error) {
	known, err := in.webhook()
	if err != nil {
		return nil, err
	}
	ev, err := a.Webhooks.Test(ctx, from(ctx).account.ID, known)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(Sent{ev}), nil
}

func (a *API) redeliver(ctx context.Context, in *struct {
	WebhookPath
	DeliveryID string `path:"deliveryId" doc:"The id of one of its deliveries."`
},
) (*httpkit.One[Sent], error) {
	known, err := in.webhook()
	if err != nil {
		return nil, err
	}
	d, err := id.Parse[id.Delivery](in.DeliveryID)
	if err != nil {
		d = "" // matches no delivery
	}
	ev, err := a.Webhooks.Redeliver(ctx, from(ctx).account.ID, known, d)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(Sent{ev}), nil
}
