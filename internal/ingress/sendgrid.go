package ingress

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/netip"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
)

// sendGrid are the requests of an Inbound Parse webhook of SendGrid that sends the raw message.
type sendGrid struct {
	Config
	clock clock.Clock
	key   *ecdsa.PublicKey // verifies the signature of a request; nil: requests have Basic authentication
}

const (
	sendGridSignature = "X-Twilio-Email-Event-Webhook-Signature"
	sendGridTimestamp = "X-Twilio-Email-Event-Webhook-Timestamp"
)

// newSendGrid returns the kind sendgrid.
func newSendGrid(c Config, now clock.Clock) (sendGrid, error) {
	k := sendGrid{Config: c, clock: now}
	if c.PublicKey == "" {
		return k, nil
	}
	der, err := base64.StdEncoding.DecodeString(c.PublicKey)
	if err != nil {
		return k, err
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return k, err
	}
	var ok bool
	if k.key, ok = key.(*ecdsa.PublicKey); !ok {
		return k, errors.New("public_key is not an ECDSA key")
	}
	return k, nil
}

func (sendGrid) bodyMax(size int64) int64 { return encodedMax(size) }

func (sendGrid) bounces() bool { return false }

// admit requires a signature that is not too old, or Basic authentication.
func (k sendGrid) admit(r *Request) error {
	switch {
	case k.key == nil:
		return requireBasic(r.Header, k.Config)
	case r.Header.Get(sendGridSignature) == "":
		return problem.Detailf(problem.AuthRequired, "the request is not signed")
	case !isRecent(r.Header.Get(sendGridTimestamp), k.clock.Now(), providerAge):
		return problem.Detailf(problem.AuthInvalidToken, "the signature is too old")
	}
	return nil
}

// envelope is the field envelope.
type envelope struct {
	From string   `json:"from"`
	To   []string `json:"to"`
}

// parse checks the signature and returns the mail.
func (k sendGrid) parse(_ context.Context, r *Request, body []byte) (*mail, error) {
	if k.key != nil && !k.isSigned(r, body) {
		return nil, problem.Detailf(problem.AuthInvalidToken, "the signature is not that of this request")
	}
	fields, data, err := form(r.Header, body, "email", "envelope", "sender_ip")
	if err != nil {
		return nil, err
	}
	var e envelope
	if err := json.Unmarshal([]byte(fields["envelope"]), &e); err != nil {
		return nil, problem.Detailf(problem.RequestInvalid, "the field envelope is not the JSON of an envelope")
	}
	if len(data) == 0 {
		return nil, unread("there is no field email; let the webhook post the raw, full MIME message")
	}
	m := &mail{from: e.From, to: e.To, data: data}
	if client, err := netip.ParseAddr(fields["sender_ip"]); err == nil && client.Zone() == "" {
		m.client = client.Unmap()
	}
	return m, m.check()
}

// isSigned reports whether the signature is that of the time and the body.
func (k sendGrid) isSigned(r *Request, body []byte) bool {
	signature, err := base64.StdEncoding.DecodeString(r.Header.Get(sendGridSignature))
	if err != nil {
		return false
	}
	hash := sha256.New()
	hash.Write([]byte(r.Header.Get(sendGridTimestamp))) // never fails
	hash.Write(body)
	return ecdsa.VerifyASN1(k.key, hash.Sum(nil), signature)
}
