package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// What the inbox may take at most with inboxMails mails stored, in milliseconds.
const (
	inboxMails        = 100_000
	inboxSearchTarget = 100
	deleteTarget      = 1000 // for deletedMails mails
	deletedMails      = 10_000
)

// inboxCall is a request that the inbox of the service makes, and the one of Mailpit's page for the same; delete is made once.
type inboxCall struct {
	name            string
	gonebox, theirs []byte
	delete          bool
}

// inboxPart measures what the page of the inbox waits for: a page of the list of all messages of an account, searches, and the deletion
// of many, beside Mailpit where it can be built.
func inboxPart(ctx context.Context, b *bench) error {
	mails, deleted, tries := inboxMails, deletedMails, 20
	if b.quick {
		mails, deleted, tries = 10_000, 1_000, 5
	}
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	g, err := b.startGonebox(ctx, b.dataDir(), map[string]string{"profile": "dev", "compat.mailpit.addr": ports[0]})
	if err != nil {
		return err
	}
	defer g.stop()
	var signedIn struct{ Data struct{ Token string } }
	c, err := dial(ctx, ports[0])
	if err != nil {
		return err
	}
	err = c.decode(200, "POST", "/gonebox/api/v1/auth/local", "", "", &signedIn)
	c.conn.Close()
	if err != nil {
		return err
	}
	to := func(i int) string { return fmt.Sprintf("user%04d@company.test", i%1000) }
	b.report.note("inbox: fill up to %d mails", mails)
	if _, err := flood(ctx, g.smtp, 0, mails-deleted, to); err != nil {
		return err
	}
	gone := func(int) string { return "gone@company.test" }
	if _, err := flood(ctx, g.smtp, mails-deleted, deleted, gone); err != nil {
		return err
	}
	calls := inboxCalls(signedIn.Data.Token)
	ours, err := timeCalls(ctx, ports[0], tries, calls, func(c inboxCall) []byte { return c.gonebox })
	if err != nil {
		return err
	}
	theirs := b.mailpitInbox(ctx, calls, tries, func(smtp string) error {
		if _, err := flood(ctx, smtp, 0, mails-deleted, to); err != nil {
			return err
		}
		_, err := flood(ctx, smtp, mails-deleted, deleted, gone)
		return err
	})
	b.reportInbox(calls, ours, theirs, mails, deleted)
	return nil
}

// reportInbox prints the medians of the calls. theirs is nil where Mailpit could not be built.
func (b *bench) reportInbox(calls []inboxCall, ours, theirs []float64, mails, deleted int) {
	rows, slowest := [][]string{{fmt.Sprintf("inbox of %d mails", mails), "median ms", mailpit}}, 0.0
	for i, call := range calls {
		row := []string{strings.ReplaceAll(call.name, "N", fmt.Sprint(deleted)), fmt.Sprintf("%.1f", ours[i]), "-"}
		if theirs != nil {
			row[2] = fmt.Sprintf("%.1f", theirs[i])
		}
		rows = append(rows, row)
		if strings.HasPrefix(call.name, "search") {
			slowest = max(slowest, ours[i])
		}
	}
	b.report.say("\nThe inbox.")
	b.report.table(rows)
	if mails == inboxMails {
		b.report.target("the slowest search of the inbox takes", slowest, inboxSearchTarget, true, " ms")
		b.report.target("deleting 10,000 mails takes", ours[len(ours)-1], deleteTarget, true, " ms")
	}
}

// inboxCalls returns the calls, with the deletion last.
func inboxCalls(token string) []inboxCall {
	const list = "/gonebox/api/v1/me/messages"
	calls := []inboxCall{
		{name: "the list", gonebox: request("GET", list+"?limit=100", token, ""), theirs: request("GET", "/api/v1/messages?limit=100", "", "")},
		{name: "the count", gonebox: request("GET", list+"/count", token, ""), theirs: request("GET", "/api/v1/messages?limit=1", "", "")},
	}
	for _, q := range []string{"to:user0123@company.test", "subject:7777", "nothing-like-this", "from:app to:user -subject:welcome"} {
		text := url.QueryEscape(q)
		calls = append(calls, inboxCall{
			name: "search " + q, gonebox: request("GET", list+"?limit=100&q="+text, token, ""), theirs: request("GET", "/api/v1/search?limit=100&query="+text, "", ""),
		})
	}
	return append(calls, inboxCall{
		name: "deletion of the N mails to one address", delete: true,
		gonebox: request("DELETE", list, token, `{"q": "to:gone@company.test"}`), theirs: request("DELETE", "/api/v1/search?query="+url.QueryEscape("to:gone@company.test"), "", ""),
	})
}

// timeCalls returns the median time of each call, in milliseconds.
func timeCalls(ctx context.Context, addr string, tries int, calls []inboxCall, of func(inboxCall) []byte) (medians []float64, err error) {
	c, err := dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	for _, call := range calls {
		n := tries
		if call.delete {
			n = 1
		}
		var took []time.Duration
		for range n {
			begun := time.Now()
			status, err := c.do(of(call))
			if err != nil || status != 200 {
				return nil, fmt.Errorf("%s: status %d: %w", call.name, status, err)
			}
			took = append(took, time.Since(begun))
		}
		slices.Sort(took)
		medians = append(medians, float64(took[len(took)/2].Microseconds())/1000)
	}
	return medians, nil
}

// mailpitInbox measures the calls of Mailpit's page, and returns nil where it cannot.
func (b *bench) mailpitInbox(ctx context.Context, calls []inboxCall, tries int, fill func(smtp string) error) []float64 {
	b.report.note("inbox: the same with %s", mailpit)
	p, err := b.startMailpit(ctx)
	if err == nil {
		defer p.stop()
		if err = p.awaitGreeting(ctx); err == nil {
			err = fill(p.smtp)
		}
	}
	var medians []float64
	if err == nil {
		medians, err = timeCalls(ctx, p.web, tries, calls, func(c inboxCall) []byte { return c.theirs })
	}
	if err != nil {
		b.report.say("LEFT OUT: %s: %v", mailpit, err)
		return nil
	}
	return medians
}
