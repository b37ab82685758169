package smtpd

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// The lines of the EHLO reply that offer AUTH (RFC 4954 §3): to clients of which any credentials are accepted, and to those whose password is
// checked.
const (
	authExtension     = "AUTH PLAIN LOGIN CRAM-MD5 XOAUTH2"
	passwordExtension = "AUTH PLAIN LOGIN"
)

// maxAuthLine is the length of a command line with its end where AUTH is offered: access tokens are long, and RFC 4954 §4 asks for
// this much.
const maxAuthLine = 12288

// credentials are what a client signs in with.
type credentials struct {
	user     string
	password string // "" unless the mechanism sends it: PLAIN and LOGIN do
}

// mechanism is a SASL mechanism (RFC 4422).
type mechanism struct {
	responses   int  // of the client
	serverFirst bool // the client cannot send its first response before it has the first challenge

	sendsPassword bool // the server can check the password although it knows only a hash of it

	// challenge returns the i-th challenge, from 0. hostname is the name of this server.
	challenge func(i int, hostname string) reply
	// credentials reads the responses. What a response lacks is "".
	credentials func(responses []string) credentials
}

// mechanismNamed returns the mechanism with a name, in any letter case.
func mechanismNamed(name []byte) (m mechanism, ok bool) {
	switch string(bytes.ToUpper(name)) {
	case "PLAIN":
		return mechanism{responses: 1, sendsPassword: true, challenge: emptyChallenge, credentials: readPlain}, true
	case "LOGIN":
		return mechanism{responses: 2, sendsPassword: true, challenge: loginChallenge, credentials: readLogin}, true
	case "CRAM-MD5":
		return mechanism{responses: 1, serverFirst: true, challenge: cramChallenge, credentials: readCRAM}, true
	case "XOAUTH2":
		return mechanism{responses: 1, challenge: emptyChallenge, credentials: readXOAUTH2}, true
	default:
		return m, false
	}
}

// emptyChallenge is the challenge of mechanisms in which the client speaks first.
func emptyChallenge(int, string) reply { return replyChallenge }

// readPlain reads the response of PLAIN (RFC 4616 §2): an identity to act as, the user name and the password, with a NUL between
// two of them.
func readPlain(responses []string) (c credentials) {
	_, rest, _ := strings.Cut(responses[0], "\x00")
	c.user, c.password, _ = strings.Cut(rest, "\x00")
	return c
}

// loginChallenge asks for the user name and then for the password.
func loginChallenge(i int, _ string) reply {
	if i == 0 {
		return replyUserName
	}
	return replyPassword
}

// readLogin reads the responses of LOGIN.
func readLogin(responses []string) credentials {
	return credentials{user: responses[0], password: responses[1]}
}

// cramChallenge returns a challenge that no other session has had (RFC 2195 §2).
func cramChallenge(_ int, hostname string) reply {
	return replyChallenge + reply(base64.StdEncoding.EncodeToString([]byte("<"+newTrace()+"@"+hostname+">")))
}

// readCRAM reads the response of CRAM-MD5: the user name, which may have spaces, and the digest of the challenge.
func readCRAM(responses []string) credentials {
	user := responses[0]
	if i := strings.LastIndexByte(user, ' '); i >= 0 {
		user = user[:i]
	}
	return credentials{user: user}
}

// readXOAUTH2 reads the response of XOAUTH2: pairs of a key and a value that end in ^A, of which user is one and auth, the access
// token, another.
func readXOAUTH2(responses []string) credentials {
	for pair := range strings.SplitSeq(responses[0], "\x01") {
		if user, ok := strings.CutPrefix(pair, "user="); ok {
			return credentials{user: user}
		}
	}
	return credentials{}
}
