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

// keepAliveEvery is how often an idle stream sends a comment.
const keepAliveEvery = 15 * time.Second

// events streams the messages of the token's account as they arrive, are marked as seen and are deleted. The topic is
// optional; one that names another account is refused.
//
// The protocol is the part of Mercure that its clients use: each event is a message resource. The stream ends with the
// token, the mailbox or the service; the client connects again and lists what it missed.
func (a *API) events(w http.ResponseWriter, r *http.Request, box *mailbox.Mailbox) error {
	own := []string{"/accounts/" + string(box.ID), "*"}
	topics := r.URL.Query()["topic"]
	if len(topics) > 0 && !slices.ContainsFunc(topics, func(t string) bool { return slices.Contains(own, t) }) {
		return problem.New(problem.RouteNotFound)
	}
	check := message.CredentialCheck{Check: func(ctx context.Context) error { return a.Mailboxes.CheckToken(ctx, box) }}
	f, err := a.Follow.OfMailbox(r.Context(), box, "", check) // before the answer begins, so that nothing later is missed
	if err != nil {
		return err
	}
	return a.kit.StreamEvents(w, r, func(ctx context.Context, w *httpkit.EventWriter) {
		var changed []summary
		for end := false; w.Send(func() { send(w, changed) }) == nil && !end; {
			events, err := f.Next(ctx, keepAliveEvery)
			if err != nil {
				return
			}
			changed = changed[:0]
			for _, e := range events {
				if end = e.Kind == follow.End; end {
					break
				}
				if s, ok := a.changed(ctx, box, e); ok {
					changed = append(changed, s)
				}
			}
		}
	})
}

// send adds messages to what w sends, or a comment where there is none.
func send(w *httpkit.EventWriter, changed []summary) {
	if len(changed) == 0 {
		w.Comment()
	}
	for _, s := range changed {
		_ = w.Add("", string(s.ID), s) // a summary always encodes as JSON
	}
}

// changed returns the message of an event, or false where there is none. Other events, such as a code that was found,
// have no form in this API.
func (a *API) changed(ctx context.Context, box *mailbox.Mailbox, e follow.Event) (s summary, ok bool) {
	l := jsonLD{"/contexts/Message", messageIRI(e.Message), "Message"}
	switch e.Kind {
	case follow.Message:
		return summaryOf(e.Summary, box, l), true
	case follow.Seen:
		found, err := a.Messages.Summary(ctx, box.ID, e.Message)
		if err != nil { // deleted meanwhile: the next event reports that
			return s, false
		}
		found.Seen = e.Seen
		return summaryOf(found, box, l), true
	case follow.Deleted:
		// The content is erased. The identifier is left, so that clients know which message it was.
		s = summaryOf(&message.Summary{ID: e.Message, To: []message.Address{}, Seen: e.Seen}, box, l)
		s.CreatedAt = stamp(a.HTTP.Clock.Now())
		s.UpdatedAt, s.IsDeleted = s.CreatedAt, true
		return s, true
	}
	return s, false
}
