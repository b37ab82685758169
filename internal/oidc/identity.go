package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// subjectMax is the maximum length of a subject (OpenID Connect Core §2).
const subjectMax = 255

// Identity is who the issuer says a user is. Issuer and Subject together never change and are never given to another user.
type Identity struct {
	Issuer, Subject string
	Email           string // "": the issuer names none
	EmailVerified   bool
	Groups          []string
	RefreshToken    string // "": the issuer gives none
}

// verify checks the signature, issuer, audience and times of an ID token. Errors: ErrRefused; ErrUnavailable without the issuer's keys.
func (i *issuer) verify(ctx context.Context, raw string) (*oidc.IDToken, error) {
	if raw == "" {
		return nil, fmt.Errorf("%w: there is no ID token", ErrRefused)
	}
	verified, err := i.verifier.Verify(ctx, raw)
	if err != nil {
		kind := ErrRefused
		if strings.Contains(err.Error(), "fetching keys") { // the library has no type for it
			kind = ErrUnavailable
		}
		return nil, fmt.Errorf("%w: ID token: %s", kind, brief(err))
	}
	var says struct {
		Party string `json:"azp"`
	}
	if err := verified.Claims(&says); err != nil {
		return nil, fmt.Errorf("%w: ID token: %s", ErrRefused, brief(err))
	}
	// OpenID Connect Core §3.1.3.7, 4 and 5.
	if says.Party != "" && says.Party != i.oauth.ClientID || says.Party == "" && len(verified.Audience) > 1 {
		return nil, fmt.Errorf("%w: the ID token is for another client (azp)", ErrRefused)
	}
	if !isSubject(verified.Subject) {
		return nil, fmt.Errorf("%w: the subject is not 1 to %d characters of text", ErrRefused, subjectMax)
	}
	return verified, nil
}

// isSubject reports whether text can be stored as a subject.
func isSubject(text string) bool {
	if text == "" || len(text) > subjectMax || !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}

// claims are those of an ID token or of the UserInfo endpoint that count here.
type claims map[string]json.RawMessage

// lacks reports whether there is no claim of the name. A claim that is null is none (OpenID Connect Core §5.3.2).
func (c claims) lacks(name string) bool { return c[name] == nil || string(c[name]) == "null" }

// text returns a claim that is text, "" for any other.
func (c claims) text(name string) (text string) {
	if json.Unmarshal(c[name], &text) != nil {
		return ""
	}
	return text
}

// isTrue reports whether a claim is true, or the text true, as some issuers write it.
func (c claims) isTrue(name string) bool {
	var yes bool
	return json.Unmarshal(c[name], &yes) == nil && yes || c.text(name) == "true"
}

// list returns a claim that is a list of texts, or one text.
func (c claims) list(name string) (all []string) {
	if json.Unmarshal(c[name], &all) == nil {
		return all
	}
	if one := c.text(name); one != "" {
		return []string{one}
	}
	return nil
}

// identity returns who an ID token is about. Issuers may leave the address and the groups out of it, and have them at the UserInfo
// endpoint (OpenID Connect Core §5.4). Errors: ErrRefused, ErrUnavailable.
func (c *Client) identity(ctx context.Context, i *issuer, tokens *oauth2.Token, verified *oidc.IDToken) (*Identity, error) {
	all := claims{}
	if err := verified.Claims(&all); err != nil {
		return nil, fmt.Errorf("%w: ID token: %s", ErrRefused, brief(err))
	}
	if err := c.complete(ctx, i, tokens, verified.Subject, all); err != nil {
		return nil, err
	}
	return c.of(verified.Subject, tokens, all), nil
}

// complete adds to claims what they lack and the UserInfo endpoint has.
func (c *Client) complete(ctx context.Context, i *issuer, tokens *oauth2.Token, subject string, all claims) error {
	lacksGroups := c.config.GroupsClaim != "" && all.lacks(c.config.GroupsClaim)
	if i.provider.UserInfoEndpoint() == "" || !lacksGroups && !all.lacks("email") {
		return nil
	}
	info, err := i.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return fmt.Errorf("%w: UserInfo: %s", ErrUnavailable, brief(err))
	}
	if info.Subject != subject { // OpenID Connect Core §5.3.2
		return fmt.Errorf("%w: UserInfo is about another subject", ErrRefused)
	}
	more := claims{}
	if err := info.Claims(&more); err != nil {
		return fmt.Errorf("%w: UserInfo: %s", ErrUnavailable, brief(err))
	}
	if all.lacks("email") { // the address and what is said about it come from the same place
		all["email"], all["email_verified"] = more["email"], more["email_verified"]
	}
	if lacksGroups {
		all[c.config.GroupsClaim] = more[c.config.GroupsClaim]
	}
	return nil
}

func (c *Client) of(subject string, tokens *oauth2.Token, all claims) *Identity {
	return &Identity{
		Issuer: c.config.Issuer, Subject: subject, Email: all.text("email"), EmailVerified: all.isTrue("email_verified"),
		Groups: all.list(c.config.GroupsClaim), RefreshToken: tokens.RefreshToken,
	}
}

// Refresh asks the issuer again about the user of a refresh token. The token may be used once: the one of the result replaces it.
// ErrRefused means that the issuer has ended the sign-in there; anything else that is no usable answer is ErrUnavailable.
func (c *Client) Refresh(ctx context.Context, subject, refreshToken string) (*Identity, error) {
	found, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	ctx = oidc.ClientContext(ctx, c.http)
	tokens, err := found.oauth.TokenSource(ctx, &oauth2.Token{RefreshToken: refreshToken}).Token()
	if err != nil {
		kind := ErrUnavailable
		if isRefusal(err, invalidGrant, invalidRequest) {
			kind = ErrRefused
		}
		return nil, fmt.Errorf("%w: refresh token: %s", kind, briefToken(err))
	}
	all := claims{}
	if raw, _ := tokens.Extra("id_token").(string); raw != "" { // it may be left out (OpenID Connect Core §12.2)
		verified, err := found.verify(ctx, raw)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", ErrUnavailable, brief(err))
		}
		if verified.Subject != subject {
			return nil, fmt.Errorf("%w: the refreshed ID token is about another subject", ErrUnavailable)
		}
		if err := verified.Claims(&all); err != nil {
			return nil, fmt.Errorf("%w: ID token: %s", ErrUnavailable, brief(err))
		}
	}
	if err := c.complete(ctx, found, tokens, subject, all); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrUnavailable, brief(err))
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: a refreshed token comes without any claims", ErrUnavailable)
	}
	return c.of(subject, tokens, all), nil
}

// tokenError returns the error of the token endpoint: a refusal if it says so, otherwise no answer.
func tokenError(what string, err error) error {
	kind := ErrUnavailable
	if isRefusal(err, invalidGrant) {
		kind = ErrRefused
	}
	return fmt.Errorf("%w: %s: %s", kind, what, briefToken(err))
}

// Errors of the token endpoint (RFC 6749 §5.2). Dex has invalid_request for refresh tokens that have expired or were revoked; what else it
// stands for, a request with a parameter that is missing, is none of ours.
const (
	invalidGrant   = "invalid_grant"
	invalidRequest = "invalid_request"
)

// isRefusal reports whether the token endpoint refuses with one of the errors. Some issuers say so with 401.
func isRefusal(err error, codes ...string) bool {
	refusal, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && slices.Contains(codes, refusal.ErrorCode) && refusal.Response != nil &&
		refusal.Response.StatusCode >= http.StatusBadRequest && refusal.Response.StatusCode < http.StatusInternalServerError
}

// briefToken is brief for errors of the token endpoint, which contain the whole response and so maybe tokens.
func briefToken(err error) string {
	if refusal, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status := 0
		if refusal.Response != nil {
			status = refusal.Response.StatusCode
		}
		return fmt.Sprintf("status %d, error %q", status, brief(errors.New(refusal.ErrorCode)))
	}
	return brief(err)
}
