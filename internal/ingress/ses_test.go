package ingress_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/ingress"
	"github.com/gonebox/gonebox/internal/once"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/smtpd"
)

const (
	topic   = "arn:aws:sns:eu-west-1:123456789012:mail"
	certURL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"
)

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

// sns is a stub of Amazon SNS: it signs notifications and serves its certificate.
type sns struct {
	t     *testing.T
	key   *rsa.PrivateKey
	chain []byte // PEM
	roots *x509.CertPool

	mu    sync.Mutex
	asked []string // the URLs that were requested
	fail  bool     // requests fail
}

// newSNS returns SNS with a certificate, which change may modify. The authority between it and the root is in the chain.
func newSNS(t *testing.T, change func(*x509.Certificate)) *sns {
	t.Helper()
	root, rootKey := issue(t, "root", nil, nil, nil)
	between, betweenKey := issue(t, "authority", root, rootKey, nil)
	leaf, key := issue(t, "sns.amazonaws.com", between, betweenKey, change)
	s := &sns{t: t, key: key, roots: x509.NewCertPool()}
	s.roots.AddCert(root)
	for _, c := range []*x509.Certificate{leaf, between} {
		s.chain = append(s.chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return s
}

// issue issues a certificate; without an issuer it is signed by itself.
func issue(t *testing.T, name string, issuer *x509.Certificate, issuerKey *rsa.PrivateKey, change func(*x509.Certificate)) (*x509.Certificate, *rsa.PrivateKey) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(noon().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: noon().Add(-time.Hour), NotAfter: noon().Add(time.Hour), BasicConstraintsValid: true, IsCA: name != "sns.amazonaws.com",
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if change != nil {
		change(template)
	}
	if issuer == nil {
		issuer, issuerKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, issuerKey)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c, key
}

// RoundTrip answers every request with the certificate.
func (s *sns) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL.String())
	if s.fail {
		return nil, errors.New("no route to host")
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(s.chain))), Request: r}, nil
}

// sign signs a notification in its fields and returns it as JSON.
func (s *sns) sign(n map[string]string) []byte {
	s.t.Helper()
	names := []string{"Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"}
	if n["Type"] != "Notification" {
		names = []string{"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"}
	}
	var text strings.Builder
	for _, name := range names {
		if value, ok := n[name]; ok {
			text.WriteString(name + "\n" + value + "\n")
		}
	}
	hash, sum := crypto.SHA256, sha256.Sum256([]byte(text.String()))
	digest := sum[:]
	if n["SignatureVersion"] == "1" {
		first := sha1.Sum([]byte(text.String()))
		hash, digest = crypto.SHA1, first[:]
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, s.key, hash, digest)
	if err != nil {
		s.t.Fatal(err)
	}
	if n["Signature"] == "" {
		n["Signature"] = base64.StdEncoding.EncodeToString(signature)
	}
	body, err := json.Marshal(n)
	if err != nil {
		s.t.Fatal(err)
	}
	return body
}

// notification returns a notification about a mail, without its signature.
func notification(message any) map[string]string {
	text, _ := json.Marshal(message)
	return map[string]string{
		"Type": "Notification", "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324", "TopicArn": topic, "Subject": "Amazon SES Email Receipt Notification",
		"Message": string(text), "Timestamp": "2026-03-14T12:00:00.000Z", "SignatureVersion": "2", "SigningCertURL": certURL,
		"UnsubscribeURL": "https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe",
	}
}

type object = map[string]any

// received returns the message of a notification about a mail.
func received(id, to, content, encoding string) object {
	return object{
		"notificationType": "Received", "mail": object{"source": "shop@sender.example", "messageId": id, "destination": []string{"other@box.example"}},
		"receipt": object{"recipients": []string{to}, "action": object{"type": "SNS", "topicArn": topic, "encoding": encoding}}, "content": content,
	}
}

// submitted records the mails that are submitted.
type submitted struct {
	mu   sync.Mutex
	all  []smtpd.Submission
	data []string
}

// Submit accepts each mail.
func (s *submitted) Submit(_ context.Context, m smtpd.Submission) ([]smtpd.Disposition, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all, s.data = append(s.all, m), append(s.data, string(m.Data))
	out := make([]smtpd.Disposition, len(m.To))
	for i, to := range m.To {
		out[i] = smtpd.Disposition{To: to, Number: 250, Code: "2.0.0", Text: "ok"}
	}
	return out, nil
}

// newService returns a service with an ingress of the kind ses.
func newService(t *testing.T, s *sns, now *clock.Fake) (*ingress.Service, *submitted) {
	t.Helper()
	d, got := dbtest.Open(t, db.Options{}), &submitted{}
	service, err := ingress.New(ingress.Parts{
		DB: d, Clock: now, Logger: slog.New(slog.DiscardHandler), Once: once.New(d, now), Submitter: got, Client: &http.Client{Transport: s}, Roots: s.roots,
		Memory: func(n int64) int64 { return n }, MaxSize: 1 << 20,
	}, []ingress.Config{{Name: "ses", Kind: ingress.SES, Topic: topic}})
	if err != nil {
		t.Fatalf("New with an ingress of the kind ses: %v", err)
	}
	return service, got
}

// post posts a body as SNS does.
func post(t *testing.T, s *ingress.Service, body []byte) (ingress.Receipt, error) {
	t.Helper()
	r := &ingress.Request{Header: http.Header{"Content-Type": {"text/plain; charset=UTF-8"}}, Client: netip.MustParseAddr("192.0.2.1")}
	if _, err := s.Admit("ses", r); err != nil {
		return ingress.Receipt{}, err
	}
	return s.Receive(t.Context(), "ses", r, body, nil)
}

func TestNotificationOfSESIsStored(t *testing.T) {
	aws := newSNS(t, nil)
	s, got := newService(t, aws, clock.NewFake(noon()))
	const mail = "Subject: hi\r\n\r\nhi\r\n"
	second := notification(received("ses-2", "bob@box.example", base64.StdEncoding.EncodeToString([]byte(mail)), "BASE64"))
	second["SignatureVersion"] = "1"
	delete(second, "Subject")
	for _, n := range []map[string]string{notification(received("ses-1", "ada@box.example", mail, "UTF8")), second} {
		if receipt, err := post(t, s, aws.sign(n)); err != nil || len(receipt.Recipients) != 1 {
			t.Errorf("a notification with signature version %s: %+v, %v, want one recipient", n["SignatureVersion"], receipt, err)
		}
	}
	if len(got.all) != 2 || got.data[0] != mail || got.data[1] != mail || got.all[0].From != "shop@sender.example" || got.all[0].To[0] != "ada@box.example" {
		t.Errorf("submitted were %+v, want two mails, from the receipt's recipients", got.all)
	}
	if len(aws.asked) != 1 || aws.asked[0] != certURL {
		t.Errorf("requested were %q, want the certificate once", aws.asked)
	}
	// What is about no mail is acknowledged.
	for _, message := range []any{object{"notificationType": "AmazonSnsSubscriptionSucceeded"}, "Successfully validated SNS topic for Amazon SES event publishing.", object{}} {
		if receipt, err := post(t, s, aws.sign(notification(message))); err != nil || len(receipt.Recipients) != 0 {
			t.Errorf("a notification about %v: %+v, %v, want it acknowledged", message, receipt, err)
		}
	}
	// A rule that leaves out the content is mended, and the notification is sent again.
	if receipt, err := post(t, s, aws.sign(notification(received("ses-3", "ada@box.example", "", "UTF8")))); !problem.Has(err, problem.ServerUnavailable) {
		t.Errorf("a notification without content: %+v, %v, want server.unavailable", receipt, err)
	}
	// Content that is not what it claims to be cannot be stored, and SNS could do nothing about it.
	if receipt, err := post(t, s, aws.sign(notification(received("ses-4", "ada@box.example", "%%%", "BASE64")))); err != nil || len(receipt.Recipients) != 0 {
		t.Errorf("a notification with broken content: %+v, %v, want it acknowledged", receipt, err)
	}
	if len(got.all) != 2 {
		t.Errorf("%d mails were submitted, want 2", len(got.all))
	}
}

func TestForgedNotificationIsForbidden(t *testing.T) {
	aws := newSNS(t, nil)
	s, got := newService(t, aws, clock.NewFake(noon()))
	for name, change := range map[string]func(map[string]string){
		"another topic":     func(n map[string]string) { n["TopicArn"] += "2" },
		"two hours old":     func(n map[string]string) { n["Timestamp"] = "2026-03-14T10:00:00.000Z" },
		"an hour ahead":     func(n map[string]string) { n["Timestamp"] = "2026-03-14T13:00:00.000Z" },
		"time is none":      func(n map[string]string) { n["Timestamp"] = "now" },
		"another signature": func(n map[string]string) { n["Signature"] = base64.StdEncoding.EncodeToString(make([]byte, 256)) },
		"signature is text": func(n map[string]string) { n["Signature"] = "?" },
		"version 3":         func(n map[string]string) { n["SignatureVersion"] = "3" },
		"another type":      func(n map[string]string) { n["Type"] = "Else" },
		"http":              func(n map[string]string) { n["SigningCertURL"] = strings.Replace(certURL, "https", "http", 1) },
		"another host": func(n map[string]string) {
			n["SigningCertURL"] = "https://sns.eu-west-1.amazonaws.com.evil.example/a.pem"
		},
		"host in user": func(n map[string]string) {
			n["SigningCertURL"] = "https://sns.eu-west-1.amazonaws.com@evil.example/a.pem"
		},
		"another port": func(n map[string]string) { n["SigningCertURL"] = "https://sns.eu-west-1.amazonaws.com:8443/a.pem" },
		"no region":    func(n map[string]string) { n["SigningCertURL"] = "https://sns.amazonaws.com/a.pem" },
		"a bucket":     func(n map[string]string) { n["SigningCertURL"] = "https://s3.eu-west-1.amazonaws.com/a.pem" },
		"two labels":   func(n map[string]string) { n["SigningCertURL"] = "https://sns.a.b.amazonaws.com/a.pem" },
		"a query":      func(n map[string]string) { n["SigningCertURL"] = certURL + "?Action=GetTopicAttributes" },
		"a call": func(n map[string]string) {
			n["SigningCertURL"] = "https://sns.eu-west-1.amazonaws.com/?Action=GetTopicAttributes"
		},
		"a folder": func(n map[string]string) { n["SigningCertURL"] = "https://sns.eu-west-1.amazonaws.com/a/b.pem" },
		"no URL":   func(n map[string]string) { n["SigningCertURL"] = "" },
		"confirmation abroad": func(n map[string]string) {
			n["Type"], n["Token"], n["SubscribeURL"] = "SubscriptionConfirmation", "t", "https://evil.example/?Action=ConfirmSubscription"
		},
	} {
		n := notification(received(name, "ada@box.example", "Subject: x\r\n\r\n", "UTF8"))
		change(n)
		if _, err := post(t, s, aws.sign(n)); !problem.Has(err, problem.AuthInvalidToken) {
			t.Errorf("a notification with %s: %v, want auth.invalid_token", name, err)
		}
	}
	body := aws.sign(notification(received("changed", "ada@box.example", "Subject: x\r\n\r\n", "UTF8")))
	for name, forged := range map[string][]byte{
		"a changed message": []byte(strings.Replace(string(body), "ada@box", "bob@box", 1)), "no JSON": []byte("{"), "null": []byte("null"), "a list": []byte("[]"), "nothing": nil,
	} {
		if _, err := post(t, s, forged); !problem.Has(err, problem.AuthInvalidToken) {
			t.Errorf("%s: %v, want auth.invalid_token", name, err)
		}
	}
	for _, asked := range aws.asked {
		if asked != certURL {
			t.Errorf("%s was requested, want nothing but the certificate", asked)
		}
	}
	if len(got.all) != 0 {
		t.Errorf("%d mails were submitted, want none", len(got.all))
	}
}

func TestCertificateOfANotificationIsChecked(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*x509.Certificate)
		chain  func(*sns) // changes what is served
		ok     bool
	}{
		"whole chain":         {ok: true},
		"without the chain":   {chain: func(s *sns) { block, _ := pem.Decode(s.chain); s.chain = pem.EncodeToMemory(block) }, ok: true},
		"another name":        {change: func(c *x509.Certificate) { c.DNSNames = []string{"evil.example"} }},
		"expired":             {change: func(c *x509.Certificate) { c.NotAfter = noon().Add(-time.Minute) }},
		"not valid yet":       {change: func(c *x509.Certificate) { c.NotBefore = noon().Add(time.Minute) }},
		"another root":        {chain: func(s *sns) { s.roots = x509.NewCertPool() }},
		"no certificate":      {chain: func(s *sns) { s.chain = []byte("<html>") }},
		"nothing":             {chain: func(s *sns) { s.chain = nil }},
		"signed by itself":    {chain: func(s *sns) { s.selfSign() }},
		"a broken one":        {chain: func(s *sns) { s.chain = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}) }},
		"SNS does not answer": {chain: func(s *sns) { s.fail = true }},
	} {
		aws := newSNS(t, test.change)
		if test.chain != nil {
			test.chain(aws)
		}
		s, got := newService(t, aws, clock.NewFake(noon()))
		_, err := post(t, s, aws.sign(notification(received("id", "ada@box.example", "Subject: x\r\n\r\n", "UTF8"))))
		want := problem.AuthInvalidToken
		if aws.fail {
			want = problem.ServerUnavailable
		}
		if test.ok && (err != nil || len(got.all) != 1) || !test.ok && (!problem.Has(err, want) || len(got.all) != 0) {
			t.Errorf("%s: %v and %d mails, want the mail taken: %t, or else the problem %v", name, err, len(got.all), test.ok, want)
		}
	}
}

// selfSign replaces the certificate by one that no authority has signed.
func (s *sns) selfSign() {
	leaf, key := issue(s.t, "sns.amazonaws.com", nil, nil, nil)
	s.key, s.chain = key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})
}

func TestSubscriptionIsConfirmed(t *testing.T) {
	aws := newSNS(t, nil)
	s, _ := newService(t, aws, clock.NewFake(noon()))
	const confirm = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=" + topic + "&Token=t"
	n := notification("You have chosen to subscribe.")
	delete(n, "Subject")
	n["Type"], n["Token"], n["SubscribeURL"] = "SubscriptionConfirmation", "t", confirm
	if receipt, err := post(t, s, aws.sign(n)); err != nil || len(receipt.Recipients) != 0 {
		t.Errorf("a confirmation: %+v, %v, want it acknowledged", receipt, err)
	}
	if len(aws.asked) != 2 || aws.asked[1] != confirm {
		t.Errorf("requested were %q, want the certificate and then %s", aws.asked, confirm)
	}
	n["Type"], n["Signature"] = "UnsubscribeConfirmation", ""
	if _, err := post(t, s, aws.sign(n)); err != nil || len(aws.asked) != 2 {
		t.Errorf("the end of a subscription: %v and the requests %q, want it acknowledged without one", err, aws.asked)
	}
	aws.fail, n["Type"], n["Signature"] = true, "SubscriptionConfirmation", ""
	if _, err := post(t, s, aws.sign(n)); !problem.Has(err, problem.ServerUnavailable) {
		t.Errorf("a confirmation while SNS does not answer: %v, want server.unavailable, so that it is sent again", err)
	}
}
