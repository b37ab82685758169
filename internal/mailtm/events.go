package mailtm

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
)

// keepAliveEvery is how long a stream may be idle before it sends a comment as a keepalive.
const keepAliveEvery = 15 * time.Second

// events streams the messages of the token's account when they arrive, are marked as seen or unseen, or are deleted. The
// parameter topic is optional; a topic of another account is an error. Error: route.not_found.
//
// The protocol is the part of Mercure that clients of mail.tm use: each event is a message resource. The stream ends when
// the token becomes invalid, the mailbox ends or the process shuts down. The client then reconnects and lists the messages
// to find out what it missed.
func (a *API) events(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	ownTopics := []string{"/accounts/" + string(box.ID), "*"}
	topics := r.URL.Query()["topic"]
	if len(topics) > 0 && !slices.ContainsFunc(topics, func(t string) bool { return slices.Contains(ownTopics, t) }) {
		return problem.New(problem.RouteNotFound)
	}
	check := message.CredentialCheck{Check: func(ctx context.Context) error { return a.Mailboxes.CheckToken(ctx, box) }}
	f, err := a.Follow.OfMailbox(r.Context(), box, "", check) // before the response begins, so that the client misses no later event
	if err != nil {
		return err
	}
	return a.kit.StreamEvents(w, r, func(ctx context.Context, w *httpkit.EventWriter) {
		var changed []summary
		for end := false; w.Send(func() { addMessages(w, changed) }) == nil && !end; {
			events, err := f.Next(ctx, keepAliveEvery)
			if err != nil {
				return
			}
			changed = changed[:0]
			for _, e := range events {
				if end = e.Kind == follow.End; end {
					break
				}
				if s, ok := a.eventMessage(ctx, box, e); ok {
					changed = append(changed, s)
				}
			}
		}
	})
}

// addMessages adds an event for each message to the buffer of w, or a comment if there are no messages.
func addMessages(w *httpkit.EventWriter, changed []summary) {
	if len(changed) == 0 {
		w.Comment()
	}
	for _, s := range changed {
		_ = w.Add("", string(s.ID), s) // a summary always encodes as JSON
	}
}

// eventMessage returns the message that the client gets for an event. ok is false for an event that this API does not
// report, such as an extended mailbox, and for a message that was deleted after the event.
func (a *API) eventMessage(ctx context.Context, box *mailbox.Mailbox, e follow.Event) (s summary, ok bool) {
	ld := jsonLD{"/contexts/Message", messageIRI(e.Message), "Message"}
	switch e.Kind {
	case follow.Message:
		return summaryOf(e.Summary, box, ld), true
	case follow.Seen:
		found, err := a.Messages.Summary(ctx, box.ID, e.Message)
		if err != nil { // deleted meanwhile, which a later event reports
			return s, false
		}
		found.Seen = e.Seen
		return summaryOf(found, box, ld), true
	case follow.Deleted:
		// The content has been erased. The identifier shows clients which message was deleted.
		s = summaryOf(&message.Summary{ID: e.Message, To: []message.Address{}, Seen: e.Seen}, box, ld)
		s.CreatedAt = formatTime(a.HTTP.Clock.Now())
		s.UpdatedAt, s.IsDeleted = s.CreatedAt, true
		return s, true
	}
	return s, false
}
