package config

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/gonebox/gonebox/internal/token"
)

var (
	planCode      = regexp.MustCompile(`^[a-z][a-z0-9]{0,31}$`)       // without dots and underscores, a variable names one key
	localPart     = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`) // docs/spec/mailboxes.md#creating
	hostName      = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	bankBIN       = regexp.MustCompile(`^[0-9]{6}$`)
	accountNumber = regexp.MustCompile(`^[0-9A-Za-z]{1,19}$`)
)

// maxBlocklist is the longest name of a DNS blocklist: with an IPv6 address in front, it must be a domain name (RFC 5782 §2.4).
const maxBlocklist = 253 - 2*32

// strictNames accepts what may be registered as a domain name (RFC 5891 §5.4).
var strictNames = idna.New(idna.StrictDomainName(true), idna.ValidateLabels(true), idna.CheckHyphens(true), idna.VerifyDNSLength(true), idna.BidiRule())

// checkForm checks text against a form that the tag of a setting names.
func checkForm(form, text string) error {
	ok, reason := false, ""
	switch form {
	case "base_url":
		ok, reason = isBaseURL(text), "must be http:// or https:// and a host, without a path or a slash at the end, like https://box.example.org"
	case "listen":
		ok, reason = isHostPort(text, true), "is not host:port; write :8080, or 127.0.0.1:8080 for this machine alone"
	case "host_port":
		ok, reason = isHostPort(text, false), "is not host:port, like 127.0.0.1:53"
	case "domain":
		ok, reason = isDomain(text), "is not a domain name in lower-case A-label form, like mail.example.org"
	case "dnsbl":
		ok, reason = isDomain(text) && len(text) <= maxBlocklist, "is not a domain name in lower-case A-label form, like bl.example.org, of at most 189 characters"
	case "sink_domain":
		ok, reason = text == "*" || isSinkDomain(text), "is neither * nor a domain name in lower-case A-label form, like company.test"
	case "developer_key":
		_, _, err := token.ParseDeveloper(text)
		ok, reason = err == nil, "is not a whole developer key; gonebox key generate prints one"
	case "local_part":
		ok, reason = localPart.MatchString(text), "cannot be a local part; use lower-case letters, digits and . _ -"
	case "postgres":
		ok, reason = isPostgres(text), "must be postgres://user:password@host/name, or empty for SQLite"
	case "secret_key":
		_, err := token.ParseMaster(text)
		ok, reason = err == nil, "must be 64 hex digits or the base64 of 32 octets; make one with: openssl rand -base64 32"
	case "secret_keys":
		_, err := token.ParsePrevious(text)
		ok, reason = err == nil, "must be earlier values of secrets.key, separated by commas"
	case "bank_bin":
		ok, reason = bankBIN.MatchString(text), "must be 6 digits"
	case "account_number":
		ok, reason = accountNumber.MatchString(text), "must be up to 19 letters and digits"
	}
	if ok {
		return nil
	}
	return errors.New(reason)
}

// isBaseURL checks for a scheme and a host without anything behind it.
func isBaseURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && text == u.Scheme+"://"+u.Host
}

// isPostgres checks the scheme only; the driver checks the rest.
func isPostgres(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql")
}

// isHostPort checks host:port. An address to listen on may leave out the host, and may have port 0 for any free port.
func isHostPort(text string, listen bool) bool {
	host, port, err := net.SplitHostPort(text)
	n, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil || !listen && (n == 0 || host == "") {
		return false
	}
	if strings.HasPrefix(text, "[") {
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.Is6()
	}
	return host == "" || hostName.MatchString(host)
}

// isSinkDomain is isDomain that also accepts a single label, since systems under test send to names like app.
func isSinkDomain(name string) bool {
	return !strings.Contains(name, "*") && (isDomain(name) || isDomain(name+".test"))
}

// isDomain checks for two or more labels in lower-case A-label form, the last of which is not a number (RFC 1123 §2.1).
func isDomain(name string) bool {
	ascii, err := strictNames.ToASCII(name)
	dot := strings.LastIndexByte(name, '.')
	return err == nil && ascii == name && strings.ToLower(name) == name && dot >= 0 && strings.Trim(name[dot+1:], "0123456789") != ""
}
