package config

import (
	"errors"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Relay is the section relay (docs/spec/relay.md).
type Relay struct {
	URL           Secret          `key:"url" default:"" form:"relay" help:"the mail server through which the service sends mail, smtp://user:password@host:587 with STARTTLS, which is not needed on loopback alone, or smtps://user:password@host:465; special characters in user and password are percent-encoded; empty: nothing is ever sent"`
	From          string          `key:"from" default:"" form:"sender" help:"sender of all mail, an address or a name and an address, like Gonebox <no-reply@box.example.org>"`
	Allow         []string        `key:"allow" default:"" form:"recipients" help:"addresses to which every account may release messages, beside its own confirmed one; * stands for any characters but @, like *@company.example"`
	RetrySchedule []time.Duration `key:"retry_schedule" default:"30s, 1m, 2m, 5m, 10m, 20m, 40m, 1h, 2h, 3h, 4h" help:"pauses before each further try to send a mail; the last one is repeated"`
	KeepFor       time.Duration   `key:"keep_for" default:"48h" help:"how long a mail is tried before it is given up"`
	InFlight      int             `key:"in_flight" default:"16" max:"1000" help:"mails that this process sends at once"`
	Timeout       time.Duration   `key:"timeout" default:"1m" help:"how long the relay may take to reply to a command"`
}

// RelayServer is the mail server that relay.url names.
type RelayServer struct {
	Host, Port     string
	ImplicitTLS    bool
	Loopback       bool // its host is an address of this machine, or localhost
	User, Password string
}

// Server returns the mail server, and false if there is none.
func (r Relay) Server() (RelayServer, bool) {
	server, err := parseRelay(string(r.URL))
	return server, err == nil
}

var errRelay = errors.New("must be smtp://user:password@host:587 or smtps://user:password@host:465, with special characters percent-encoded, or empty for no relay")

// parseRelay parses relay.url. Its error does not contain the URL, which has a password.
func parseRelay(text string) (r RelayServer, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return r, errRelay
	}
	r = RelayServer{Host: u.Hostname(), Port: u.Port(), ImplicitTLS: u.Scheme == "smtps", User: u.User.Username()}
	r.Password, _ = u.User.Password()
	if r.Port == "" {
		r.Port = map[bool]string{false: "587", true: "465"}[r.ImplicitTLS] // RFC 8314 §7.3
	}
	if n, err := strconv.ParseUint(r.Port, 10, 16); err != nil || n == 0 {
		return RelayServer{}, errRelay
	}
	addr, err := netip.ParseAddr(r.Host)
	r.Loopback = r.Host == "localhost" || err == nil && addr.Unmap().IsLoopback()
	if err != nil && !hostName.MatchString(r.Host) || (r.User == "") != (r.Password == "") || strings.ContainsAny(r.User+r.Password, "\r\n\x00") {
		return RelayServer{}, errRelay
	}
	return r, nil
}

// Sender returns the parsed relay.from, nil if it is not set.
func (r Relay) Sender() *mail.Address {
	a, err := mail.ParseAddress(r.From)
	if err != nil {
		return nil
	}
	return a
}

// checkMailForm is checkForm for settings about mail that the service sends.
func checkMailForm(form, text string) error {
	ok, reason := false, ""
	switch form {
	case "relay":
		_, err := parseRelay(text)
		return err
	case "sender":
		ok, reason = isSender(text), "is not a sender in ASCII, like no-reply@box.example.org or Gonebox <no-reply@box.example.org>"
	case "recipients":
		ok, reason = isRecipients(text), "is not an address in lower case, in which * stands for any characters, at a domain that is not * alone, like *@company.example"
	case "contact":
		ok, reason = isEmail(text) || isWebURL(text), "is neither an e-mail address nor a URL that begins with https:// or http://"
	}
	if ok {
		return nil
	}
	return errors.New(reason)
}

// isSender checks for an address in ASCII, with or without a name.
func isSender(text string) bool {
	a, err := mail.ParseAddress(text)
	return err == nil && isPlainAddress(a.Address) && !strings.ContainsAny(text, "\r\n")
}

// isPlainAddress checks for an address that can be written into a command of SMTP as it is.
func isPlainAddress(text string) bool {
	local, domain, found := strings.Cut(text, "@")
	return found && local != "" && domain != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`<>()[]\,;:"`, r) }) && !strings.Contains(domain, "@")
}

// isRecipients checks a pattern of addresses: its domain must not be a pattern of every domain, which would make the service an open
// relay for its accounts.
func isRecipients(text string) bool {
	_, domain, _ := strings.Cut(text, "@")
	return isPlainAddress(text) && strings.Trim(domain, "*.") != "" && text == strings.ToLower(text)
}

// checkRelay checks that a relay is configured completely, and that what needs one has it.
func (l *loader) checkRelay() {
	r := l.config.Relay
	l.require(r.URL == "" || r.From != "", "needs relay.from beside it, the sender of all mail", "relay.url", "relay.from")
	l.require(l.config.Access.ConfirmEmail != "required" || r.URL != "", "needs relay.url beside it, by which the codes are sent", "access.confirm_email", "relay.url")
	for _, pause := range r.RetrySchedule {
		l.require(pause > 0, "must have pauses above zero", "relay.retry_schedule")
	}
	l.require(len(r.RetrySchedule) > 0, "must not be empty", "relay.retry_schedule")
}
