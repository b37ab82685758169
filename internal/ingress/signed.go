package ingress

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
)

// signed are the kinds raw and cloudflare: the body is the message, and header fields have the envelope. A signature covers all of it and
// the time; with raw, Basic authentication is accepted instead.
type signed struct {
	Config
	clock clock.Clock
}

// signatureAge is how old a signature may be. What is sent again is signed again.
const signatureAge = 5 * time.Minute

func (signed) bodyMax(size int64) int64 { return size }

func (signed) bounces() bool { return true }

// admit checks that there is a signature that is not too old, or Basic authentication.
func (k signed) admit(r *Request) error {
	given := r.Header.Values("X-Signature")
	switch {
	case isBasic(r.Header, k.Config):
		return nil
	case len(given) == 0 && r.Header.Get("Authorization") == "":
		return problem.Detailf(problem.AuthRequired, "send X-Signature: t=<time>,v1=<HMAC-SHA-256>, or Basic authentication")
	case len(given) != 1:
		return problem.New(problem.AuthInvalidToken)
	}
	if at, _ := parseSignature(given[0]); !isRecent(at, k.clock.Now(), signatureAge) {
		return problem.Detailf(problem.AuthInvalidToken, "the signature is not of the last 5 minutes")
	}
	return nil
}

// parseSignature returns the time and the signatures of X-Signature: t=1,v1=aa.
func parseSignature(text string) (at string, macs []string) {
	for part := range strings.SplitSeq(text, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "t":
			at = value
		case "v1":
			macs = append(macs, value)
		}
	}
	return at, macs
}

// parse checks the signature and returns the mail.
func (k signed) parse(_ context.Context, r *Request, body []byte) (*mail, error) {
	h := r.Header
	m := &mail{from: h.Get("X-Envelope-From"), to: addressesOf(h.Values("X-Envelope-To")), helo: h.Get("X-Helo"), data: body}
	remote := h.Get("X-Remote-Ip")
	if !isBasic(h, k.Config) && !k.isSigned(h.Get("X-Signature"), m, remote) {
		return nil, problem.Detailf(problem.AuthInvalidToken, "the signature is not that of this request")
	}
	for _, name := range []string{"X-Envelope-From", "X-Remote-Ip", "X-Helo"} {
		if len(h.Values(name)) > 1 {
			return nil, problem.Detailf(problem.RequestInvalid, "%s is given twice", name)
		}
	}
	if m.from == "<>" {
		m.from = ""
	}
	if remote != "" {
		client, err := netip.ParseAddr(remote)
		if err != nil || client.Zone() != "" {
			return nil, problem.Detailf(problem.RequestInvalid, "X-Remote-Ip is not an IP address")
		}
		m.client = client.Unmap()
	}
	return m, m.check()
}

// isSigned reports whether one of the signatures is that of a mail (docs/spec/ingress.md#signatures).
func (k signed) isSigned(signature string, m *mail, remote string) bool {
	at, macs := parseSignature(signature)
	signedText := strings.Join([]string{at, m.from, strings.Join(m.to, ","), remote, ""}, "\n")
	for _, mac := range macs[:min(len(macs), 4)] {
		if isMAC(mac, k.Secret, []byte(signedText), m.data) {
			return true
		}
	}
	return false
}

// addressesOf returns the addresses of a repeated header field, which HTTP libraries and proxies join with commas (RFC 9110 §5.3). A comma
// within quotes belongs to a local part.
func addressesOf(values []string) (all []string) {
	for _, value := range values {
		begin, quoted := 0, false
		for i := 0; i <= len(value); i++ {
			switch {
			case i == len(value) || value[i] == ',' && !quoted:
				if address := strings.TrimSpace(value[begin:i]); address != "" {
					all = append(all, address)
				}
				begin = i + 1
			case value[i] == '\\' && quoted:
				i++
				if i == len(value) {
					i--
				}
			case value[i] == '"':
				quoted = !quoted
			}
		}
	}
	return all
}

// recipientsMax is how many recipients are looked at. No provider sends as many.
const recipientsMax = 1000

// check checks what every mail must have. Error: request.invalid.
func (m *mail) check() error {
	switch {
	case len(m.to) == 0:
		return problem.Detailf(problem.RequestInvalid, "the envelope has no recipient")
	case len(m.to) > recipientsMax:
		return problem.Detailf(problem.RequestInvalid, "the envelope has more than %d recipients", recipientsMax)
	case len(m.data) == 0:
		return problem.Detailf(problem.RequestInvalid, "there is no message")
	}
	return nil
}
