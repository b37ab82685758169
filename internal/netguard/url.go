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

// urlMax is the longest URL, in octets (spec §2 Webhook endpoint).
const urlMax = 2048

// CheckURL tells whether a URL may be used now: https, one of the ports, a host in its plain form, every address that it
// resolves to public. The error is a *ForbiddenError, or the context's where that ended first.
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

// target is the host that a URL leads to, if its form is allowed.
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

// parsed is the host that a URL leads to, if its parts are allowed.
func (g *Guard) parsed(u *url.URL) (host, error) {
	switch {
	case u.Scheme != "https":
		return host{}, forbidden(RuleScheme, "the scheme must be https")
	case u.User != nil:
		return host{}, forbidden(RuleUserinfo, "it must not hold a user name or a password")
	case u.Host == "":
		return host{}, forbidden(RuleForm, "it names no host")
	}
	if err := g.port(u.Port()); err != nil {
		return host{}, err
	}
	return readHost(u.Hostname(), strings.HasPrefix(u.Host, "["))
}

// plainText refuses what different readers of a URL are known to skip, to convert or to stop at.
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

func invisible(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }

// authority is the part of a URL that names user, host and port (RFC 3986 §3.2).
func authority(raw string) string {
	_, rest, _ := strings.Cut(raw, "//")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		return rest[:end]
	}
	return rest
}

// port checks a port as a URL writes it; "" is that of https.
func (g *Guard) port(text string) error {
	if text == "" {
		text = "443"
	}
	if !slices.ContainsFunc(g.options.Ports, func(p uint16) bool { return strconv.Itoa(int(p)) == text }) {
		return forbidden(RulePort, "the port must be %s", alternatives(g.options.Ports))
	}
	return nil
}

func alternatives(ports []uint16) string {
	texts := make([]string, len(ports))
	for i, p := range ports {
		texts[i] = fmt.Sprint(p)
	}
	return strings.Join(texts, " or ")
}
