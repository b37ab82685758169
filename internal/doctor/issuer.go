package doctor

import (
	"context"

	"github.com/gonebox/gonebox/internal/oidc"
)

// checkIssuer checks that the issuer that users sign in with can be discovered.
func (e *examination) checkIssuer(ctx context.Context) {
	cfg := e.cfg.OIDC
	if cfg.Issuer == "" {
		return
	}
	const check = "issuer"
	client, err := oidc.New(oidc.Config{Issuer: cfg.Issuer, ClientID: cfg.ClientID, Clock: e.clock})
	if err != nil {
		e.reportf(check, Failure, "%s", oneLine(err))
		return
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*lookupTimeout)
	defer cancel()
	if err := client.Discover(ctx); err != nil {
		e.reportf(check, Failure, "%s; nobody can sign in with it: check oidc.issuer, which must be as the issuer writes it", oneLine(err))
		return
	}
	e.reportf(check, OK, "%s answers; it must know %s/api/v1/auth/oidc/callback as the redirect URI", cfg.Issuer, e.cfg.BaseURL)
}
