package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"net/textproto"
	"time"
)

// Step is a part of a try to send a mail, before the mail. Its text stands in the delivery log.
type Step string

// The steps, in their order.
const (
	Connecting     Step = "connecting to the relay"
	ImplicitTLS    Step = "TLS"
	Greeting       Step = "the greeting"
	Hello          Step = "EHLO"
	StartTLS       Step = "STARTTLS"
	Authentication Step = "authentication"
)

// Reasons why a relay is not used that are not its replies.
var (
	errNoTLS       = errors.New("the relay does not offer it, and without TLS nothing is sent")
	errNoMechanism = errors.New("the relay offers none of SCRAM-SHA-256, PLAIN, LOGIN and CRAM-MD5")
)

// ProbeError is why a relay would take no mail.
type ProbeError struct {
	Step  Step
	Reply int    // of SMTP; 0: the relay has not replied
	Text  string // the reply, or what happened instead; without addresses
	cause error
}

// Error implements error.
func (e *ProbeError) Error() string { return string(e.Step) + ": " + e.Text }

// Unwrap returns the error of the connection.
func (e *ProbeError) Unwrap() error { return e.cause }

// MissingTLS reports whether the relay does not offer STARTTLS.
func (e *ProbeError) MissingTLS() bool { return errors.Is(e.cause, errNoTLS) }

// WrongTLS reports whether the relay has answered TLS in clear.
func (e *ProbeError) WrongTLS() bool {
	var clear tls.RecordHeaderError
	return errors.As(e.cause, &clear)
}

// WrongCertificate reports whether the relay's certificate is not one for its host.
func (e *ProbeError) WrongCertificate() bool {
	var wrong *tls.CertificateVerificationError
	return errors.As(e.cause, &wrong)
}

// MissingMechanism reports whether the relay offers no mechanism of authentication that is known.
func (e *ProbeError) MissingMechanism() bool { return errors.Is(e.cause, errNoMechanism) }

// Probe connects to a relay and signs in as a try to send a mail does, and sends nothing. It reports whether the connection had TLS. Error:
// a *ProbeError.
func Probe(ctx context.Context, r Relay, hostname string, timeout time.Duration) (secure bool, err error) {
	s := &Service{Parts: Parts{Relay: r, Hostname: hostname, Policy: Policy{Timeout: timeout}}}
	conn, err := s.dial(ctx)
	if err != nil {
		return false, newProbeError(Connecting, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	c, step, err := s.open(ctx, conn)
	if err != nil {
		return false, newProbeError(step, err)
	}
	_, secure = c.TLSConnectionState()
	conn.timeout = quitTimeout
	_ = c.Quit()
	return secure, nil
}

func newProbeError(step Step, err error) *ProbeError {
	e := &ProbeError{Step: step, Text: describe(err), cause: err}
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		code, text := splitReply(reply)
		e.Reply, e.Text = reply.Code, code+" "+text
	}
	return e
}
