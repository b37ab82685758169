package dkim

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/idna"
)

// Limits of a signature field. The signer chooses both, and each name costs a search for the field.
const (
	maxField = 8 << 10 // octets
	maxNames = 256     // in h=
)

// Signature is a signature field.
type Signature struct {
	Domain    string // d=, in lower case and A-label form
	Selector  string // s=, in the same form
	Algorithm string // a=

	identity         string // the domain of i=
	header, body     canonicalization
	names            []string // h=, in lower case
	length           int64    // l=, in octets, or -1
	bodyHash         []byte
	signature        []byte
	unsigned         []byte // the field without the value of b=
	created, expired int64  // t= and x=, in seconds since 1970, or -1
}

// Parse parses a DKIM-Signature field, given with its name. If it is malformed, the signature that it returns has the
// fields that could be read, so that it can be reported.
func Parse(field []byte) (*Signature, error) {
	s := &Signature{length: -1, created: -1, expired: -1}
	if len(field) > maxField {
		return s, fmt.Errorf("a signature of %d octets", len(field))
	}
	colon := bytes.IndexByte(field, ':')
	if colon < 0 {
		return s, errors.New("not a header field")
	}
	list, err := parseTags(string(field[colon+1:]))
	if err != nil {
		return s, err
	}
	s.Domain, s.Selector, s.Algorithm = normalDomain(list.packed("d")), normalDomain(list.packed("s")), list.packed("a")
	for _, name := range [...]string{"v", "a", "b", "bh", "d", "h", "s"} {
		if !list.has(name) {
			return s, fmt.Errorf("no tag %s", name)
		}
	}
	b := list["b"]
	s.unsigned = slices.Concat(field[:colon+1+b.start], field[colon+1+b.end:])
	return s, s.read(list)
}

// read takes the values of the tags (RFC 6376 §3.5), and checks them as far as that needs no key.
func (s *Signature) read(list tags) (err error) {
	switch {
	case list["v"].value != "1":
		return errors.New("unknown version")
	case s.Algorithm != "rsa-sha256" && s.Algorithm != "ed25519-sha256": // RFC 8301 §3.1 forbids SHA-1
		return fmt.Errorf("algorithm %q", s.Algorithm)
	case s.Domain == "" || !strings.Contains(s.Domain, ".") || s.Selector == "":
		return errors.New("no domain or selector")
	case list.has("q") && !slices.Contains(list.list("q"), "dns/txt"):
		return errors.New("unknown way to look up the key")
	}
	if s.header, s.body, err = parseCanonicalizations(list.packed("c")); err != nil {
		return err
	}
	for _, name := range list.list("h") {
		if name != "" {
			s.names = append(s.names, strings.ToLower(name))
		}
	}
	if len(s.names) > maxNames {
		return fmt.Errorf("%d signed fields", len(s.names))
	}
	if !slices.Contains(s.names, "from") {
		return errors.New("the From field is not signed") // RFC 6376 §5.4
	}
	if err := s.readIdentity(list); err != nil {
		return err
	}
	if err := s.readNumbers(list); err != nil {
		return err
	}
	if s.bodyHash, err = base64.StdEncoding.DecodeString(list.packed("bh")); err != nil {
		return fmt.Errorf("bh=: %w", err)
	}
	if s.signature, err = base64.StdEncoding.DecodeString(list.packed("b")); err != nil {
		return fmt.Errorf("b=: %w", err)
	}
	return nil
}

// readNumbers reads l=, t= and x=.
func (s *Signature) readNumbers(list tags) (err error) {
	if s.length, err = list.number("l"); err != nil {
		return err
	}
	if s.created, err = list.number("t"); err != nil {
		return err
	}
	if s.expired, err = list.number("x"); err != nil {
		return err
	}
	if s.created >= 0 && s.expired >= 0 && s.expired <= s.created {
		return errors.New("it expired before it was made")
	}
	return nil
}

// ExpiredAt reports whether the signature was no longer valid at a time (RFC 6376 §3.5, x=).
func (s *Signature) ExpiredAt(t time.Time) bool { return s.expired >= 0 && t.Unix() > s.expired }

// number returns the value of a numeric tag, or -1 if there is none. Values too large for 64 bits are the largest one.
func (l tags) number(name string) (int64, error) {
	if !l.has(name) {
		return -1, nil
	}
	text := l.packed(name)
	n, err := strconv.ParseUint(text, 10, 63)
	if errors.Is(err, strconv.ErrRange) {
		return int64(n), nil
	}
	if err != nil {
		return -1, fmt.Errorf("%s=: %w", name, err)
	}
	return int64(n), nil
}

// readIdentity reads i=, whose domain is that of d= or below it (RFC 6376 §3.5). Its local part is not used.
func (s *Signature) readIdentity(list tags) error {
	s.identity = s.Domain
	if !list.has("i") {
		return nil
	}
	text := unquote(list.packed("i"))
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return errors.New("i= has no domain")
	}
	s.identity = normalDomain(text[at+1:])
	if s.identity != s.Domain && !strings.HasSuffix(s.identity, "."+s.Domain) {
		return fmt.Errorf("i= is not of %s", s.Domain)
	}
	return nil
}

// unquote decodes dkim-quoted-printable (RFC 6376 §2.11). What is no valid escape stays.
func unquote(s string) string {
	if strings.IndexByte(s, '=') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '=' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// normalDomain returns a domain or selector in lower case, without a final dot, with U-labels as A-labels (RFC 8616
// §5); "" if it has a label that cannot be looked up.
func normalDomain(s string) string {
	s = strings.TrimSuffix(s, ".")
	if strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) >= 0 {
		ascii, err := idna.Lookup.ToASCII(s)
		if err != nil {
			return ""
		}
		s = ascii
	}
	if len(s) > 253 {
		return ""
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return ""
		}
	}
	return strings.ToLower(s)
}
