package mcp

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The values of status.
const (
	statusFound   = "found"
	statusTimeout = "timeout"

	// expect_no_message returns one of these two.
	statusNone    = "none"
	statusArrived = "arrived"
)

// addWaitTools adds the tools that wait for mail.
func (t *toolset) addWaitTools(server *sdk.Server) {
	const waits = " Mail that is there already counts. When the time is up, status is timeout: call again to go on waiting."
	d := toolDefinition{readOnly: true, idempotent: true, openWorld: true, waits: true}
	d.name, d.title, d.description = "wait_for_code", "Wait for a one-time code", "Waits until a message with a one-time code is in the mailbox and returns the newest code."+waits
	add(t, server, d, waitForCode)
	d.name, d.title, d.description = "wait_for_message", "Wait for a message", "Waits until a message is in the mailbox and returns the identifier of the newest one. read_message reads it."+waits
	add(t, server, d, waitForMessage)
	d.name, d.title, d.description = "expect_no_message", "Expect no message", "Waits for the whole time and returns status none if no message is in the mailbox; ends with arrived as soon as there is one. after leaves out earlier messages."
	add(t, server, d, expectNoMessage)
	d.readOnly = false // wait_for_link reads messages, which marks them as seen
	d.name, d.title, d.description = "wait_for_link", "Wait for a link", "Waits until a message with a link is in the mailbox and returns its best link: the one that verifies or signs in, if there is one. "+
		"Only https links are returned, and none is opened. Check host before you follow one, and heed warning."+waits
	add(t, server, d, waitForLink)
}

// WaitArgs are the arguments that say how long to wait, and for which messages. They are embedded in the arguments of the
// tools that wait, which is why the type is exported. Seconds is 0 for the default.
type WaitArgs struct {
	MailboxArgs
	Seconds int    `json:"seconds,omitempty" jsonschema:"How long to wait."`
	After   string `json:"after,omitempty" jsonschema:"Only messages after the one with this identifier."`
	From    string `json:"from,omitempty" jsonschema:"Only from senders whose address or name contains this, in any case."`
	Subject string `json:"subject,omitempty" jsonschema:"Only with a subject that contains this, in any case."`
}

// WaitMessageArgs are WaitArgs with a condition on the content of the message.
type WaitMessageArgs struct {
	WaitArgs
	Has []string `json:"has,omitempty" jsonschema:"Only with a code, a link or an attachment; with several, all of them."`
}

// query returns the query parameters that select the messages.
func (w *WaitArgs) query() url.Values {
	q := make(url.Values)
	for name, value := range map[string]string{"after": w.After, "from": w.From, "subject": w.Subject} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// outcome is the result of polling a mailbox once.
type outcome int

const (
	noMessages outcome = iota // there are no new messages
	noMatch                   // there are new messages, none of which ends the wait
	found                     // a message ends the wait
)

// minPollTime is the shortest time that the API takes to wait for messages and find none. If a poll takes less, the
// server is shutting down, and the wait ends, since another poll would return at once too.
const minPollTime = 500 * time.Millisecond

// wait calls poll until it returns found or an error, or until the given seconds have passed, 0 being the default. poll
// gets the remaining seconds and waits on the server for at most that long. It is called again if new messages do not
// match. Progress is reported meanwhile. A wait that ends without a match returns nil.
func (c *call) wait(ctx context.Context, seconds int, poll func(ctx context.Context, seconds int) (outcome, error)) error {
	if seconds == 0 {
		seconds = secondsDefault
	}
	stop := c.startProgress(ctx, seconds)
	defer stop()
	deadline := c.Clock.Now().Add(time.Duration(seconds) * time.Second)
	for {
		start := c.Clock.Now()
		left := deadline.Sub(start)
		result, err := poll(ctx, int((left+time.Second-1)/time.Second)) // rounded up, so that it is not 0
		now := c.Clock.Now()
		switch {
		case result == found, err != nil, ctx.Err() != nil, deadline.Sub(now) < 10*time.Millisecond:
			return err
		case result == noMessages && now.Sub(start) < minPollTime:
			return nil
		}
	}
}

// checkMailbox returns an error if the mailbox is expired or deleted. It is needed after a wait for a code, for which the
// API returns otp.not_found whether the mailbox exists or not.
func (c *call) checkMailbox(ctx context.Context, b box) error {
	if !b.isToken {
		return nil // on the paths for keys the API has reported it already
	}
	return c.do(ctx, http.MethodGet, "/mailboxes/me", b.credential, nil, nil)
}

// codeResult is the result of wait_for_code.
type codeResult struct {
	Status     string  `json:"status" jsonschema:"found or timeout."`
	Code       string  `json:"code,omitempty" jsonschema:"The code, ready to paste."`
	Confidence float64 `json:"confidence,omitempty" jsonschema:"How certain it is that this is the code, from 0 to 1."`
	MessageID  string  `json:"messageId,omitempty" jsonschema:"The message that has the code."`
	ReceivedAt string  `json:"receivedAt,omitempty" jsonschema:"When the message was received."`
}

// waitForCode waits for a message with a code.
func waitForCode(ctx context.Context, c *call, in WaitArgs) (codeResult, error) {
	b, err := c.open(ctx, in.MailboxArgs)
	if err != nil {
		return codeResult{}, err
	}
	out := codeResult{Status: statusTimeout}
	q := in.query()
	err = c.wait(ctx, in.Seconds, func(ctx context.Context, seconds int) (outcome, error) {
		q.Set("wait", itoa(seconds))
		var otp struct {
			Code, MessageID string
			Confidence      float64
			ReceivedAt      time.Time
		}
		err := c.do(ctx, http.MethodGet, b.path+"/otp/latest?"+q.Encode(), b.credential, nil, &otp)
		if f, ok := err.(*failure); ok && f.Code == "otp.not_found" { // do does not wrap it
			return noMessages, c.checkMailbox(ctx, b)
		}
		if err != nil {
			return noMessages, err
		}
		out = codeResult{statusFound, otp.Code, otp.Confidence, otp.MessageID, formatTime(otp.ReceivedAt)}
		return found, nil
	})
	return out, err
}

// messageSummary is a message as the API lists it, without the fields that its sender wrote.
type messageSummary struct {
	ID             string    `json:"id"`
	ReceivedAt     time.Time `json:"receivedAt"`
	Size           int64     `json:"size"`
	Seen           bool      `json:"seen"`
	HasAttachments bool      `json:"hasAttachments"`
	OTP            *struct {
		Code       string
		Confidence float64
	} `json:"otp"`
}

// waitList waits for messages and calls handle with each page of them, newest first, until handle returns found. After a
// page without a match it waits only for later messages.
func (c *call) waitList(ctx context.Context, b box, in WaitMessageArgs, handle func([]messageSummary) (outcome, error)) error {
	q := in.query()
	for _, has := range in.Has {
		q.Add("has", has)
	}
	q.Set("limit", "20")
	return c.wait(ctx, in.Seconds, func(ctx context.Context, seconds int) (outcome, error) {
		q.Set("wait", itoa(seconds))
		p, err := c.messages(ctx, b, q)
		if err == nil && len(p.messages) == 0 && p.continued {
			p, err = c.searchAgain(ctx, b, q)
			if err == nil && len(p.messages) == 0 {
				return noMatch, nil
			}
		}
		if err != nil || len(p.messages) == 0 {
			return noMessages, err
		}
		q.Set("after", p.messages[0].ID)
		return handle(p.messages)
	})
}

// searchAgain is called after a search of q that took several calls and found nothing. Such a search does not wait for
// mail. searchAgain changes q to skip the messages that the mailbox has now, so that the next call can wait, and then
// repeats the search once for the messages that arrived in the meantime.
func (c *call) searchAgain(ctx context.Context, b box, q url.Values) (page, error) {
	search := maps.Clone(q)
	search.Del("wait")
	newest := url.Values{"limit": {"1"}}
	if after := q.Get("after"); after != "" {
		newest.Set("after", after)
	}
	p, err := c.messages(ctx, b, newest)
	if err != nil {
		return page{}, err
	}
	if len(p.messages) > 0 {
		q.Set("after", p.messages[0].ID)
	}
	return c.messages(ctx, b, search)
}

// messageResult is the result of wait_for_message.
type messageResult struct {
	Status         string `json:"status" jsonschema:"found or timeout."`
	MessageID      string `json:"messageId,omitempty" jsonschema:"The newest message that matches, for read_message."`
	ReceivedAt     string `json:"receivedAt,omitempty" jsonschema:"When the message was received."`
	HasCode        bool   `json:"hasCode,omitempty" jsonschema:"Whether a one-time code was found in it."`
	HasAttachments bool   `json:"hasAttachments,omitempty" jsonschema:"Whether it has attachments."`
}

// waitForMessage waits for a message that matches.
func waitForMessage(ctx context.Context, c *call, in WaitMessageArgs) (messageResult, error) {
	b, err := c.open(ctx, in.MailboxArgs)
	if err != nil {
		return messageResult{}, err
	}
	out := messageResult{Status: statusTimeout}
	err = c.waitList(ctx, b, in, func(page []messageSummary) (outcome, error) {
		m := page[0]
		out = messageResult{statusFound, m.ID, formatTime(m.ReceivedAt), m.OTP != nil, m.HasAttachments}
		return found, nil
	})
	return out, err
}

// expectResult is the result of expect_no_message.
type expectResult struct {
	Status    string `json:"status" jsonschema:"none or arrived."`
	MessageID string `json:"messageId,omitempty" jsonschema:"The message that arrived."`
}

// expectNoMessage waits for the whole time unless a message arrives.
func expectNoMessage(ctx context.Context, c *call, in WaitMessageArgs) (expectResult, error) {
	m, err := waitForMessage(ctx, c, in)
	if err != nil || m.Status == statusTimeout {
		return expectResult{Status: statusNone}, err
	}
	return expectResult{statusArrived, m.MessageID}, nil
}

// linkResult is the result of wait_for_link.
type linkResult struct {
	Status    string `json:"status" jsonschema:"found or timeout."`
	URL       string `json:"url,omitempty" jsonschema:"The address of the link, always https."`
	Host      string `json:"host,omitempty" jsonschema:"The host that the link leads to."`
	Warning   string `json:"warning,omitempty" jsonschema:"Why the link may not be what it seems."`
	MessageID string `json:"messageId,omitempty" jsonschema:"The message that has the link."`
}

// waitForLink waits for a message with an https link. A message that has only links with other schemes does not end the
// wait. It reads the messages, which marks them as seen.
func waitForLink(ctx context.Context, c *call, in WaitMessageArgs) (linkResult, error) {
	b, err := c.openWithToken(ctx, in.MailboxArgs)
	if err != nil {
		return linkResult{}, err
	}
	in.Has = append(in.Has, "link")
	out := linkResult{Status: statusTimeout}
	err = c.waitList(ctx, b, in, func(page []messageSummary) (outcome, error) {
		for _, m := range page {
			full, err := c.fullMessage(ctx, b, m.ID)
			if f, ok := err.(*failure); ok && f.Code == "message.not_found" { // do does not wrap it
				continue // deleted meanwhile
			}
			if err != nil {
				return noMessages, err
			}
			if links := full.rankedLinks(); len(links) > 0 {
				out = linkResult{statusFound, links[0].URL, links[0].Host, links[0].Warning, m.ID}
				return found, nil
			}
		}
		return noMatch, nil
	})
	return out, err
}

// formatTime formats a time as the API does.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
