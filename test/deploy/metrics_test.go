package deploy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// promtool runs Prometheus' tool in deploy/.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	run := exec.CommandContext(t.Context(), apptest.LookPath(t, "promtool"), args...)
	run.Dir = folder
	if text, err := run.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, text)
	}
}

func TestAlertRules(t *testing.T) {
	promtool(t, "check", "rules", "alerts.yaml")
	promtool(t, "test", "rules", "alerts_test.yaml")
	tested := read(t, folder+"alerts_test.yaml")
	for _, name := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(read(t, folder+"alerts.yaml"), -1) {
		if !strings.Contains(tested, name[1]) {
			t.Errorf("no test makes %s fire, want %v in it", name[1], name[1])
		}
	}
}

// The metrics that the dashboard and the alerts use, and those that the documentation promises with their labels, are exported.
func TestMetricsOfDashboardAreExported(t *testing.T) {
	metrics := apptest.FreeAddress(t)
	url, mail := apptest.Serve(t, apptest.Program(t), "metrics.addr="+metrics, "ingress.raw.kind=raw", "ingress.raw.secret=correct horse battery staple",
		"relay.url=smtp://127.0.0.1:1", "relay.from=no-reply@box.example.org")
	post := func(path, body string, status int) string {
		t.Helper()
		r, err := http.Post("http://"+url+"/api/v1"+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		if r.StatusCode != status {
			t.Fatalf("POST %s: %d %s, want StatusCode %v", path, r.StatusCode, text, status)
		}
		return string(text)
	}
	address := regexp.MustCompile(`"address":"([^"]+)"`).FindStringSubmatch(post("/mailboxes", "{}", 201))[1]
	if err := smtp.SendMail(mail, nil, "a@shop.example", []string{address}, []byte("Subject: Your code\r\n\r\nYour verification code is 482913.\r\n")); err != nil {
		t.Fatal(err)
	}
	_ = smtp.SendMail(mail, nil, "a@shop.example", []string{"no." + address}, []byte("\r\n"))
	post("/auth/register", `{"email":"ada@example.org","password":"correct horse battery"}`, 201)
	post("/auth/token", `{"email":"ada@example.org","password":"correct horse battery"}`, 200)
	post("/auth/token", `{"email":"ada@example.org","password":"wrong"}`, 401)

	lines := []string{
		`gonebox_smtp_recipients_total{reply="250"} 1`, `gonebox_smtp_recipients_total{reply="550"} 1`,
		`gonebox_messages_total{code="yes",source="smtp"} 1`, `gonebox_messages_total{code="no",source="injected"} 0`,
		`gonebox_mailboxes{source="guest"} 1`, `gonebox_waits 0`, `gonebox_jobs{state="dead"} 0`,
		`gonebox_rate_limited_total{limit="other"} 0`, `gonebox_signins_total{result="success"} 1`, `gonebox_signins_total{result="invalid_credentials"} 1`, //nolint:misspell // the name of a metric is public
		`gonebox_http_requests_total{operation="create-mailbox",status="201"} 1`, `gonebox_store_bytes{kind="database"} `, `gonebox_store_bytes{kind="raw"} `,
		`gonebox_build_info{version="`, `gonebox_ingress_mails_total{ingress="raw",kind="raw",outcome="stored"} 0`, `gonebox_messages_total{code="no",source="ingress"} 0`,
		`gonebox_relay_attempts_total{outcome="sent"} 0`, `gonebox_relay_attempts_total{outcome="expired"} 0`, `gonebox_relay_waiting 0`, `gonebox_relay_oldest_seconds 0`,
	}
	exported := ""
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) { // a call is counted just after its answer
		exported = scrape(t, metrics)
		lack := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.Contains(exported, "\n"+line) })
		if len(lack) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the metrics lack %q, want them in\n%s", lack, exported)
		}
	}
	for _, file := range []string{"grafana.json", "alerts.yaml"} {
		for _, name := range regexp.MustCompile(`gonebox_[a-z_]+`).FindAllString(read(t, folder+file), -1) {
			name = strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
			if !strings.Contains(exported, "\n# TYPE "+name+" ") {
				t.Errorf("%s uses %s, want only metrics that are exported", file, name)
			}
		}
	}
}

func scrape(t *testing.T, addr string) string {
	t.Helper()
	r, err := http.Get(fmt.Sprintf("http://%s/metrics", addr))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
