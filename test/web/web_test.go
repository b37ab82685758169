// Package web_test opens the visitor's page in headless Chromium against the built program, with mail that comes in over
// SMTP. The flows are in *.test.mjs; this file starts what they need.
package web_test

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// timeout bounds all flows together, which take some three minutes on two cores; it is not a measurement.
const timeout = 30 * time.Minute

// modules is where make web installs the driver of the browser.
const modules = "../../web/node_modules"

func TestMain(m *testing.M) { os.Exit(apptest.RunLong("Node and Chromium", m.Run)) }

// linkIn finds the sign-in link in the greeting of a service with profile dev.
var linkIn = regexp.MustCompile(`http://\S+/sign-in#token=\S+`)

func TestTheVisitorsPageInABrowser(t *testing.T) {
	node, chromium := apptest.LookPath(t, "node"), apptest.LookPath(t, "chromium-headless-shell", "chromium")
	if _, err := os.Stat(filepath.Join(modules, "playwright-core")); err != nil {
		t.Skip("the driver of the browser is not installed: run make web")
	}
	binary, data, dns := apptest.Program(t), t.TempDir(), apptest.FreeAddress(t)
	authority := certify(t, "hooks.gonebox-flows.net")
	t.Setenv("SSL_CERT_FILE", authority) // the service trusts the endpoint of the flows
	http, smtp := apptest.Serve(t, binary, append(bank, "data_dir="+data, "dns.resolver="+dns,
		"ingress.home.kind=raw", "ingress.home.secret=a secret of the flows", "limits.mailbox_create=1000/1m",
		"limits.reads=10000/1m", "limits.register=100/1h", "limits.signin=100/1m", "limits.other=10000/1m")...)
	closed, _ := apptest.Serve(t, binary, "access.registration=closed", "access.guests=off", "access.contact=help@operator.example")
	invited := t.TempDir()
	byInvitation, _ := apptest.Serve(t, binary, "access.registration=invite", "data_dir="+invited)
	below, belowSMTP := apptest.Serve(t, binary, "base_url=http://localhost/mail", "limits.reads=10000/1m", "limits.other=10000/1m")
	inbox := apptest.FreeAddress(t)
	dev, devSMTP, greeting := apptest.ServeWithGreeting(t, binary, "profile=dev", "compat.mailpit.addr="+inbox)
	// A service with a relay, which takes mail for everybody: its inbox must not be that of other flows.
	sent := apptest.FreeAddress(t)
	_, relay := apptest.Serve(t, binary, "profile=dev", "compat.mailpit.addr="+sent)
	mailing, mailingSMTP := apptest.Serve(t, binary, "relay.url=smtp://"+relay, "relay.from=Gonebox <no-reply@box.example>", "access.confirm_email=required",
		"limits.signin_address=1000/5m", "limits.register=100/1h", "limits.signin=100/1m", "limits.other=10000/1m")
	// One whose relay fails at first: the flow about it is the relay.
	late, lateData := apptest.FreeAddress(t), t.TempDir()
	delayed, delayedSMTP := apptest.Serve(t, binary, "relay.url=smtp://"+late, "relay.from=Gonebox <no-reply@box.example>", "relay.retry_schedule=2s", "data_dir="+lateData)
	issuer := team(t)
	signIn := []string{"oidc.issuer=" + issuer.URL, "oidc.client_id=" + issuer.ClientID, "oidc.client_secret=" + issuer.ClientSecret, "oidc.name=Example Inc.", "oidc.allow_groups=dev"}
	both, _ := apptest.Serve(t, binary, signIn...)
	alone, _ := apptest.Serve(t, binary, append(signIn, "access.password=off", "access.contact=help@operator.example")...)
	flows, err := filepath.Glob(cmp.Or(os.Getenv("PAGE_FLOWS"), "*.test.mjs")) // some of them, while one works on them
	if err != nil || len(flows) == 0 {
		t.Fatalf("the flows: %v, want some *.test.mjs", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, append([]string{"--test", "--test-concurrency=2", "--test-reporter=spec"}, flows...)...)
	cmd.Env = append(os.Environ(), "GONEBOX_URL=http://"+http, "GONEBOX_SMTP="+smtp, "GONEBOX_DNS="+dns, "GONEBOX_BINARY="+binary,
		"GONEBOX_DATA="+data, "GONEBOX_CLOSED_URL=http://"+closed, "GONEBOX_INVITE_URL=http://"+byInvitation,
		"GONEBOX_DEV_URL=http://"+dev, "GONEBOX_DEV_SMTP="+devSMTP, "GONEBOX_INBOX_URL=http://"+inbox, "GONEBOX_DEV_LINK="+linkIn.FindString(greeting),
		"GONEBOX_ISSUER_URL="+issuer.URL, "GONEBOX_TEAM_URL=http://"+both, "GONEBOX_TEAM_ONLY_URL=http://"+alone,
		"GONEBOX_MAIL_URL=http://"+mailing, "GONEBOX_SENT_URL=http://"+sent, "GONEBOX_MAIL_SMTP="+mailingSMTP, "GONEBOX_INVITE="+invite(t, binary, invited), "GONEBOX_INVITE_DATA="+invited, "GONEBOX_CERTIFICATE="+authority,
		"GONEBOX_LATE_RELAY="+late, "GONEBOX_LATE_URL=http://"+delayed, "GONEBOX_LATE_SMTP="+delayedSMTP, "GONEBOX_LATE_DATA="+lateData,
		"GONEBOX_PATH_URL=http://"+below, "GONEBOX_PATH_SMTP="+belowSMTP, "CHROMIUM="+chromium)
	if out, err := cmd.CombinedOutput(); err != nil || testing.Verbose() {
		t.Logf("%s", out)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// team starts an issuer that asks who signs in: for each flow a member of the team, one who has an account here already, and one who has
// left.
func team(t *testing.T) *apptest.Issuer {
	t.Helper()
	issuer := apptest.NewIssuer(t)
	issuer.Set(func() { addTeam(issuer) })
	return issuer
}

func addTeam(issuer *apptest.Issuer) {
	issuer.Now = time.Now
	for _, flow := range []string{"en-desktop", "en-phone", "vi-desktop", "vi-phone"} {
		for who, groups := range map[string][]string{"member": {"dev"}, "known": {"dev"}, "gone": {"alumni"}} {
			subject := who + "-" + flow
			issuer.Users[subject] = apptest.IssuerUser{Subject: subject, Claims: map[string]any{"email": subject + "@example.org", "email_verified": true, "groups": groups}}
		}
	}
}

// bank are the settings that make top-ups possible, and an endpoint on this machine. The flows play the bank.
var bank = []string{
	"billing.bankpay.apikey=bank-secret-of-the-flows", "billing.bankpay.allow_networks=127.0.0.0/8", "billing.bankpay.bank_bin=970436",
	"billing.bankpay.bank_name=Vietcombank", "billing.bankpay.account_number=0011001932418", "billing.bankpay.account_name=CONG TY GONEBOX",
	"billing.reconcile_every=1s", "webhooks.allow_networks=127.0.0.0/8",
}

// certify creates a certificate for a host, which is its own authority, and returns the file that has it and its key.
func certify(t *testing.T, host string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	file := filepath.Join(t.TempDir(), "endpoint.pem")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// invite creates an invitation in the data folder of a running service, and returns its code.
func invite(t *testing.T, binary, data string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, "invite", "add", "--json", "--data-dir", data).Output()
	if err != nil {
		t.Fatalf("create an invitation: %v", err)
	}
	var made struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal(out, &made); err != nil || made.Code == "" {
		t.Fatalf("the invitation is %s: %v, want a code in it", out, err)
	}
	return made.Code
}
