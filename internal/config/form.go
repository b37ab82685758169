package config

import (
	"errors"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gonebox/gonebox/internal/domainname"
	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/token"
)

var (
	planCode      = regexp.MustCompile(`^[a-z][a-z0-9]{0,31}$`)       // without dots and underscores, a variable names one key
	localPart     = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`) // docs/spec/mailboxes.md#creating
	hostName      = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	bankBIN       = regexp.MustCompile(`^[0-9]{6}$`)
	urlPath       = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,63}){1,8}$`)
	accountNumber = regexp.MustCompile(`^[0-9A-Za-z]{1,19}$`)
)

// maxBlocklist is the longest name of a DNS blocklist: with an IPv6 address in front, it must be a domain name (RFC 5782 §2.4).
const maxBlocklist = 253 - 2*32

// checkForm checks text against a form that the tag of a setting names.
func checkForm(form, text string) error {
	ok, reason := false, ""
	switch form {
	case "base_url":
		return checkBaseURL(text)
	case "mailpit_path":
		return checkMailpitPath(text)
	case "listen":
		ok, reason = isHostPort(text, true), "is not host:port; write :8080, or 127.0.0.1:8080 for this machine alone"
	case "host_port":
		ok, reason = isHostPort(text, false), "is not host:port, like 127.0.0.1:53"
	case "domain":
		return checkDomain(text, domainname.ForMail, domainname.NotAName+" in lower-case A-label form, like mail.example.org")
	case "acme_host":
		if _, ending, dotted := strings.Cut(text, "."); !dotted || ending == "" || isUncertifiable(text) {
			return errors.New("is not a name in public DNS, for which alone a certificate can be obtained, like box.example.org")
		}
		return checkDomain(text, domainname.ForMail, domainname.NotAName+" in lower-case A-label form, like box.example.org")
	case "email":
		ok, reason = isEmail(text), "is not an e-mail address, like admin@example.org"
	case "relay", "sender", "recipients", "contact":
		return checkMailForm(form, text)
	case "acme_directory":
		ok, reason = isDirectory(text), "must be an https:// URL, like https://acme.example.org/directory"
	case "dnsbl":
		ok, reason = len(text) <= maxBlocklist, "is longer than 189 characters, so that the name of a query would be too long"
		if err := checkDomain(text, domainname.ForMail, domainname.NotAName+" in lower-case A-label form, like bl.example.org"); err != nil {
			return err
		}
	case "host":
		ok, reason = local.IsHost(text), "is not the name or the address of a host, without a scheme and a port, like mail.example.org"
	case "sink_domain":
		if ok = text == "*"; !ok {
			return checkDomain(text, domainname.ForSink, "is neither * nor a domain name in lower-case A-label form, like company.test")
		}
	case "developer_key":
		_, _, err := token.ParseDeveloper(text)
		ok, reason = err == nil, "is not a whole developer key; gonebox key generate prints one"
	case "ingress_kind", "topic", "public_key", "imap", "lmtp", "issuer":
		return checkIngressForm(form, text)
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

// checkBaseURL checks for a scheme, a host and a path without anything behind them.
func checkBaseURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || text != u.Scheme+"://"+u.Host+u.Path || u.Path != "" && !urlPath.MatchString(u.Path) {
		return errors.New("must be http:// or https:// and a host, and a path if it is served below one, without a slash at the end, like https://box.example.org or https://home.example.org/mail")
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return errors.New("has no port from 1 to 65535 behind the colon")
		}
	}
	if slices.Contains(ownPaths(), firstOf(u.Path)) {
		return errors.New("has a path that begins like those of the service itself; choose another, like /mail")
	}
	return nil
}

// checkMailpitPath checks the path of the Mailpit API.
func checkMailpitPath(text string) error {
	if !urlPath.MatchString(text) {
		return errors.New("must be a path without a slash at the end, like /mailpit")
	}
	if slices.Contains(mailpitPaths(), firstOf(text)) {
		return errors.New("begins like the paths of the API itself; choose another, like /mailpit")
	}
	return nil
}

// firstOf returns the first element of a path.
func firstOf(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// ownPaths returns the first elements of the paths that the service has itself. A path in base_url must not begin with one:
// behind a proxy that strips the path, the service cannot know whether what is left is a whole path.
func ownPaths() []string {
	return []string{"account", "api", "assets", "docs", "healthz", "inbox", "mcp", "pages", "prices", "readyz", "register", "reset", "sign-in", "staff"}
}

// mailpitPaths is ownPaths for compat.mailpit.path.
func mailpitPaths() []string { return []string{"api", "assets", "gonebox", "livez", "readyz", "view"} }

// isUncertifiable reports whether a name is an address, or can belong to every machine, so that no authority issues a certificate for it.
func isUncertifiable(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil || strings.HasSuffix(name, ".localhost")
}

// isDirectory checks for the URL of an ACME authority, which must be https (RFC 8555 §6.1) unless it is on this machine.
func isDirectory(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return false
	}
	addr, _ := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || addr.IsLoopback())
}

// isWebURL checks for the URL of a web page.
func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

// isEmail checks for an address without a display name.
func isEmail(text string) bool {
	a, err := mail.ParseAddress(text)
	return err == nil && a.Address == text
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

// checkDomain checks that a text is what check returns for it: a domain name that check accepts, in normalized form, since it is compared
// with the names of mails as it is written. notAName is the reason for a text that is not recognised as something else.
func checkDomain(text string, check func(string) (string, error), notAName string) error {
	name, err := check(text)
	if err != nil {
		if err.Error() == domainname.NotAName {
			return errors.New(notAName)
		}
		return err
	}
	if name != text {
		return errors.New("is not in lower-case A-label form; write " + name)
	}
	return nil
}
