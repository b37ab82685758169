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

// work makes one attempt, outside of any transaction, and implements job.Work: it returns nil if the attempt could not
// be made, so that the job is run again later without counting as a failure of the endpoint.
func (s *Service) work(ctx context.Context, j job.Job) job.Settle {
	var p payload
	if err := json.Unmarshal([]byte(j.Payload), &p); err != nil {
		s.Logger.Error("decoding a delivery failed", "job", j.ID, "error", err)
		// No later attempt could decode it either.
		return settled(job.Bury(s.Clock.Now().Add(s.Policy.PendingMax)))
	}
	e, err := get(ctx, s.DB, id.Webhook(j.Lane))
	switch {
	case err != nil:
		s.Logger.Error("reading a webhook failed", "webhook", j.Lane, "error", err)
		return nil
	case e == nil: // deleted
		return settled(job.Done())
	case e.shut, e.Paused() && !p.Once:
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

// settled returns an outcome that needs nothing of the database.
func settled(v job.Verdict) job.Settle {
	return func(context.Context, *db.Tx) (job.Verdict, error) { return v, nil }
}

// hold holds a delivery for an endpoint that is paused or whose account is disabled, with all other deliveries for it:
// otherwise each one that was enqueued before the pause would be claimed once. HoldLane may leave some of many; they
// are held when they are claimed.
func (s *Service) hold(ctx context.Context, e *Endpoint, j job.Job) job.Settle {
	if _, err := s.Queue.HoldLane(ctx, e.lane(), s.Policy.PendingMax); err != nil {
		s.Logger.Error("holding deliveries failed", "webhook", e.ID, "error", err)
	}
	return settled(job.Hold(j.CreatedAt.Add(s.Policy.PendingMax)))
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
	answer, err := s.client(e).Do(r)
	if err != nil {
		d.Error = s.failure(err)
	} else {
		s.readAnswer(d, answer)
	}
	d.Duration = max(0, s.Clock.Now().Sub(now))
	if s.Observe != nil {
		s.Observe(d.Succeeded, d.Duration)
	}
	return d, nil
}

// client returns the HTTP client for an endpoint. An endpoint of the profile dev is subject to the public rules again
// once the service runs without that profile.
func (s *Service) client(e *Endpoint) *http.Client {
	if e.local && s.Local != nil {
		return s.Local.Client
	}
	return s.Client
}

// readAnswer records a response. Only its status counts: a body that breaks off after a 2xx does not matter, since the
// receiver has accepted the event. It closes the body.
func (s *Service) readAnswer(d *Delivery, answer *http.Response) {
	defer answer.Body.Close()
	var kept bytes.Buffer
	_, _ = io.CopyN(&kept, answer.Body, int64(s.Policy.AnswerKept))
	_, _ = io.Copy(io.Discard, answer.Body) // to its end, which Client bounds, so that the connection can be reused
	d.Answer = db.Storable(kept.String())   // PostgreSQL stores neither NUL nor invalid UTF-8
	d.HTTPStatus = answer.StatusCode
	d.Succeeded = answer.StatusCode/100 == 2
	d.gone = answer.StatusCode == http.StatusGone
	d.retryAfter = retryAfter(answer.Header.Get("Retry-After"), s.Clock.Now())
	if !d.Succeeded {
		d.Error = fmt.Sprintf("the endpoint answered %d", d.HTTPStatus)
	}
}

// settleTx stores an attempt and decides whether its delivery is done, retried or held. The row of the endpoint is
// locked, so that concurrent attempts count one after the other.
func (s *Service) settleTx(ctx context.Context, tx *db.Tx, j job.Job, p payload, d *Delivery) (job.Verdict, error) {
	e, err := getForUpdateTx(ctx, tx, id.Webhook(j.Lane))
	if err != nil || e == nil {
		return job.Done(), err // deleted meanwhile
	}
	v := s.decide(e, j, p, d)
	if err := insertDeliveryTx(ctx, tx, e.ID, e.attempts, p, d); err != nil {
		return v, err
	}
	e.attempts++
	return v, saveAttemptTx(ctx, tx, e)
}

// decide updates an endpoint after an attempt and decides on the delivery. It sets d.NextAttemptAt if the delivery is
// retried. The settings of the endpoint are those at the end of the attempt: it may have been paused meanwhile.
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
	d.NextAttemptAt = now.Add(s.pause(d))
	return job.Retry(d.NextAttemptAt)
}
