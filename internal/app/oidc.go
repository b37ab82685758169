package app

import (
	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/httpapi"
	"github.com/gonebox/gonebox/internal/oidc"
	"github.com/gonebox/gonebox/internal/token"
)

// newOIDC creates the sign-in with the team's issuer. Without one, a.oidc stays nil.
func (a *App) newOIDC(dataKey []byte) error {
	cfg := a.cfg.OIDC
	if cfg.Issuer == "" {
		return nil
	}
	attempts, err := token.Derive(dataKey, "oidc attempt seal")
	if err != nil {
		return err
	}
	seal, err := token.Derive(dataKey, "oidc seal")
	if err != nil {
		return err
	}
	groups := cfg.GroupsClaim
	if len(cfg.AllowGroups) == 0 && cfg.StaffGroup == "" {
		groups = "" // they do not matter, so that they need not be asked for
	}
	a.oidc, err = oidc.New(oidc.Config{
		Issuer: cfg.Issuer, ClientID: cfg.ClientID, ClientSecret: string(cfg.ClientSecret), RedirectURL: a.baseURL + httpapi.BasePath + "/auth/oidc/callback",
		GroupsClaim: groups, Clock: a.clock, Secret: attempts,
	})
	if err != nil {
		return err
	}
	return a.accounts.FederateBy(account.Federation{
		Issuer: cfg.Issuer, AllowGroups: cfg.AllowGroups, StaffGroup: cfg.StaffGroup, Seal: seal, Logger: a.log, Refresh: a.oidc.Refresh,
	})
}
