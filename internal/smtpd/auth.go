package smtpd

import (
	"bytes"
	"encoding/base64"
	"errors"

	"github.com/gonebox/gonebox/internal/transcript"
)

// offersAuth reports whether the client may use AUTH.
func (s *session) offersAuth() bool { return s.srv.cfg.AcceptAuth(s.connected.ip) || s.offersSignIn() }

// auth runs AUTH (RFC 4954 §4) with one of the mechanisms of mechanism.go.
func (s *session) auth(arg []byte) reply {
	switch {
	case !s.offersAuth():
		return replyNoSuch
	case len(arg) == 0:
		return replyArgument
	case s.helo == "", !s.extended:
		return replyHelloFirst
	case s.authenticated:
		return replyAuthAlready
	case s.tx.open:
		return replyAuthInTransaction
	}
	name, initial, hasInitial := bytes.Cut(arg, []byte(" "))
	m, ok := mechanismNamed(name)
	if !ok || !m.sendsPassword && !s.srv.cfg.AcceptAuth(s.connected.ip) {
		return replyMechanism
	}
	var responses []string
	if hasInitial {
		if m.serverFirst {
			return replyNoInitial
		}
		response, r := decodeResponse(bytes.TrimLeft(initial, " "))
		if r != "" {
			return r
		}
		responses = append(responses, response)
	}
	for i := len(responses); i < m.responses; i++ {
		response, r := s.challenge(m.challenge(i, s.srv.cfg.Hostname))
		if r != "" || s.closing {
			return r
		}
		responses = append(responses, response)
	}
	return s.signIn(m.credentials(responses))
}

// signIn signs the client in. The credentials of a project make the mail of the session the project's. Others are accepted where any are, and
// only the user name is kept: the session may do afterwards what it could do before (docs/spec/smtp.md#authentication).
func (s *session) signIn(c credentials) reply {
	if r := s.signInProject(c); r != "" {
		return r
	}
	if r, done := s.faultAtAuth(); done {
		s.signOut()
		return r
	}
	s.authenticated, s.user = true, c.user
	return replyAuthenticated
}

// signOut forgets that the client has signed in.
func (s *session) signOut() { s.authenticated, s.user, s.project = false, "", nil }

// challenge sends a challenge and reads the response to it, which it returns decoded. The reply is "" unless the response is not
// valid or the session ends.
func (s *session) challenge(challenge reply) (response string, r reply) {
	s.say(challenge)
	line, err := s.wire.line()
	switch {
	case errors.Is(err, errLineTooLong):
		return "", replyLongLine
	case err != nil:
		return "", s.readErrorReply(err)
	}
	s.record.add(transcript.Client, secret)
	text, ok := commandText(line, s.bareLF)
	switch {
	case !ok:
		return "", replyControl
	case string(text) == "*":
		return "", replyAuthCancelled
	}
	return decodeResponse(text)
}

// decodeResponse decodes a response, which is base64, or "=" for an empty initial response (RFC 4954 §4).
func decodeResponse(text []byte) (response string, r reply) {
	if string(text) == "=" {
		return "", ""
	}
	decoded, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return "", replyAuthSyntax
	}
	return string(decoded), ""
}
