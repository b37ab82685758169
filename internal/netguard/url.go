package netguard

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// urlMax is the length of the longest URL, in octets (docs/spec/webhooks.md#endpoints).
const urlMax = 2048

// CheckURL checks whether a URL may be used now: it must have the scheme https, one of the ports and a host in
// canonical form, all of whose addresses are public. It looks the host up, for at most Options.Timeout. The error is a
// *ForbiddenError, or that of ctx if it ended first.
func (g *Guard) CheckURL(ctx context.Context, raw string) error {
	h, err := g.target(raw)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, g.options.Timeout)
	defer cancel()
	_, err = g.addresses(within, h)
	if ctx.Err() != nil {
		return fmt.Errorf("check a URL: %w", ctx.Err())
	}
	return err
}

// target returns the host of a URL if the URL's form is allowed.
func (g *Guard) target(raw string) (host, error) {
	if err := plainText(raw); err != nil {
		return host{}, err
	}
	u, err := url.Parse(raw)
	if err != nil {
		return host{}, forbidden(RuleForm, "it is not a URL")
	}
	h, err := g.parsed(u)
	switch {
	case err != nil:
		return host{}, err
	case strings.Contains(raw, "#"):
		return host{}, forbidden(RuleFragment, "it must not have a fragment")
	case strings.Contains(authority(raw), "%"):
		return host{}, forbidden(RuleHost, "the host must be written without percent signs")
	case strings.HasSuffix(u.Host, ":"):
		return host{}, forbidden(RulePort, "the port is missing after the colon")
	}
	return h, nil
}

// parsed returns the host of a URL if its parts are allowed.
func (g *Guard) parsed(u *url.URL) (host, error) {
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !g.options.Plain):
		return host{}, forbidden(RuleScheme, "the scheme must be https")
	case u.User != nil:
		return host{}, forbidden(RuleUserinfo, "it must not hold a user name or a password")
	case u.Host == "":
		return host{}, forbidden(RuleForm, "it names no host")
	}
	portErr := g.port(u.Port())
	if portErr != nil && !g.options.Plain {
		return host{}, portErr
	}
	h, err := readHost(u.Hostname(), strings.HasPrefix(u.Host, "["))
	h.plain = u.Scheme == "http" || portErr != nil
	return h, err
}

// plainText refuses characters that URL parsers are known to skip, to convert or to stop at in different ways.
func plainText(raw string) error {
	switch {
	case len(raw) > urlMax:
		return forbidden(RuleForm, "it is longer than %d octets", urlMax)
	case !utf8.ValidString(raw):
		return forbidden(RuleForm, "it is not UTF-8")
	case strings.Contains(raw, `\`):
		return forbidden(RuleForm, "it must not hold a backslash")
	case strings.ContainsFunc(raw, invisible):
		return forbidden(RuleForm, "it must not hold spaces, line ends or invisible characters")
	}
	return nil
}

// invisible reports whether a character is white space or is not displayed.
func invisible(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }

// authority returns the part of a URL with user, host and port (RFC 3986 §3.2).
func authority(raw string) string {
	_, rest, _ := strings.Cut(raw, "//")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		return rest[:end]
	}
	return rest
}

// port checks the port of a URL; "" is the default of https.
func (g *Guard) port(text string) error {
	if text == "" {
		text = "443"
	}
	if !slices.ContainsFunc(g.options.Ports, func(p uint16) bool { return strconv.Itoa(int(p)) == text }) {
		return forbidden(RulePort, "the port must be %s", alternatives(g.options.Ports))
	}
	return nil
}

// alternatives lists ports for an error.
func alternatives(ports []uint16) string {
	texts := make([]string, len(ports))
	for i, p := range ports {
		texts[i] = fmt.Sprint(p)
	}
	return strings.Join(texts, " or ")
}
