package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// AttemptTTL is how long a browser has to come back from the issuer.
const AttemptTTL = 10 * time.Minute

// Attempt is an attempt of a browser to sign in.
type Attempt struct {
	State  string // names it in the URLs of the issuer and of the callback
	Cookie string // what the browser keeps meanwhile; sealed, and of no use without the state
	URL    string // of the issuer, for the browser
}

// secrets are what the cookie of an attempt contains.
type secrets struct {
	Nonce    string `json:"n"` // in the ID token
	Verifier string `json:"v"` // of PKCE (RFC 7636)
	Expires  int64  `json:"e"` // seconds since 1970
}

// Begin starts an attempt. Error: ErrUnavailable.
func (c *Client) Begin(ctx context.Context) (*Attempt, error) {
	found, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	s := secrets{Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Expires: c.config.Clock.Now().Add(AttemptTTL).Unix()}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode an attempt to sign in: %w", err)
	}
	state := rand.Text()
	return &Attempt{
		State: state, Cookie: base64.RawURLEncoding.EncodeToString(c.sealer.Seal(text, state)),
		URL: found.oauth.AuthCodeURL(state, oidc.Nonce(s.Nonce), oauth2.S256ChallengeOption(s.Verifier)),
	}, nil
}

// Open checks that a browser that comes back is the one that began: that it has the cookie of the attempt that the issuer names, and has
// not taken longer than AttemptTTL. Error: ErrRefused.
func (c *Client) Open(state, cookie string) (*Return, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil || state == "" {
		return nil, fmt.Errorf("%w: no attempt of this browser has the state", ErrRefused)
	}
	text, err := c.sealer.Open(sealed, state)
	if err != nil {
		return nil, fmt.Errorf("%w: no attempt of this browser has the state", ErrRefused)
	}
	r := &Return{client: c}
	if err := json.Unmarshal(text, &r.secrets); err != nil {
		return nil, fmt.Errorf("decode an attempt to sign in: %w", err)
	}
	if c.config.Clock.Now().Unix() >= r.secrets.Expires {
		return nil, fmt.Errorf("%w: the attempt has expired", ErrRefused)
	}
	return r, nil
}

// Return is an attempt whose browser has come back.
type Return struct {
	client  *Client
	secrets secrets
}

// Exchange redeems the code that the browser brought, and returns who it is. The caller makes sure that an attempt is redeemed once.
// Errors: ErrRefused, ErrUnavailable.
func (r *Return) Exchange(ctx context.Context, code string) (*Identity, error) {
	c := r.client
	found, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	ctx = oidc.ClientContext(ctx, c.http)
	tokens, err := found.oauth.Exchange(ctx, code, oauth2.VerifierOption(r.secrets.Verifier))
	if err != nil {
		return nil, tokenError("the code", err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	verified, err := found.verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(r.secrets.Nonce)) == 0 {
		return nil, fmt.Errorf("%w: the ID token is for another attempt (nonce)", ErrRefused)
	}
	return c.identity(ctx, found, tokens, verified)
}
