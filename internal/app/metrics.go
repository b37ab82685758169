package app

import (
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/process"
	"github.com/gonebox/gonebox/internal/smtpd"
)

// metrics holds the metrics of the service in a registry of its own, so that tests can run several services in a
// process. Calls are labelled by operation, never by path, so that clients cannot create time series. Names of metrics
// are public (docs/operating.md#what-to-watch) and never change.
type metrics struct {
	registry     *prometheus.Registry
	calls        *prometheus.HistogramVec
	connections  prometheus.Gauge
	mails        *prometheus.HistogramVec
	octets       *prometheus.CounterVec
	batchSize    prometheus.Histogram
	attempts     *prometheus.HistogramVec
	eraseBatches prometheus.Histogram
	counts       counts
}

// newMetrics creates and registers the metrics that the service updates. traffic counts mail beside them. Those that are read when they
// are scraped are registered by the count functions.
func newMetrics(traffic *process.Traffic) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gonebox_http_request_duration_seconds", Help: "Calls by operation and status, including the wait of long-polls.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"operation", "status"}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{Name: "gonebox_smtp_connections", Help: "SMTP connections that are open."}),
		mails: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gonebox_smtp_message_duration_seconds", Help: "Messages by outcome, from the first command of the content to the reply.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"outcome"}),
		octets: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "gonebox_smtp_message_bytes_total", Help: "Octets of messages by outcome."}, []string{"outcome"}),
	}
	m.batchSize = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "gonebox_mail_set_size", Help: "Mails per batch: stored in one transaction, with one sync of each file.",
		Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
	})
	m.attempts = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "gonebox_webhook_attempt_duration_seconds", Help: "Attempts to deliver an event to a webhook endpoint, by outcome.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
	}, []string{"outcome"})
	m.attempts.WithLabelValues("succeeded") // present from the start
	m.attempts.WithLabelValues("failed")
	m.eraseBatches = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "gonebox_erase_batch_duration_seconds", Help: "Transactions that expire mailboxes and erase them with their mail.",
		Buckets: []float64{.001, .0025, .005, .01, .02, .05, .1, .25, .5, 1, 2.5},
	})
	m.counts = newCounts(m.registry, traffic)
	m.registry.MustRegister(m.attempts, m.eraseBatches, m.batchSize, m.calls, m.connections, m.mails, m.octets, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// countMemory registers the metrics of a memory budget.
func (m *metrics) countMemory(b *budget.Budget) {
	total := prometheus.NewGauge(prometheus.GaugeOpts{Name: "gonebox_memory_budget_bytes", Help: "Memory for mail, requests and responses in progress (memory.budget)."})
	total.Set(float64(b.Total()))
	m.registry.MustRegister(total)
	for _, k := range budget.Kinds() {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "gonebox_memory_used_bytes", Help: "Memory of the budget in use, by kind.", ConstLabels: prometheus.Labels{"kind": k.String()},
		}, func() float64 { return float64(b.Used(k)) }))
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "gonebox_memory_refused_total", Help: "Requests for memory of the budget that timed out waiting, by kind.", ConstLabels: prometheus.Labels{"kind": k.String()},
		}, func() float64 { return float64(b.Refused(k)) }))
	}
}

// countDeliveryLog registers the metrics of the delivery log.
func (m *metrics) countDeliveryLog(s *deliverylog.Service) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "gonebox_delivery_log_dropped_total", Help: "Entries of the delivery log that were not written: too many arrived, or the database failed.",
	}, func() float64 { return float64(s.Dropped()) }))
}

// observeCall records a call of an HTTP API, on the goroutine of the call. A request for no operation counts as none.
func (m *metrics) observeCall(r httpkit.Result) {
	if r.Operation == "" {
		r.Operation = "none"
	}
	m.calls.WithLabelValues(r.Operation, strconv.Itoa(r.Status)).Observe(r.Took.Seconds())
	m.counts.observeCall(r)
}

// observeAttempt records an attempt to deliver an event to a webhook endpoint.
func (m *metrics) observeAttempt(succeeded bool, took time.Duration) {
	outcome := "failed"
	if succeeded {
		outcome = "succeeded"
	}
	m.attempts.WithLabelValues(outcome).Observe(took.Seconds())
}

// observeEraseBatch starts measuring a transaction that erases and returns the function that ends the measurement. It uses the
// system clock, since the duration must be real even where a test has replaced the clock of the service.
func (m *metrics) observeEraseBatch() (done func()) {
	begun := clock.System().Now()
	return func() { m.eraseBatches.Observe(clock.System().Now().Sub(begun).Seconds()) }
}

// smtp returns the functions with which the SMTP server reports.
func (m *metrics) smtp() smtpd.Metrics {
	return smtpd.Metrics{
		Connections: func(delta int) { m.connections.Add(float64(delta)) },
		Refused:     m.counts.observeLimited,
		Blocked:     m.counts.observeBlocked,
		Message: func(outcome smtpd.Outcome, octets int64, took time.Duration) {
			m.mails.WithLabelValues(string(outcome)).Observe(took.Seconds())
			m.octets.WithLabelValues(string(outcome)).Add(float64(octets))
		},
	}
}

// guardMetrics rejects requests that a web page of another site may have made: by a name that its owner could make point here,
// or from another origin. Otherwise any page could read metrics, or start profiles that slow the process down. Other sites
// may link to the pages.
func guardMetrics(h http.Handler, rules *local.Rules) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := rules.CheckHost(r)
		if isPage := r.URL.Path == "/metrics" || r.URL.Path == "/debug/pprof/"; err == nil && !(isPage && local.IsNavigation(r)) {
			err = rules.CheckOrigin(r)
		}
		if err != nil {
			p, _ := problem.From(err)
			http.Error(w, p.Reason(), p.Status())
			return
		}
		h.ServeHTTP(w, r)
	})
}

// handler serves metrics and profiles, without authentication: metrics.addr must not be public.
func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
