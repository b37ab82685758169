package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/job"
)

// payload is the payload of a job, stored as JSON: everything that a delivery needs, so that every attempt sends the
// same octets. After an upgrade jobs of the previous version are in the queue, so fields keep their names.
type payload struct {
	Event id.Event        `json:"event"`
	Name  event.Name      `json:"name"`
	Once  bool            `json:"once,omitempty"` // requested by the owner: attempted once, even if the endpoint is paused
	Body  json.RawMessage `json:"body"`

	// The message that the event is about, "" for none. The stored payload is erased with it.
	Mailbox id.Mailbox `json:"mailbox,omitempty"`
	Message id.Message `json:"message,omitempty"`
}

// newPayload encodes an event and gives it a new identifier.
func newPayload(ev event.Event) (payload, error) {
	body, err := json.Marshal(ev.Body())
	if err != nil {
		return payload{}, fmt.Errorf("encode the event %s: %w", ev.Data.Name(), err)
	}
	p := payload{Event: id.New[id.Event](ev.At), Name: ev.Data.Name(), Body: body}
	switch data := ev.Data.(type) {
	case event.MessageReceived:
		p.Mailbox, p.Message = data.MailboxID, data.ID
	case event.OTPExtracted:
		p.Mailbox, p.Message = data.MailboxID, data.MessageID
	}
	return p, nil
}

// text returns the payload in its stored form.
func (p payload) text() (string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode the payload of %s: %w", p.Event, err)
	}
	return string(text), nil
}

// Outbox enqueues events for subscribed webhook endpoints. Other domains use it through interfaces of their own. It is
// safe for concurrent use.
type Outbox struct {
	queue      *job.Queue
	pendingMax time.Duration
}

// NewOutbox returns the Outbox of a queue, which is also that of the Service. Events for a paused endpoint expire
// after pendingMax (Policy.PendingMax).
func NewOutbox(q *job.Queue, pendingMax time.Duration) *Outbox {
	return &Outbox{queue: q, pendingMax: pendingMax}
}

// PublishTx enqueues events in the transaction of the change: they are delivered if and only if it commits. It costs
// one read for all accounts of the events (512 accounts at a time), and one row for each event and subscribed
// endpoint. Events without an account have no endpoints. Its errors are those of the database, after which the
// transaction must be rolled back.
func (o *Outbox) PublishTx(ctx context.Context, tx *db.Tx, events ...event.Event) error {
	if len(events) == 0 {
		return nil
	}
	subscriptions, err := subscriptionsTx(ctx, tx, events)
	if err != nil || len(subscriptions) == 0 {
		return err
	}
	var jobs []job.New
	for _, ev := range events {
		deliveries, err := o.jobs(ev, subscriptions[ev.Account])
		if err != nil {
			return err
		}
		jobs = append(jobs, deliveries...)
	}
	return o.queue.EnqueueTx(ctx, tx, jobs...)
}

// jobs returns the deliveries of an event: one for each subscribed endpoint, all with the same body, which is encoded
// only if there is one. Those for paused endpoints are held from the start.
func (o *Outbox) jobs(ev event.Event, subscriptions []*Endpoint) (jobs []job.New, err error) {
	var text string
	for _, e := range subscriptions {
		if !e.subscribesTo(ev) {
			continue
		}
		if text == "" {
			p, err := newPayload(ev)
			if err != nil {
				return nil, err
			}
			if text, err = p.text(); err != nil {
				return nil, err
			}
		}
		j := job.New{Lane: e.lane(), Payload: text}
		if e.holdsDeliveries() {
			j.HeldFor = o.pendingMax
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}
