package app_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/app/apptest"
)

const snsTopic = "arn:aws:sns:eu-west-1:123456789012:mail"

// amazon is a stub of SNS: it serves its certificate, and signs notifications.
type amazon struct {
	key  *rsa.PrivateKey
	cert *x509.Certificate
}

func newAmazon(t *testing.T) *amazon {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sns.amazonaws.com"}, DNSNames: []string{"sns.amazonaws.com"},
		NotBefore: apptest.Noon().Add(-time.Hour), NotAfter: apptest.Noon().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &amazon{key, cert}
}

// RoundTrip serves the certificate.
func (a *amazon) RoundTrip(r *http.Request) (*http.Response, error) {
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(text))), Request: r}, nil
}

// notification returns a signed notification about a mail.
func (a *amazon) notification(t *testing.T, to, content string) []byte {
	t.Helper()
	message, err := json.Marshal(map[string]any{
		"notificationType": "Received", "mail": map[string]any{"source": "shop@sender.example", "messageId": "o3vrnil0e2ic28trm7dfhrc2v0clambda4nbp0g1"},
		"receipt": map[string]any{"recipients": []string{to}, "action": map[string]any{"type": "SNS", "encoding": "BASE64"}}, "content": base64.StdEncoding.EncodeToString([]byte(content)),
	})
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]string{
		"Type": "Notification", "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324", "TopicArn": snsTopic, "Message": string(message), "Timestamp": "2026-03-14T12:00:00.000Z",
		"SignatureVersion": "2", "SigningCertURL": "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService.pem",
	}
	text := ""
	for _, name := range []string{"Message", "MessageId", "Timestamp", "TopicArn", "Type"} {
		text += name + "\n" + n[name] + "\n"
	}
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, a.key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	n["Signature"] = base64.StdEncoding.EncodeToString(signature)
	body, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// A notification of Amazon SES ends the wait for the code in its mail, however often it is sent.
func TestNotificationOfSESEndsAWait(t *testing.T) {
	t.Parallel()
	aws := newAmazon(t)
	roots := x509.NewCertPool()
	roots.AddCert(aws.cert)
	s := apptest.Start(t, apptest.Options{
		Set: map[string]string{"ingress.aws.kind": "ses", "ingress.aws.topic": snsTopic},
		App: app.Options{SNS: &app.SNS{Client: &http.Client{Transport: aws}, Roots: roots}},
	})
	box := s.NewMailbox()
	waiting := make(chan apptest.Response)
	go func() {
		a, _ := s.TryCall(t.Context(), http.MethodGet, "/mailboxes/me/otp/latest?wait=60", box.Token, nil)
		waiting <- a
	}()
	body := aws.notification(t, box.Address, "Subject: Your code\r\n\r\nYour verification code is 482913.\r\n")
	for i := range 3 {
		r, err := s.Request(t.Context(), http.MethodPost, "/ingress/aws", "", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "text/plain; charset=UTF-8")
		if a, err := s.Do(r); err != nil || a.Status != http.StatusOK || !strings.Contains(string(a.Body), `"reply":"250 2.0.0`) {
			t.Errorf("notification %d: %d %s, %v, want the reply 250", i, a.Status, a.Body, err)
		}
	}
	if a := <-waiting; !strings.Contains(string(a.Body), "482913") {
		t.Errorf("the wait for a code got %d %s, want 482913", a.Status, a.Body)
	}
	if a := s.Call(http.MethodGet, "/mailboxes/me", box.Token, nil); !strings.Contains(string(a.Body), `"messageCount":1,`) {
		t.Errorf("the mailbox is %s, want one message", a.Body)
	}
}
