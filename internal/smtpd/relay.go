package smtpd

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"

	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// client is the client whose mail a session receives. It is the peer of the connection, unless that is a relay which
// names another with XCLIENT or XFORWARD (docs/spec/smtp.md#behind-a-relay).
type client struct {
	ip        netip.Addr
	bareLF    bool            // by Config.BareLF
	unlimited bool            // by Config.Unlimited, or because it is a relay that has named no client
	owner     string          // the key under which limits count the client (ratelimit.AddrIdentity)
	base      context.Context // of the Inbound's calls; carries ip
	givenHelo string          // the client's name in EHLO or HELO, as the relay gave it; "": it gave none
}

// newClient returns a client with an address.
func (s *Server) newClient(ip netip.Addr) client {
	return client{ip: ip, bareLF: s.cfg.BareLF(ip), unlimited: s.cfg.Unlimited(ip), owner: ratelimit.AddrIdentity(ip), base: inbound.WithClient(s.base, ip)}
}

// isRelay reports whether the peer may use XCLIENT and XFORWARD. It depends on the connection's address, never on one given by XCLIENT.
func (s *Server) isRelay(peer netip.Addr) bool {
	return s.cfg.LMTP || slices.ContainsFunc(s.cfg.Relays, func(p netip.Prefix) bool { return p.Contains(peer) })
}

// heloName returns the client's name: the one that the relay gave, or the argument of EHLO or HELO.
func (s *session) heloName() string {
	if s.givenHelo != "" {
		return s.givenHelo
	}
	return s.helo
}

// admit checks whether the client may have the connection: blocks, refused recipients, and the number of its
// connections. It returns the reply that ends the session, or "" after taking one of the client's connections, which
// s.release returns. After XCLIENT it first releases the connection of the previous client.
func (s *session) admit() reply {
	s.release()
	s.release = func() {}
	if r := s.checkClient(); r != "" {
		return r
	}
	release, ok := s.srv.connections.Acquire(ratelimit.SMTPConnections, s.owner, s.srv.cfg.MaxConnections)
	if !ok {
		s.srv.cfg.Metrics.Refused(ratelimit.SMTPConnections)
		return replyTooMany
	}
	s.release = release
	return ""
}

// xclient runs XCLIENT of Postfix, which restarts the session as one of the client that the relay names. Attributes that are not given keep
// their values.
func (s *session) xclient(arg []byte) reply {
	a, r := s.parseAttributes(arg, xclientAttributes)
	if r != "" {
		return r
	}
	s.reset()
	next := s.connected
	if a.hasAddr {
		next = s.srv.newClient(a.addr)
		next.givenHelo = s.connected.givenHelo
	}
	if a.hasHelo {
		next.givenHelo = a.helo
	}
	s.log(slog.LevelDebug, "smtp client named by relay", slog.String("client", next.ip.String()))
	s.connected, s.client = next, next
	s.helo, s.extended = "", false
	s.signOut()
	s.commands, s.errors = 0, 0
	if r := s.admit(); r != "" {
		s.closing, s.linger = true, true
		return r
	}
	return s.srv.hello.greeting
}

// xforward runs XFORWARD of Postfix, which names the client of the next transaction. Several of these commands before MAIL complement each
// other.
func (s *session) xforward(arg []byte) reply {
	a, r := s.parseAttributes(arg, xforwardAttributes)
	if r != "" {
		s.forwardFailed = s.forwardFailed || r == replyAttributes
		return r
	}
	if !s.forwarded {
		s.client, s.forwarded = s.connected, true
	}
	if a.hasAddr {
		helo := s.givenHelo
		if helo == s.connected.givenHelo {
			helo = unknownHelo // the relay's own name would have its SPF record evaluated for the client's address
		}
		s.client = s.srv.newClient(a.addr)
		s.givenHelo = helo
	}
	if a.hasHelo {
		s.givenHelo = a.helo
	}
	return replyOK
}

// beginMail sets the client of the transaction that MAIL begins: the one that XFORWARD has named since the last MAIL, otherwise that of the
// connection. It returns the reply to MAIL if XFORWARD was rejected, otherwise "": a relay may send MAIL without waiting for the reply to
// XFORWARD, and the mail must not be attributed to the wrong client.
func (s *session) beginMail() reply {
	if s.forwardFailed {
		return replyForwardFailed
	}
	if !s.forwarded {
		s.client = s.connected
	}
	s.forwarded = false
	return ""
}

// checkForwarded returns the reply to MAIL if XFORWARD named a client that would not have been admitted if it had connected itself,
// otherwise "".
func (s *session) checkForwarded() reply {
	if s.ip == s.connected.ip {
		return ""
	}
	return s.checkClient()
}

// checkClient returns the reply to a client that is blocked by the operator or because of its refused recipients, otherwise "".
func (s *session) checkClient() reply {
	if s.srv.cfg.Blocks.Client(s.ip) {
		s.logBlocked(BlockedClient, replyBlockedClient)
		return replyBlockedClient
	}
	if wait := s.blockedFor(); wait > 0 {
		s.srv.cfg.Metrics.Refused(ratelimit.SMTPRefused)
		return tooManyRefused(wait)
	}
	return ""
}

// parseAttributes checks that XCLIENT or XFORWARD is allowed now and parses its attributes, whose names must be in known. The
// reply is "" if they are valid.
func (s *session) parseAttributes(arg []byte, known string) (clientAttributes, reply) {
	switch {
	case !s.relay:
		return clientAttributes{}, replyUnknown
	case s.tx.open:
		return clientAttributes{}, replyNotInTransaction
	case len(arg) == 0:
		return clientAttributes{}, replyArgument
	}
	a, ok := parseClientAttributes(arg, known)
	if !ok {
		return clientAttributes{}, replyAttributes
	}
	return a, ""
}
