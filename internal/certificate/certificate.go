// Package certificate provides the certificates of TLS listeners: from two files, which are read again when they change
// (Files), or from an authority by ACME (ACME). It does not depend on the protocol that is spoken over TLS.
package certificate

import (
	"crypto/tls"
	"slices"

	"golang.org/x/crypto/acme"
)

// Getter returns the certificate for a handshake, as tls.Config.GetCertificate does. If it returns nil without an error, the
// handshake fails with the alert unrecognized_name (RFC 6066 §3).
type Getter func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// Config returns a TLS configuration with the certificates of get. protocols are those that a client may choose from by ALPN
// (RFC 7301), in the order of preference; none means that ALPN is not used.
func Config(get Getter, protocols ...string) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: get, NextProtos: protocols} // RFC 8996
}

// isChallenge reports whether a handshake is an authority's that verifies a name (RFC 8737 §3).
func isChallenge(hello *tls.ClientHelloInfo) bool {
	return slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto})
}
