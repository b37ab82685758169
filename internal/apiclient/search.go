package apiclient

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Filter selects messages. From, To and Subject are substrings of the sender, a recipient and the subject, compared without regard to case;
// Has lists what a message must contain: code, link, attachment. After is the identifier of a message that came before.
// The zero Filter selects all.
type Filter struct {
	From, To, Subject, After string
	Has                      []string
	Search, Mailbox          string // of all messages of an account: what q finds, in the mailbox at an address
}

// Query returns the filter as query parameters of the API.
func (f Filter) Query() url.Values {
	q := url.Values{"has": f.Has}
	for name, value := range map[string]string{"after": f.After, "from": f.From, "to": f.To, "subject": f.Subject, "q": f.Search, "mailbox": f.Mailbox} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// Search lists the messages of a mailbox that match a query.
type Search struct {
	API        API
	Mailbox    string // the path of the mailbox, or of all of an account
	Credential string
	Query      url.Values
}

// Find returns the first page of a search that is not empty. If there is none, the service waits for a message, for as long
// as hold says.
//
// A search that has read a large part of a mailbox without a match returns an empty page and a cursor
// (docs/spec/messages.md#filtering-a-list). Find then continues from the cursor, without waiting for mail; continued is
// true then.
func Find[M any](ctx context.Context, s Search, hold time.Duration) (p Page[M], continued bool, err error) {
	q := maps.Clone(s.Query)
	if hold > 0 {
		q.Set("wait", strconv.Itoa(int(hold/time.Second)))
	}
	for ; ; continued = true {
		p = Page[M]{}
		r := Request{Method: http.MethodGet, Path: s.Mailbox + "/messages?" + q.Encode(), Credential: s.Credential, Wait: hold}
		err = decode(ctx, s.API, r, &p)
		if err != nil || len(p.Data) > 0 || p.NextCursor == "" {
			return p, continued, err
		}
		q.Del("wait")
		q.Set("cursor", p.NextCursor)
		hold = 0
	}
}

// Messages waits for messages and calls handle with each page of them, newest first, until handle returns Found. handle gets
// the same page again if it returned an error that is retried. Before it returns NoMatch it must set after in s.Query, so
// that the next page has other messages. Errors: those of Wait.Until; DiagnosisOf returns that of ErrTimeout.
func Messages[M any](ctx context.Context, w Wait, s Search, handle func([]M) (Outcome, error)) error {
	var page []M
	var diagnosis *Diagnosis
	err := w.Until(ctx, func(ctx context.Context, hold time.Duration) (Outcome, error) {
		if len(page) == 0 {
			p, continued, err := Find[M](ctx, s, hold)
			diagnosis = diagnosis.Merge(p.Diagnosis)
			if err == nil && len(p.Data) == 0 && continued {
				p, err = findLater[M](ctx, s)
				if err == nil && len(p.Data) == 0 {
					return NoMatch, nil
				}
			}
			if err != nil || len(p.Data) == 0 {
				return NoMessages, err
			}
			page = p.Data
		}
		outcome, err := handle(page)
		if err == nil {
			page = nil
		}
		return outcome, err
	})
	return diagnosed(err, diagnosis)
}

// findLater is called after a search that took several calls and found nothing. Such a search does not wait for mail.
// findLater changes the query to skip the messages that the mailbox has now, so that the next call can wait, and then
// repeats the search once for the messages that arrived in the meantime.
func findLater[M any](ctx context.Context, s Search) (Page[M], error) {
	later := s
	later.Query = url.Values{"limit": {"1"}}
	if after := s.Query.Get("after"); after != "" {
		later.Query.Set("after", after)
	}
	newest, _, err := Find[struct{ ID string }](ctx, later, 0)
	if err != nil {
		return Page[M]{}, err
	}
	found, _, err := Find[M](ctx, s, 0)
	if err == nil && len(newest.Data) > 0 {
		s.Query.Set("after", newest.Data[0].ID)
	}
	return found, err
}
