package inbound

import (
	"net/netip"
	"strings"
	"time"
	"unicode"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailauth"
)

// traceSize is the initial capacity for the trace fields, in octets. Those of most mails fit.
const traceSize = 1 << 10

// appendTrace appends the trace fields that go in front of a raw message (RFC 5321 §4.4, RFC 8601 §2).
func (s *Service) appendTrace(b []byte, env *Envelope, verdicts mailauth.Result) []byte {
	add := func(texts ...string) {
		for _, text := range texts {
			b = append(b, text...)
		}
	}
	add("Return-Path: <", sanitizePath(env.From), ">\r\n")
	add("Authentication-Results: ", s.Authenticator.Header(verdicts), "\r\n")
	add("Received: from ", sanitizeHelo(env.Helo), " (", addressLiteral(env.RemoteIP), ")\r\n\tby ", s.Hostname, " with ", env.Protocol)
	if env.TLS != "" {
		add(" (", env.TLS, ")")
	}
	add("\r\n\tid ", string(id.New[id.Event](env.ReceivedAt)[len("evt_"):]))
	if len(env.To) == 1 { // with several recipients, "for" would disclose one to another
		add(" for <", sanitizePath(env.To[0].Address), ">")
	}
	add(";\r\n\t")
	return append(env.ReceivedAt.UTC().AppendFormat(b, time.RFC1123Z), "\r\n"...)
}

// sanitizeHelo replaces every character that occurs in neither domains nor address literals by '?', so that a client cannot
// add clauses or comments to the Received field.
func sanitizeHelo(helo string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune(".-_:[]", r):
			return r
		}
		return '?'
	}, helo)
}

// sanitizePath replaces every character of a path that some reader takes for the end of a line by '?': controls and the
// line and paragraph separators, which SMTPUTF8 permits in a quoted local part. Such a reader would see another field.
func sanitizePath(path string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, path)
}

// addressLiteral returns an address as RFC 5321 §4.1.3 writes it.
func addressLiteral(ip netip.Addr) string {
	if ip.Is6() {
		return "[IPv6:" + ip.String() + "]"
	}
	return "[" + ip.String() + "]"
}
