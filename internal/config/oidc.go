package config

import (
	"cmp"
	"errors"
	"net/url"
	"strings"
)

// OIDC is the section oidc (docs/spec/accounts.md#sign-in-with-an-issuer).
type OIDC struct {
	Issuer       string   `key:"issuer" default:"" form:"issuer" help:"URL of the issuer, exactly as its discovery document names it: https, or http on this machine alone; the issuer must know base_url followed by /api/v1/auth/oidc/callback as the redirect URI; empty: no sign-in with an issuer"`
	ClientID     string   `key:"client_id" default:"" help:"name of this service at the issuer"`
	ClientSecret Secret   `key:"client_secret" default:"" help:"secret of this service at the issuer; empty: the issuer knows it as a public client"`
	Name         string   `key:"name" default:"" help:"what the sign-in page calls it, like Example Inc.; empty: the host of the issuer"`
	GroupsClaim  string   `key:"groups_claim" default:"groups" required:"true" help:"claim with the groups of a user, in the ID token or at the UserInfo endpoint: a list of names, or one name"`
	AllowGroups  []string `key:"allow_groups" default:"" help:"groups of which a user must be in one to sign in; empty: every user of the issuer may, so that a public issuer lets in everyone"`
	StaffGroup   string   `key:"staff_group" default:"" help:"group whose users have the role staff, and no other users of the issuer; empty: roles are set by gonebox user set-role alone"`
}

// Label returns what the sign-in page calls the issuer.
func (o OIDC) Label() string {
	u, err := url.Parse(o.Issuer)
	if err != nil {
		return o.Name
	}
	return cmp.Or(o.Name, u.Hostname())
}

// checkIssuer checks the URL of an issuer (OpenID Connect Discovery §3).
func checkIssuer(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || strings.ContainsAny(text, "?#") {
		return errors.New("must be the URL of an issuer without a query, like https://login.example.org/realms/team")
	}
	if u.Scheme == "http" && !isLoopbackHost(u.Hostname()) {
		return errors.New("would send the secret without TLS; write https://, since http:// is for an issuer on this machine alone")
	}
	return nil
}

// checkOIDC checks that an issuer is configured completely, and that there is one where no other way to sign in is left.
func (l *loader) checkOIDC() {
	o, issuer := l.config.OIDC, l.config.OIDC.Issuer
	l.require(issuer == "" || o.ClientID != "", "needs oidc.client_id beside it, the name of this service at the issuer", "oidc.issuer", "oidc.client_id")
	const alone = "needs oidc.issuer beside it"
	l.require(issuer != "" || o.ClientID == "", alone, "oidc.client_id", "oidc.issuer")
	l.require(issuer != "" || o.ClientSecret == "", alone, "oidc.client_secret", "oidc.issuer")
	l.require(issuer != "" || len(o.AllowGroups) == 0, alone, "oidc.allow_groups", "oidc.issuer")
	l.require(issuer != "" || o.StaffGroup == "", alone, "oidc.staff_group", "oidc.issuer")
	l.require(issuer != "" || l.config.Access.Password == "on", "needs oidc.issuer beside it, or nobody could sign in", "access.password", "oidc.issuer")
}
