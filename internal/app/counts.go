package app

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/smtpd"
)

// counts are the counters of mails and calls by their outcome. Each label value creates a time series, so the values come
// from fixed sets of this program and never from a client.
type counts struct {
	recipients, blocked, messages, limited, signIns, requests *prometheus.CounterVec
}

// newCounts creates and registers the counters.
func newCounts(r prometheus.Registerer) counts {
	vector := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		r.MustRegister(v)
		return v
	}
	c := counts{
		recipients: vector("gonebox_smtp_recipients_total", "Recipients of mail over SMTP by the reply code: 250 for a stored message, or that of the refusal.", "reply"),
		blocked:    vector("gonebox_smtp_blocked_total", "Connections, MAIL and RCPT commands that were refused by a block or a DNS blocklist, by what is blocked.", "kind"),
		messages:   vector("gonebox_messages_total", "Stored messages by source, and by whether a one-time code was found.", "source", "code"),
		limited:    vector("gonebox_rate_limited_total", "Calls, connections and mails that exceeded a limit, by the limit.", "limit"),
		signIns:    vector("gonebox_signins_total", "Sign-ins by result: success, or the problem.", "result"), //nolint:misspell // the name of a metric is public
		requests:   vector("gonebox_http_requests_total", "Requests by operation and status.", "operation", "status"),
	}
	for _, reply := range []string{"250", "450", "451", "452", "550", "552"} { // present from the start, so that rates can be computed
		c.recipients.WithLabelValues(reply)
	}
	for _, kind := range smtpd.AllBlocks() {
		c.blocked.WithLabelValues(string(kind))
	}
	for _, source := range []string{"smtp", "injected"} {
		c.messages.WithLabelValues(source, "yes")
		c.messages.WithLabelValues(source, "no")
	}
	for _, result := range []string{"success", "invalid_credentials"} {
		c.signIns.WithLabelValues(result)
	}
	c.limited.WithLabelValues(string(ratelimit.Other))
	return c
}

// observeCall counts a request. If it was a sign-in it also counts its result, which is the last part of the problem's
// code.
func (c *counts) observeCall(r httpkit.Result) {
	c.requests.WithLabelValues(r.Operation, strconv.Itoa(r.Status)).Inc()
	if r.Operation != "sign-in" {
		return
	}
	result := "success"
	if r.Status >= 300 {
		_, result, _ = strings.Cut(string(r.Code), ".")
	}
	if result == "" {
		result = "aborted"
	}
	c.signIns.WithLabelValues(result).Inc()
}

// observeLimited counts a call, connection or mail that exceeded a limit. It is the OnRefused of limiter, gauge and SMTP server.
func (c *counts) observeLimited(name ratelimit.Name) { c.limited.WithLabelValues(string(name)).Inc() }

// observeBlocked counts a connection or command that was refused by a block or a DNS blocklist.
func (c *counts) observeBlocked(b smtpd.Block) { c.blocked.WithLabelValues(string(b)).Inc() }

// observeStored counts a stored message.
func (c *counts) observeStored(source string, code bool) {
	found := "no"
	if code {
		found = "yes"
	}
	c.messages.WithLabelValues(source, found).Inc()
}
