package mcp

import (
	"context"
	"errors"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gonebox/gonebox/internal/apiclient"
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
	const waits = " Mail that is there already counts. When the time is up, status is timeout: call again to go on waiting." + allMailboxes
	d := toolDefinition{readOnly: true, idempotent: true, openWorld: true, waits: true, account: true}
	d.name, d.title, d.description = "wait_for_code", "Wait for a one-time code", "Waits until a message with a one-time code is in the mailbox and returns the newest code."+waits
	add(t, server, d, waitForCode)
	d.name, d.title, d.description = "wait_for_message", "Wait for a message", "Waits until a message is in the mailbox and returns the identifier of the newest one. read_message reads it."+waits
	add(t, server, d, waitForMessage)
	d.name, d.title, d.description = "expect_no_message", "Expect no message", "Waits for the whole time and returns status none if no message is in the mailbox; ends with arrived as soon as there is one. after leaves out earlier messages."+allMailboxes
	add(t, server, d, expectNoMessage)
	d.readOnly = false // wait_for_link reads messages, which marks them as seen
	d.name, d.title, d.description = "wait_for_link", "Wait for a link", "Waits until a message with a link is in the mailbox and returns its best link: the one that verifies or signs in, if there is one. "+
		"Only https links are returned, under profile: dev also http links to this machine and private networks, and none is opened. Check host before you follow one, and heed warning."+waits
	add(t, server, d, waitForLink)
}

// WaitArgs are the arguments that say how long to wait, and for which messages. They are embedded in the arguments of the
// tools that wait, which is why the type is exported. Seconds is 0 for the default.
type WaitArgs struct {
	MailboxArgs
	Seconds int    `json:"seconds,omitempty" jsonschema:"How long to wait."`
	After   string `json:"after,omitempty" jsonschema:"Only messages after the one with this identifier."`
	From    string `json:"from,omitempty" jsonschema:"Only from senders whose address or name contains this, in any case."`
	To      string `json:"to,omitempty" jsonschema:"Only to recipients that contain this, in any case."`
	Subject string `json:"subject,omitempty" jsonschema:"Only with a subject that contains this, in any case."`
}

// WaitMessageArgs are WaitArgs with a condition on the content of the message.
type WaitMessageArgs struct {
	WaitArgs
	Has []string `json:"has,omitempty" jsonschema:"Only with a code, a link, an action (a link that it asks to open) or an attachment; with several, all of them."`
}

// filter returns the filter of the messages.
func (w *WaitArgs) filter(has ...string) apiclient.Filter {
	return apiclient.Filter{After: w.After, From: w.From, To: w.To, Subject: w.Subject, Has: has}
}

// search returns the search of a mailbox, with pages of at most limit messages.
func (c *call) search(b box, f apiclient.Filter, limit int) apiclient.Search {
	q := f.Query()
	q.Set("limit", itoa(limit))
	return apiclient.Search{API: c.API, Mailbox: b.path, Credential: b.credential, Query: q}
}

// wait calls run with a wait of the given seconds, 0 being the default, and reports progress meanwhile. A wait whose time is
// over returns no error, but the diagnosis, nil if there is none. Over stdio it outlives a restart of the service, which is another process than this one.
func (c *call) wait(ctx context.Context, seconds int, run func(apiclient.Wait) error) (*diagnosis, error) {
	if seconds == 0 {
		seconds = secondsDefault
	}
	stop := c.startProgress(ctx, seconds)
	defer stop()
	w := apiclient.Wait{Clock: c.Clock, Timeout: time.Duration(seconds) * time.Second}
	if c.tokens != nil {
		w.Retry = apiclient.IsUnavailable
	}
	err := run(w)
	if !errors.Is(err, apiclient.ErrTimeout) {
		return nil, err
	}
	return newDiagnosis(apiclient.DiagnosisOf(err)), nil
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
	Diagnosed
}

// waitForCode waits for a message with a code.
func waitForCode(ctx context.Context, c *call, in WaitArgs) (codeResult, error) {
	b, err := c.openAny(ctx, in.MailboxArgs)
	if err != nil {
		return codeResult{}, err
	}
	out := codeResult{Status: statusTimeout}
	if b.isAll { // there is no latest code of an account: the newest message with one has it
		err = c.waitList(ctx, b, WaitMessageArgs{in, []string{"code"}}, func(page []messageSummary) (apiclient.Outcome, error) {
			m := page[0]
			out = codeResult{statusFound, m.OTP.Code, m.OTP.Confidence, m.ID, formatTime(m.ReceivedAt), Diagnosed{}}
			return apiclient.Found, nil
		}, &out.Diagnosed)
		return out, err
	}
	b = c.watched(b)
	q := in.filter().Query()
	var why *apiclient.Diagnosis
	_, err = c.wait(ctx, in.Seconds, func(w apiclient.Wait) error {
		return w.Until(ctx, func(ctx context.Context, hold time.Duration) (apiclient.Outcome, error) {
			q.Set("wait", itoa(int(hold/time.Second)))
			var otp struct {
				Code, MessageID string
				Confidence      float64
				ReceivedAt      time.Time
			}
			r := apiclient.Request{Method: http.MethodGet, Path: b.path + "/otp/latest?" + q.Encode(), Credential: b.credential, Wait: hold}
			err := apiclient.Data(ctx, c.API, r, &otp)
			if apiclient.Code(err) == "otp.not_found" {
				why = why.Merge(apiclient.DiagnosisOf(err))
				return apiclient.NoMessages, c.checkMailbox(ctx, b)
			}
			if err != nil {
				return apiclient.NoMessages, err
			}
			out = codeResult{statusFound, otp.Code, otp.Confidence, otp.MessageID, formatTime(otp.ReceivedAt), Diagnosed{}}
			return apiclient.Found, nil
		})
	})
	if out.Status == statusTimeout {
		out.Diagnosis = newDiagnosis(why)
	}
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

// waitList waits for messages and calls handle with each page of them, newest first, until handle returns Found. After a
// page without a match it waits only for later messages. If the time is over, it sets why.
func (c *call) waitList(ctx context.Context, b box, in WaitMessageArgs, handle func([]messageSummary) (apiclient.Outcome, error), why *Diagnosed) (err error) {
	s := c.search(c.watched(b), in.filter(in.Has...), 20)
	why.Diagnosis, err = c.wait(ctx, in.Seconds, func(w apiclient.Wait) error {
		return apiclient.Messages(ctx, w, s, func(page []messageSummary) (apiclient.Outcome, error) {
			outcome, err := handle(page)
			if err == nil {
				s.Query.Set("after", page[0].ID)
			}
			return outcome, err
		})
	})
	return err
}

// messageResult is the result of wait_for_message.
type messageResult struct {
	Status         string `json:"status" jsonschema:"found or timeout."`
	MessageID      string `json:"messageId,omitempty" jsonschema:"The newest message that matches, for read_message."`
	ReceivedAt     string `json:"receivedAt,omitempty" jsonschema:"When the message was received."`
	HasCode        bool   `json:"hasCode,omitempty" jsonschema:"Whether a one-time code was found in it."`
	HasAttachments bool   `json:"hasAttachments,omitempty" jsonschema:"Whether it has attachments."`
	Diagnosed
}

// waitForMessage waits for a message that matches.
func waitForMessage(ctx context.Context, c *call, in WaitMessageArgs) (messageResult, error) {
	b, err := c.openAny(ctx, in.MailboxArgs)
	if err != nil {
		return messageResult{}, err
	}
	out := messageResult{Status: statusTimeout}
	err = c.waitList(ctx, b, in, func(page []messageSummary) (apiclient.Outcome, error) {
		m := page[0]
		out = messageResult{statusFound, m.ID, formatTime(m.ReceivedAt), m.OTP != nil, m.HasAttachments, Diagnosed{}}
		return apiclient.Found, nil
	}, &out.Diagnosed)
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

// formatTime formats a time as the API does.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
