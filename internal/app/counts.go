package app

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/ingress"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/outbound"
	"github.com/gonebox/gonebox/internal/process"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/smtpd"
)

// counts are the counters of mails and calls by their outcome. Each label value creates a time series, so the values come
// from fixed sets of this program and never from a client.
type counts struct {
	recipients, blocked, messages, limited, signIns, requests, ingress, relay *prometheus.CounterVec

	traffic *process.Traffic // for the overview of staff
}

// newCounts creates and registers the counters.
func newCounts(r prometheus.Registerer, traffic *process.Traffic) counts {
	vector := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		r.MustRegister(v)
		return v
	}
	c := counts{
		traffic:    traffic,
		recipients: vector("gonebox_smtp_recipients_total", "Recipients of mail over SMTP, LMTP and through ingresses by the reply code: 250 for a stored message, or that of the refusal.", "reply"),
		blocked:    vector("gonebox_smtp_blocked_total", "Connections, MAIL and RCPT commands that were refused by a block or a DNS blocklist, by what is blocked.", "kind"),
		messages:   vector("gonebox_messages_total", "Stored messages by source, and by whether a one-time code was found.", "source", "code"),
		limited:    vector("gonebox_rate_limited_total", "Calls, connections and mails that exceeded a limit, by the limit.", "limit"),
		signIns:    vector("gonebox_signins_total", "Sign-ins by result: success, or the problem.", "result"), //nolint:misspell // the name of a metric is public
		requests:   vector("gonebox_http_requests_total", "Requests by operation and status.", "operation", "status"),
		ingress:    vector("gonebox_ingress_mails_total", "Mails of ingresses by outcome: stored, refused for good, deferred, forbidden, where the request was not authenticated, or unread, where a mailbox elsewhere or a message in it could not be read.", "ingress", "kind", "outcome"),
		relay:      vector("gonebox_relay_attempts_total", "Tries to send a mail through the relay by outcome: sent, deferred to a later try, refused for good, or expired, where it is given up.", "outcome"),
	}
	for _, reply := range []string{"250", "450", "451", "452", "550", "552"} { // present from the start, so that rates can be computed
		c.recipients.WithLabelValues(reply)
	}
	for _, kind := range smtpd.AllBlocks() {
		c.blocked.WithLabelValues(string(kind))
	}
	for _, source := range []string{message.SourceSMTP, message.SourceInjected, message.SourceIngress} {
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

// observeWrongPassword counts a sign-in to a project with a wrong password.
func (c *counts) observeWrongPassword() { c.signIns.WithLabelValues("invalid_credentials").Inc() }

// observeLimited counts a call, connection or mail that exceeded a limit. It is the OnRefused of limiter, gauge and SMTP server.
func (c *counts) observeLimited(name ratelimit.Name) {
	c.limited.WithLabelValues(string(name)).Inc()
	c.traffic.Stopped(process.ByLimit, string(name))
}

// observeIngress counts a mail of an ingress. The names are those of the configuration.
func (c *counts) observeIngress(name, kind string, o ingress.Outcome) {
	c.ingress.WithLabelValues(name, kind, string(o)).Inc()
}

// countRelay returns what counts the tries to send mail through the relay. It is called once, if there is a relay.
func (c *counts) countRelay() func(outbound.Outcome) {
	for _, o := range outbound.AllOutcomes() { // present from the start, so that rates can be computed
		c.relay.WithLabelValues(string(o))
	}
	return func(o outbound.Outcome) { c.relay.WithLabelValues(string(o)).Inc() }
}

// observeBlocked counts a connection or command that was refused by a block or a DNS blocklist.
func (c *counts) observeBlocked(b smtpd.Block) {
	c.blocked.WithLabelValues(string(b)).Inc()
	c.traffic.Stopped(process.ByBlock, string(b))
}

// observeReply counts the reply to a mail for a recipient.
func (c *counts) observeReply(reply int, code string) {
	digits := strconv.Itoa(reply)
	c.recipients.WithLabelValues(digits).Inc()
	if reply >= 400 {
		c.traffic.Refused(strings.TrimSpace(digits + " " + code))
	}
}

// observeStored counts a stored message.
func (c *counts) observeStored(source string, code bool) {
	found := "no"
	if code {
		found = "yes"
	}
	c.messages.WithLabelValues(source, found).Inc()
	c.traffic.Accepted()
}
