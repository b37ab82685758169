package doctor

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/gonebox/gonebox/internal/outbound"
)

// relayTimeout bounds each reply of the relay, and relayMost all of them: some relays let strangers wait before they greet.
const (
	relayTimeout = 20 * time.Second
	relayMost    = 45 * time.Second
)

// checkRelay connects to the relay as if to send a mail, and signs in.
func (e *examination) checkRelay(ctx context.Context) {
	server, ok := e.cfg.Relay.Server()
	if !ok {
		return // nothing is ever sent
	}
	ctx, cancel := context.WithTimeout(ctx, relayMost)
	defer cancel()
	secure, err := outbound.Probe(ctx, outbound.Relay(server), e.cfg.SMTP.Hostname, relayTimeout)
	at := net.JoinHostPort(server.Host, server.Port)
	if failure, ok := errors.AsType[*outbound.ProbeError](err); ok {
		e.reportf("relay", Failure, "%s: %s (%s); %s", at, failure.Step, oneLine(errors.New(failure.Text)), adviseRelay(failure, server.ImplicitTLS))
		return
	}
	over, signIn := "over TLS", "takes the password"
	if !secure {
		over = "in clear, as is right on this machine alone,"
	}
	if server.User == "" {
		signIn = "wants none"
	}
	e.reportf("relay", OK, "%s answers %s and %s; nothing was sent", at, over, signIn)
}

// adviseRelay returns what to do about a relay that would take no mail.
func adviseRelay(f *outbound.ProbeError, implicitTLS bool) string {
	switch {
	case f.WrongCertificate():
		return "relay.url must have the name that its certificate is for, and the system must trust who has issued it"
	case f.WrongTLS():
		return "it does not speak TLS from the beginning: use smtp:// instead of smtps://, mostly with port 587"
	case f.MissingTLS():
		return "use another port, mostly 587, or smtps:// with port 465"
	case f.MissingMechanism():
		return "leave user and password out of relay.url if it needs none, or use a port for submission, mostly 587"
	case f.Step == outbound.Connecting:
		return "check host and port of relay.url, and whether a firewall or the hoster blocks the port: many block 25, and some 465 and 587 but not 2525"
	case f.Step == outbound.Authentication && f.Reply/100 == 5:
		return "check user and password of relay.url, with special characters percent-encoded: many relays want an API key or a password for applications in place of yours"
	case f.Reply/100 == 4:
		return "it may work later: mail is tried again for relay.keep_for"
	case f.Reply/100 == 5:
		return "ask its operator to take mail from the address of this machine, and see that smtp.hostname is its public name"
	case f.Step == outbound.Greeting && !implicitTLS:
		return "if the port speaks TLS from the beginning, mostly 465, use smtps://; otherwise check host and port"
	}
	return "check host and port of relay.url"
}
