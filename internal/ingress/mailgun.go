package ingress

import (
	"context"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/once"
	"github.com/gonebox/gonebox/internal/problem"
)

// mailgun are the requests of a route of Mailgun whose URL ends in mime: a form with the whole message.
type mailgun struct {
	Config
	clock clock.Clock
}

// providerAge is how old the signature of a provider may be that may send a request again with the same signature. What is stored is
// remembered as long, so that no request is accepted twice.
const providerAge = once.Kept

func (mailgun) bodyMax(size int64) int64 { return encodedMax(size) }

// encodedMax returns how large a body may be that contains a message of size octets, of which some are encoded as three.
func encodedMax(size int64) int64 { return size*2 + 1<<20 }

func (mailgun) bounces() bool { return true }

// admit accepts every request: its signature is in the body.
func (mailgun) admit(*Request) error { return nil }

// parse checks the signature of the time and the token, and returns the mail, to which the token is bound.
func (k mailgun) parse(_ context.Context, r *Request, body []byte) (*mail, error) {
	fields, data, err := form(r.Header, body, "body-mime", "recipient", "sender", "timestamp", "token", "signature")
	if err != nil {
		return nil, problem.Detailf(problem.AuthInvalidToken, "the request is not a signed form of a route")
	}
	if !k.isSigned(fields["timestamp"], fields["token"], fields["signature"]) {
		return nil, problem.Detailf(problem.AuthInvalidToken, "the signature is not that of the time and the token")
	}
	if !isRecent(fields["timestamp"], k.clock.Now(), providerAge) {
		return nil, problem.Detailf(problem.AuthInvalidToken, "the signature is too old")
	}
	if len(data) == 0 {
		return nil, unread("there is no field body-mime; the URL of the route must end in /mime")
	}
	m := &mail{from: fields["sender"], to: addressesOf([]string{fields["recipient"]}), token: fields["token"], data: data}
	return m, m.check()
}

// isSigned reports whether a signature is that of a time and a token.
func (k mailgun) isSigned(timestamp, token, signature string) bool {
	return token != "" && isMAC(signature, k.Secret, []byte(timestamp), []byte(token))
}
