package smtpd

import (
	"context"
	"net/netip"

	"github.com/gonebox/gonebox/internal/inbound"
)

// SignIn signs sessions in to projects (docs/spec/projects.md#smtp). Its methods are called by many goroutines.
type SignIn interface {
	// Offered reports whether a client may sign in on a connection that is encrypted or not.
	Offered(client netip.Addr, encrypted bool) bool
	// SignIn returns the project with a name and a password. It returns nil for a name that no project can have. Errors:
	// auth.invalid_credentials, rate.limited, server.unavailable.
	SignIn(ctx context.Context, client netip.Addr, name, password string) (*inbound.Project, error)
}

// offersSignIn reports whether the client may sign in to a project.
func (s *session) offersSignIn() bool {
	return s.srv.cfg.SignIn != nil && s.srv.cfg.SignIn.Offered(s.connected.ip, s.tls != "")
}

// signInProject signs the session in to the project whose credentials c are, and returns the reply to AUTH if it fails. Credentials that cannot
// be those of a project suffice where any are accepted.
func (s *session) signInProject(c credentials) reply {
	if !s.offersSignIn() {
		return ""
	}
	p, err := s.srv.cfg.SignIn.SignIn(s.srv.base, s.connected.ip, c.user, c.password)
	if err != nil {
		return s.signInErrorReply(err)
	}
	if s.project = p; p == nil && !s.srv.cfg.AcceptAuth(s.connected.ip) {
		return replyCredentials
	}
	s.startRecording()
	return ""
}

// takesDSN reports whether the parameters of RFC 3461 are known.
func (s *session) takesDSN() bool { return s.srv.cfg.DSN || s.project != nil }

// acceptContext returns the context for Accept.
func (s *session) acceptContext() context.Context {
	if s.project == nil {
		return s.base
	}
	return inbound.WithProject(s.base, s.project)
}
