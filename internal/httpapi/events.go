package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// events registers the event streams (docs/spec/events.md), each in the group of its credential.
func (a *API) events() {
	register(a, "mailboxes", httpkit.Operation{
		ID: "stream-mailbox-events", Method: http.MethodGet, Path: "/mailboxes/me/events", Summary: "Stream what happens in the mailbox", Status: 200,
		Text: streamText + " The stream ends with the mailbox: `end` has `reason`, which is `expired`, `destroyed`, or `shutdown` where another call continues.",
		Auth: []httpkit.Scheme{mailboxToken}, Limit: ratelimit.Reads, Media: httpkit.EventStreamType, Example: streamExample,
	}, a.mailboxEvents)
	register(a, "mailboxes", httpkit.Operation{
		ID: "stream-account-events", Method: http.MethodGet, Path: "/me/events", Summary: "Stream what happens in all mailboxes of the account", Status: 200,
		Text: streamText + accountText,
		Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other, Media: httpkit.EventStreamType, Example: accountStreamExample,
	}, a.accountEvents)
	register(a, "keys", httpkit.Operation{
		ID: "stream-key-events", Method: http.MethodGet, Path: "/keys/events", Summary: "Stream what happens in all mailboxes of the key's account", Status: 200,
		Text: "Scope `" + string(apikey.MessagesRead) + "`. " + streamText + accountText,
		Auth: []httpkit.Scheme{apiKey}, Scope: string(apikey.MessagesRead), Limit: ratelimit.KeyCalls, Media: httpkit.EventStreamType, Example: accountStreamExample,
	}, a.keyEvents)
}

// The texts of the operations.
const (
	streamText = "Server-sent events: `message` with the id and the summary of each new message, `seen` and `deleted` with `{id, seen}` of a message, `tagged` with `{id, tags}`, `mailbox` with `{expiresAt, ttl}` after an extension, and a comment every 15 seconds. " +
		"A stream begins with what comes after it was opened; with `Last-Event-ID` or `after` it first replays the messages that came after that one. It counts as an open long-poll."
	accountText = " Each event has `mailboxId`. New mailboxes join, and the stream outlives each of them; it ends when its credential does."

	streamExample = "event: message\nid: msg_01jzq8w3v5e4t9n2k7m6x0y1dr\n" +
		`data: {"id":"msg_01jzq8w3v5e4t9n2k7m6x0y1dr","mailboxId":"mbx_01jzq8w3v5e4t9n2k7m6x0y1dr","subject":"Your sign-in code","seen":false}` + "\n\n" +
		"event: seen\n" + `data: {"id":"msg_01jzq8w3v5e4t9n2k7m6x0y1dr","seen":true}` + "\n\n" +
		"event: end\n" + `data: {"reason":"expired"}` + "\n\n"
	accountStreamExample = "event: deleted\n" +
		`data: {"mailboxId":"mbx_01jzq8w3v5e4t9n2k7m6x0y1dr","id":"msg_01jzq8w3v5e4t9n2k7m6x0y1dr","seen":true}` + "\n\n" +
		"event: mailbox\n" + `data: {"mailboxId":"mbx_01jzq8w3v5e4t9n2k7m6x0y1dr","expiresAt":"2026-03-14T13:26:53.589Z","ttl":3600}` + "\n\n"
)

// keepAliveEvery is how often an idle stream sends a comment. It reads the mailbox as often, so that changes that no wake-up
// reports are seen.
const keepAliveEvery = 15 * time.Second

// Resume is where a stream begins.
type Resume struct {
	After       string `query:"after" maxLength:"64" doc:"Replay the messages after the one with this id."`
	LastEventID string `header:"Last-Event-ID" maxLength:"64" doc:"The same, as browsers send it when they reconnect; it wins over after."`
}

func (r Resume) position() (after id.Message, err error) {
	text := cmp.Or(r.LastEventID, r.After)
	if text == "" {
		return "", nil
	}
	if after, err = id.Parse[id.Message](text); err != nil && r.LastEventID != "" {
		return "", problem.Detailf(problem.RequestInvalid, "Last-Event-ID is not the id of a message")
	}
	if err != nil {
		return "", problem.Invalid("?after", "is not the id of a message")
	}
	return after, nil
}

func (a *API) mailboxEvents(ctx context.Context, in *Resume) (*httpkit.EventStream, error) {
	after, err := in.position()
	if err != nil {
		return nil, err
	}
	return a.stream(ctx, false, func() (*follow.Follower, error) {
		return a.Follow.OfMailbox(ctx, from(ctx).mailbox, after, a.credentialCheck(ctx))
	})
}

func (a *API) accountEvents(ctx context.Context, in *Resume) (*httpkit.EventStream, error) {
	after, err := in.position()
	if err != nil {
		return nil, err
	}
	login := from(ctx).login
	check := message.CredentialCheck{Check: func(ctx context.Context) error { return a.Accounts.Check(ctx, login) }}
	return a.stream(ctx, true, func() (*follow.Follower, error) {
		return a.Follow.OfAccount(ctx, login.Account.ID, after, check)
	})
}

func (a *API) keyEvents(ctx context.Context, in *Resume) (*httpkit.EventStream, error) {
	after, err := in.position()
	if err != nil {
		return nil, err
	}
	return a.stream(ctx, true, func() (*follow.Follower, error) {
		return a.Follow.OfAccount(ctx, from(ctx).key.Account, after, a.credentialCheck(ctx))
	})
}

// stream responds with the events of a follower, which open creates. named is set where the events name their mailbox.
func (a *API) stream(ctx context.Context, named bool, open func() (*follow.Follower, error)) (*httpkit.EventStream, error) {
	var f *follow.Follower // created before the response begins: the client misses nothing that happens after it sees the header
	answer, err := a.kit.OpenEvents(ctx, func(ctx context.Context, w *httpkit.EventWriter) {
		var events []follow.Event
		for w.Send(func() { a.addEvents(w, events, named) }) == nil && !ends(events) {
			var err error
			if events, err = f.Next(ctx, keepAliveEvery); err != nil {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if f, err = open(); err != nil {
		return nil, err
	}
	return answer, nil
}

// ends reports whether the last event ends the stream.
func ends(events []follow.Event) bool {
	return len(events) > 0 && events[len(events)-1].Kind == follow.End
}

// addEvents adds events to what w sends, or a comment where there is none.
func (a *API) addEvents(w *httpkit.EventWriter, events []follow.Event, named bool) {
	if len(events) == 0 {
		w.Comment()
	}
	for _, e := range events {
		if e.Kind == follow.Message {
			_ = w.Add(string(e.Kind), string(e.Message), e.Summary) // a summary always encodes as JSON
			continue
		}
		_ = w.Add(string(e.Kind), "", a.eventData(e, named))
	}
}

// The data of events.
type (
	messageState struct {
		MailboxID id.Mailbox `json:"mailboxId,omitempty"`
		ID        id.Message `json:"id"`
		Seen      bool       `json:"seen"`
	}
	messageTags struct {
		MailboxID id.Mailbox `json:"mailboxId,omitempty"`
		ID        id.Message `json:"id"`
		Tags      []string   `json:"tags"`
	}
	mailboxExtension struct {
		MailboxID id.Mailbox  `json:"mailboxId,omitempty"`
		ExpiresAt clock.Stamp `json:"expiresAt"`
		TTL       int64       `json:"ttl"`
	}
	streamEnd struct {
		Reason follow.Reason `json:"reason"`
	}
)

func (a *API) eventData(e follow.Event, named bool) any {
	box := e.Mailbox
	if !named {
		box = ""
	}
	switch e.Kind {
	case follow.End:
		return streamEnd{e.Reason}
	case follow.Mailbox:
		left := max(0, e.ExpiresAt.Sub(a.kit.Clock.Now()))
		return mailboxExtension{box, clock.Stamp{Time: e.ExpiresAt}, clock.Seconds(left)}
	case follow.Tagged:
		return messageTags{box, e.Message, append([]string{}, e.Tags...)}
	default:
		return messageState{box, e.Message, e.Seen}
	}
}
