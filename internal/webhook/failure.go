package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"github.com/gonebox/gonebox/internal/db"
)

// errorMax bounds the text of an error in octets, of which each attempt stores one.
const errorMax = 300

// describeError describes, for the owner of an endpoint, why a request got no response. The text contains no IP
// address and no port, whether of the service or from its DNS servers, since owners could use them to explore the
// service's network.
func (s *Service) describeError(err error) string {
	if isTimeout(err) {
		return fmt.Sprintf("no answer within %s", s.Policy.Timeout)
	}
	if text := describeConnectionError(err); text != "" {
		return text
	}
	if text := describeTLSError(err); text != "" {
		return text
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	text := db.Storable(withoutAddresses(err.Error()))
	if len(text) > errorMax {
		text = db.Storable(text[:errorMax])
	}
	return text
}

// describeConnectionError describes an error of a connection. It returns "" for other errors.
func describeConnectionError(err error) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset by the endpoint"
	case errors.Is(err, syscall.EHOSTUNREACH):
		return "no route to the endpoint's host"
	case errors.Is(err, syscall.ENETUNREACH):
		return "the endpoint's network is unreachable"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the endpoint closed the connection without an answer"
	}
	return ""
}

// describeTLSError describes an error of TLS. It returns "" for other errors. It does not use the texts of crypto/x509,
// which contain addresses.
func describeTLSError(err error) string {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "the endpoint's certificate is signed by an unknown authority"
	case errors.As(err, new(x509.HostnameError)):
		return "the endpoint's certificate is not valid for its host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the endpoint's certificate has expired or is not yet valid"
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return "the endpoint's certificate cannot be verified"
	case errors.As(err, new(tls.RecordHeaderError)), errors.Is(err, http.ErrSchemeMismatch):
		return "the endpoint does not speak TLS"
	}
	return ""
}

// withoutAddresses replaces the IP addresses and ports in a text by "(address)". It is for the errors that
// describeError has no text of its own for.
func withoutAddresses(text string) string {
	var b strings.Builder
	for text != "" {
		n := strings.IndexFunc(text, isAddressRune)
		if n < 0 {
			n = len(text)
		}
		b.WriteString(text[:n])
		text = text[n:]
		if n = strings.IndexFunc(text, func(r rune) bool { return !isAddressRune(r) }); n < 0 {
			n = len(text)
		}
		word := text[:n]
		if bare := strings.TrimRight(word, ".:"); isAddress(bare) {
			word = "(address)" + word[len(bare):]
		}
		b.WriteString(word)
		text = text[n:]
	}
	return b.String()
}

// isAddressRune reports whether r may occur in an IP address, a port, or a host name with a port.
func isAddressRune(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune(".:[]%", r)
}

// isAddress reports whether a word is an IP address, or ends in a port.
func isAddress(word string) bool {
	if _, err := netip.ParseAddr(strings.Trim(word, "[]")); err == nil {
		return true
	}
	_, port, err := net.SplitHostPort(word)
	return err == nil && port != "" && strings.Trim(port, "0123456789") == ""
}
