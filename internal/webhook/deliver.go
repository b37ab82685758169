package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/job"
)

// Run delivers the events in the queue until ctx ends, and then waits for the attempts in progress, up to the Grace of
// the queue. Processes that share a database may all call it; each event is claimed by one of them.
func (s *Service) Run(ctx context.Context) { s.Queue.Run(ctx, s.work) }

// work makes one attempt to deliver an event, outside of any transaction. It implements job.Work. It returns nil if the
// attempt could not be made for an internal reason: the job then runs again later, and the endpoint's failures do not
// count it.
func (s *Service) work(ctx context.Context, j job.Job) job.Settle {
	var p payload
	if err := json.Unmarshal([]byte(j.Payload), &p); err != nil {
		s.Logger.Error("decoding a delivery failed", "job", j.ID, "error", err)
		// No later attempt could decode it either.
		return settleAs(job.Bury(s.Clock.Now().Add(s.Policy.PendingMax)))
	}
	e, err := get(ctx, s.DB, id.Webhook(j.Lane))
	switch {
	case err != nil:
		s.Logger.Error("reading a webhook failed", "webhook", j.Lane, "error", err)
		return nil
	case e == nil: // deleted
		return settleAs(job.Done())
	case e.accountDisabled, e.Paused() && !p.Once:
		return s.hold(ctx, e, j)
	}
	d, err := s.attempt(ctx, e, j, p)
	if ctx.Err() != nil { // canceled by the shutdown: not a failure of the endpoint
		return nil
	}
	if err != nil {
		s.Logger.Error("signing a delivery failed", "webhook", e.ID, "error", err)
		return nil
	}
	return func(ctx context.Context, tx *db.Tx) (job.Verdict, error) { return s.settleTx(ctx, tx, j, p, d) }
}

// settleAs returns a job.Settle that only returns v.
func settleAs(v job.Verdict) job.Settle {
	return func(context.Context, *db.Tx) (job.Verdict, error) { return v, nil }
}

// hold holds a delivery for an endpoint that is paused or whose account is disabled, until it is resumed or enabled. It
// also holds the other deliveries for that endpoint in the queue, which would otherwise each be claimed first. If there
// are many, HoldLane may leave some, which are held when they are claimed.
func (s *Service) hold(ctx context.Context, e *Endpoint, j job.Job) job.Settle {
	if _, err := s.Queue.HoldLane(ctx, e.lane(), s.Policy.PendingMax); err != nil {
		s.Logger.Error("holding deliveries failed", "webhook", e.ID, "error", err)
	}
	return settleAs(job.Hold(j.CreatedAt.Add(s.Policy.PendingMax)))
}

// attempt sends an event to an endpoint and returns the result. The error is internal, such as a secret that cannot be
// decrypted, and never due to the endpoint.
func (s *Service) attempt(ctx context.Context, e *Endpoint, j job.Job, p payload) (*Delivery, error) {
	now := s.Clock.Now()
	secrets, err := s.secrets(e, now)
	if err != nil {
		return nil, err
	}
	d := &Delivery{ID: id.New[id.Delivery](now), EventID: p.Event, Event: p.Name, Attempt: j.Attempt, AttemptedAt: now}
	ctx, cancel := context.WithTimeout(ctx, s.Policy.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(p.Body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": s.Policy.UserAgent, "Webhook-Id": string(p.Event),
		"Webhook-Timestamp": timestamp(now), "Webhook-Signature": signatures(p.Event, now, p.Body, secrets...),
	} {
		r.Header.Set(name, value)
	}
	response, err := send(s.client(e), r)
	if err != nil {
		d.Error = s.describeError(err)
	} else {
		s.readResponse(d, response)
	}
	d.Duration = max(0, s.Clock.Now().Sub(now))
	if s.Observe != nil {
		s.Observe(d.Succeeded, d.Duration)
	}
	return d, nil
}

// client returns the HTTP client for an endpoint. Without the profile dev, s.Local is nil, and the stricter rules of
// s.Client also apply to endpoints that were created under that profile.
func (s *Service) client(e *Endpoint) *http.Client {
	if e.local && s.Local != nil {
		return s.Local.Client
	}
	return s.Client
}

// readResponse stores a response in d and closes its body. Only the status decides whether the attempt succeeded: after a
// 2xx the receiver has accepted the event, even if the body is incomplete.
func (s *Service) readResponse(d *Delivery, response *http.Response) {
	defer response.Body.Close()
	var body bytes.Buffer
	_, _ = io.CopyN(&body, response.Body, int64(s.Policy.ResponseKept))
	_, _ = io.Copy(io.Discard, response.Body)   // to its end, which Client bounds, so that the connection can be reused
	d.ResponseBody = db.Storable(body.String()) // PostgreSQL stores neither NUL nor invalid UTF-8
	d.HTTPStatus = response.StatusCode
	d.Succeeded = response.StatusCode/100 == 2
	d.gone = response.StatusCode == http.StatusGone
	d.retryAfter = retryAfter(response.Header.Get("Retry-After"), s.Clock.Now())
	if !d.Succeeded {
		d.Error = fmt.Sprintf("the endpoint answered %d", d.HTTPStatus)
	}
}

// settleTx stores an attempt and decides whether its delivery is done, retried or held. It locks the row of the endpoint,
// so that concurrent attempts update its counters one after the other.
func (s *Service) settleTx(ctx context.Context, tx *db.Tx, j job.Job, p payload, d *Delivery) (job.Verdict, error) {
	e, err := getForUpdateTx(ctx, tx, id.Webhook(j.Lane))
	if err != nil || e == nil {
		return job.Done(), err // deleted meanwhile
	}
	before := e.Paused()
	v := s.decide(e, j, p, d)
	if err := insertDeliveryTx(ctx, tx, e.ID, e.attempts, p, d); err != nil {
		return v, err
	}
	e.attempts++
	if err := saveAttemptTx(ctx, tx, e); err != nil || before || !e.Paused() || s.onPaused == nil {
		return v, err
	}
	return v, s.onPaused(ctx, tx, e)
}

// decide updates the counters and the state of an endpoint after an attempt, and returns what happens to the delivery. It
// sets d.NextAttemptAt if the delivery is retried. e was read after the attempt, since it may have been paused meanwhile.
func (s *Service) decide(e *Endpoint, j job.Job, p payload, d *Delivery) job.Verdict {
	// The database keeps microseconds.
	now := s.Clock.Now().Truncate(time.Microsecond)
	d.NextAttemptAt = time.Time{}
	if d.Succeeded {
		e.FailureCount, e.LastDeliveryAt = 0, now
		return job.Done()
	}
	e.FailureCount++
	switch {
	case e.Paused():
	case d.gone:
		e.PausedReason = Gone
	case e.FailureCount >= s.Policy.PauseAfter:
		e.PausedReason = Failures
	}
	switch {
	// An attempt that the owner requested is not retried: the owner sees the result.
	case p.Once:
		return job.Done()
	case d.Attempt > len(s.Policy.Retries):
		return job.Bury(now.Add(s.Policy.PendingMax))
	case e.Paused():
		return job.Hold(j.CreatedAt.Add(s.Policy.PendingMax))
	}
	d.NextAttemptAt = now.Add(s.retryDelay(d))
	return job.Retry(d.NextAttemptAt)
}
