// Package oidc is a client of one OpenID Connect issuer (docs/spec/accounts.md#sign-in-with-an-issuer): it sends browsers there with the
// authorization code flow, PKCE and a nonce, verifies what comes back, and asks again with refresh tokens. It does not depend on accounts
// and stores nothing: what an attempt to sign in needs is sealed for a cookie of the browser, so that any process can complete it.
//
// The issuer is discovered with the first request and not at the start. Every exchange with it is bounded in time and size. Errors say
// whether the issuer has refused (ErrRefused) or has given no answer that can be used (ErrUnavailable). Neither codes nor tokens are in them.
package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/token"
)

// The kinds of errors, which those of this package wrap.
var (
	ErrRefused     = errors.New("the issuer refused")
	ErrUnavailable = errors.New("the issuer gave no usable answer")
)

// discoveryTTL is how long a discovery document is used. One that is older is used on if the issuer does not answer.
const discoveryTTL = 24 * time.Hour

// Config describes the issuer and this client of it.
type Config struct {
	Issuer       string
	ClientID     string
	ClientSecret string // "": a public client
	RedirectURL  string // of the callback, as the issuer knows it
	GroupsClaim  string // the claim with the groups of a user
	Clock        clock.Clock
	Secret       [32]byte // seals attempts
}

// Client signs users in with an issuer. It is safe for concurrent use.
type Client struct {
	config Config
	http   *http.Client
	sealer token.Sealer

	discovering singleflight.Group

	mu      sync.Mutex
	current *issuer // nil: not discovered yet
}

// New returns a Client. It connects to nothing.
func New(c Config) (*Client, error) {
	sealer, err := token.NewSealer(c.Secret)
	if err != nil {
		return nil, fmt.Errorf("seal attempts to sign in: %w", err)
	}
	return &Client{config: c, http: newHTTPClient(), sealer: sealer}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// issuer is what the discovery document says.
type issuer struct {
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
	oauth    oauth2.Config
	at       time.Time
}

// Discover checks that the issuer can be used. Error: ErrUnavailable.
func (c *Client) Discover(ctx context.Context) error {
	_, err := c.discover(ctx)
	return err
}

// discover returns the issuer, discovered now or earlier. Callers that come at the same time share a request.
func (c *Client) discover(ctx context.Context) (*issuer, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	known := c.current
	c.mu.Unlock()
	if known != nil && c.config.Clock.Now().Sub(known.at) < discoveryTTL {
		return known, nil
	}
	done := c.discovering.DoChan("", func() (any, error) { return c.fetch(context.WithoutCancel(ctx)) })
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case result := <-done:
		if result.Err != nil && known != nil {
			return known, nil
		}
		found, _ := result.Val.(*issuer)
		return found, result.Err
	}
}

// fetch requests the discovery document.
func (c *Client) fetch(ctx context.Context) (*issuer, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, c.http), c.config.Issuer)
	if err != nil {
		return nil, fmt.Errorf("%w: discovery of %s: %s", ErrUnavailable, c.config.Issuer, brief(err))
	}
	var says struct {
		Scopes []string `json:"scopes_supported"`
		Auth   []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := provider.Claims(&says); err != nil {
		return nil, fmt.Errorf("%w: discovery of %s: %s", ErrUnavailable, c.config.Issuer, brief(err))
	}
	endpoint := provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // the default of OpenID Connect Core §9
	if c.config.ClientSecret == "" || slices.Contains(says.Auth, "client_secret_post") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	scopes := []string{oidc.ScopeOpenID, "email"}
	for _, optional := range []string{"groups", oidc.ScopeOfflineAccess} {
		if slices.Contains(says.Scopes, optional) {
			scopes = append(scopes, optional)
		}
	}
	found := &issuer{
		provider: provider, at: c.config.Clock.Now(),
		verifier: provider.Verifier(&oidc.Config{ClientID: c.config.ClientID, Now: c.config.Clock.Now}),
		oauth: oauth2.Config{
			ClientID: c.config.ClientID, ClientSecret: c.config.ClientSecret, Endpoint: endpoint, RedirectURL: c.config.RedirectURL, Scopes: scopes,
		},
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = found
	return found, nil
}
