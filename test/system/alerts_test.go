package system_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// recording is the metrics of a service, scraped several times. promtool evaluates the alert rules on them as if they had been scraped
// once a minute: the causes and the numbers are real, and no test waits for the ten minutes of a rule.
type recording struct {
	t       *testing.T
	scrapes []map[string]string // values by series
}

// alertRules is the file that operators load into Prometheus.
const alertRules = "../../deploy/alerts.yaml"

// scrape adds the present values of the metrics that the rules use.
func (r *recording) scrape(s *service) {
	r.t.Helper()
	rules, err := os.ReadFile(alertRules)
	if err != nil {
		r.t.Fatal(err)
	}
	used := regexp.MustCompile(`gonebox_[a-z_]+`).FindAllString(string(rules), -1)
	values := make(map[string]string)
	for line := range strings.Lines(s.scrape()) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		name, labels, has := strings.Cut(series, "{")
		if has && slices.Contains(used, name) {
			values[fmt.Sprintf(`%s{instance="a",job="gonebox",%s}`, name, labels)] = value
		}
	}
	if len(values) == 0 {
		r.t.Fatal("the service shows none of the metrics of the alerts, want some")
	}
	r.scrapes = append(r.scrapes, values)
}

// wantFiring checks that an alert fires at the given minute, where the last scrape stays as it is from the end of the recording on, and that
// it did not fire at the first scrape.
func (r *recording) wantFiring(alert string, minute int) {
	r.t.Helper()
	rules, err := filepath.Abs(alertRules)
	if err != nil {
		r.t.Fatal(err)
	}
	all := make(map[string]string)
	for _, scrape := range r.scrapes {
		maps.Copy(all, scrape)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "rule_files: [%s]\nevaluation_interval: 1m\ntests:\n  - interval: 1m\n    input_series:\n", rules)
	for _, series := range slices.Sorted(maps.Keys(all)) {
		values := make([]string, minute+1)
		for i := range values {
			if values[i] = r.scrapes[min(i, len(r.scrapes)-1)][series]; values[i] == "" {
				values[i] = "_" // not exported then
			}
		}
		fmt.Fprintf(&text, "      - {series: '%s', values: '%s'}\n", series, strings.Join(values, " "))
	}
	firing := fmt.Sprintf(`count by (alertname) (ALERTS{alertstate="firing",alertname=%q})`, alert)
	fmt.Fprintf(&text, "    promql_expr_test:\n      - {expr: '%s', eval_time: 0m, exp_samples: []}\n", firing)
	fmt.Fprintf(&text, "      - {expr: '%s', eval_time: %dm, exp_samples: [{labels: '{alertname=%q}', value: 1}]}\n", firing, minute, alert)
	file := filepath.Join(r.t.TempDir(), alert+".yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		r.t.Fatal(err)
	}
	if out, err := exec.CommandContext(r.t.Context(), need(r.t, "promtool"), "test", "rules", file).CombinedOutput(); err != nil {
		r.t.Errorf("%s: %v, want it to fire\n%s\n%s", alert, err, out, text.String())
	}
}

// value returns the sum of the present values of the series that begin with a text.
func (s *service) value(series string) (sum float64) {
	for line := range strings.Lines(s.scrape()) {
		if rest, ok := strings.CutPrefix(line, series); ok {
			fields := strings.Fields(rest)
			v, _ := strconv.ParseFloat(fields[len(fields)-1], 64)
			sum += v
		}
	}
	return sum
}

// A database that stops makes the service defer mail and answer calls with 503.
func TestAlertsOfStoppedDatabase(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	c := startCluster(t, server.URL("gonebox"), nil, "smtp, api, jobs")
	s := c.processes[0]
	box := s.newMailbox()
	r := &recording{t: t}
	r.scrape(s)
	must(t, server.Kill())
	const minutes, calls = 6, 3
	for n := range minutes {
		for range calls {
			wantReply(t, "without a database", send(t, s.smtp, sampleMail("lost", "lost"), box.Address), "451 ")
			if status, _ := s.call(http.MethodGet, "/mailboxes/me/messages", box.Token, nil); status != http.StatusServiceUnavailable {
				t.Errorf("a call without a database: %d, want %v", status, http.StatusServiceUnavailable)
			}
		}
		await(t, "the metric", func() bool { // a call is counted just after its answer
			return s.value(`gonebox_http_requests_total{operation="list-messages",status="503"`) == float64(calls*(n+1))
		})
		r.scrape(s)
	}
	r.wantFiring("GoneboxStorageUnavailable", minutes)
	r.wantFiring("GoneboxServerErrors", minutes)
}

// A webhook endpoint that answers 500 to every attempt makes dead jobs.
func TestAlertOfDeadJobs(t *testing.T) {
	t.Parallel()
	set := hookSettings()
	set["webhooks.retry_schedule"], set["plans.free.mailboxes.max"] = "1ms", "200"
	s := start(t, options{set: set})
	h := s.hooked("ada@example.org", 101)
	h.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	r := &recording{t: t}
	r.scrape(s)
	s.mailAll(h.boxes, 1)
	await(t, "the end of the last attempt", func() bool { return s.value(`gonebox_jobs{state="dead"}`) > 100 })
	r.scrape(s)
	r.wantFiring("GoneboxJobsDead", 12)
}

// Without a process that has the role jobs, webhook deliveries stay due.
func TestAlertOfLateJobs(t *testing.T) {
	t.Parallel()
	set := hookSettings()
	set["plans.free.mailboxes.max"] = "200"
	c := startCluster(t, newServer(t).URL("gonebox"), set, "smtp, api")
	s := c.processes[0]
	h := s.hooked("ada@example.org", 101)
	r := &recording{t: t}
	r.scrape(s)
	s.mailAll(h.boxes, 10)
	await(t, "the late jobs", func() bool { return s.value(`gonebox_jobs{state="ready"}`) > 1000 })
	r.scrape(s)
	r.wantFiring("GoneboxJobsLate", 12)
}

// mailAll sends mails to a number of mailboxes, 100 in an envelope at most.
func (s *service) mailAll(boxes []mailbox, mails int) {
	s.t.Helper()
	var to []string
	for _, b := range boxes {
		to = append(to, b.Address)
	}
	for i := range mails {
		for part := range slices.Chunk(to, 100) {
			wantReply(s.t, "mail", send(s.t, s.smtp, sampleMail(fmt.Sprint("mail ", i), "hello"), part...), "250 ")
		}
	}
}

// A client whose large mail comes in slowly uses up its share of the memory for mail.
func TestAlertOfExhaustedMemory(t *testing.T) {
	t.Parallel()
	s := start(t, options{set: map[string]string{"memory.budget": "128MiB", "smtp.memory_timeout": "50ms"}})
	box := s.newMailbox()
	declare := func(size int) string {
		t.Helper()
		c := mustDial(t, s.smtp)
		var reply string
		for _, command := range []string{fmt.Sprintf("MAIL FROM:<a@example.org> SIZE=%d", size), fmt.Sprintf("RCPT TO:<%s>", box.Address), "DATA"} {
			var err error
			if reply, err = c.say("%s", command); err != nil {
				t.Fatal(err)
			}
		}
		return reply
	}
	r := &recording{t: t}
	r.scrape(s)
	wantReply(t, "the slow mail", declare(25<<20), "354 ")
	for range 8 {
		wantReply(t, "a mail for which there is no memory", declare(10<<20), "452 4.3.1 ")
		r.scrape(s)
	}
	r.wantFiring("GoneboxMemoryExhausted", 8)
}
