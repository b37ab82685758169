package smtpd

import (
	"bytes"
	"encoding/base64"
	"errors"
)

// authExtension is the line of the EHLO reply that offers AUTH (RFC 4954 §3).
const authExtension = "AUTH PLAIN LOGIN"

// offersAuth reports whether the client may use AUTH.
func (s *session) offersAuth() bool { return s.srv.cfg.AcceptAuth(s.connected.ip) }

// auth runs AUTH (RFC 4954 §4) with the mechanisms PLAIN (RFC 4616) and LOGIN. It accepts any credentials and stores none
// (docs/spec/smtp.md#authentication): the session may do afterwards what it could do before.
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
	initial = bytes.TrimLeft(initial, " ")
	var challenges []reply
	switch mechanism := bytes.ToUpper(name); {
	case bytes.Equal(mechanism, []byte("PLAIN")):
		challenges = []reply{replyChallenge}
	case bytes.Equal(mechanism, []byte("LOGIN")):
		challenges = []reply{replyUserName, replyPassword}
	default:
		return replyMechanism
	}
	if hasInitial {
		if !isResponse(initial) {
			return replyAuthSyntax
		}
		challenges = challenges[1:]
	}
	for _, challenge := range challenges {
		if r := s.challenge(challenge); r != "" || s.closing {
			return r
		}
	}
	s.authenticated = true
	return replyAuthenticated
}

// challenge sends a challenge and reads the response to it. It returns the reply to a response that is not valid, or "".
func (s *session) challenge(challenge reply) reply {
	s.say(challenge)
	line, err := s.wire.line()
	switch {
	case errors.Is(err, errLineTooLong):
		return replyLongLine
	case err != nil:
		return s.readErrorReply(err)
	}
	text, ok := commandText(line)
	switch {
	case !ok:
		return replyControl
	case string(text) == "*":
		return replyAuthCancelled
	case !isResponse(text):
		return replyAuthSyntax
	}
	return ""
}

// isResponse reports whether a text is base64, or "=", which stands for an empty initial response (RFC 4954 §4). The
// decoded value is not used.
func isResponse(text []byte) bool {
	if string(text) == "=" {
		return true
	}
	_, err := base64.StdEncoding.Decode(make([]byte, base64.StdEncoding.DecodedLen(len(text))), text)
	return err == nil
}
