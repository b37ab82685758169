package config

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// The forms of values that are texts of their own kind.
var (
	planCode      = regexp.MustCompile(`^[a-z][a-z0-9]{0,31}$`)       // no dot, no underscore: a variable then names one key
	localPart     = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`) // specification §2, mailbox creation input
	hostName      = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	bankBIN       = regexp.MustCompile(`^[0-9]{6}$`)
	accountNumber = regexp.MustCompile(`^[0-9A-Za-z]{1,19}$`)
)

// strictNames takes what may be registered as a name, and nothing that only looks like one (RFC 5891 §5.4).
var strictNames = idna.New(idna.StrictDomainName(true), idna.ValidateLabels(true), idna.CheckHyphens(true), idna.VerifyDNSLength(true), idna.BidiRule())

func isBaseURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && text == u.Scheme+"://"+u.Host
}

func isPostgres(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql")
}

// isHostPort checks host:port; an address to listen on may leave the host out and have port 0, any free one.
func isHostPort(text string, listen bool) bool {
	host, port, ok := cutLast(text, ":")
	n, err := strconv.ParseUint(port, 10, 16)
	if !ok || err != nil || !listen && (n == 0 || host == "") {
		return false
	}
	if v6, bracketed := strings.CutPrefix(host, "["); bracketed {
		addr, err := netip.ParseAddr(strings.TrimSuffix(v6, "]"))
		return err == nil && addr.Is6() && strings.HasSuffix(host, "]")
	}
	return host == "" || hostName.MatchString(host)
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// sameAddr compares addresses to listen on; those with port 0 never meet.
func sameAddr(a, b string) bool { return a == b && a != "" && !strings.HasSuffix(a, ":0") }

// isDomain checks for two labels or more in lower-case A-label form, the last of which is no number (RFC 1123 §2.1).
func isDomain(name string) bool {
	ascii, err := strictNames.ToASCII(name)
	_, last, dotted := cutLast(name, ".")
	return err == nil && ascii == name && strings.ToLower(name) == name && dotted && strings.Trim(last, "0123456789") != ""
}
