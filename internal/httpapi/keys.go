package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// keys registers the group keys (docs/spec/keys.md): an account's developer keys, and in key_mailboxes.go the operations that they may call.
func (a *API) keys() {
	const group = "keys"
	register(a, group, httpkit.Operation{
		ID: "list-keys", Method: http.MethodGet, Path: "/me/api-keys", Summary: "List the developer keys", Status: 200,
		Text: "Newest first, without the secret keys.",
		Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
	}, a.listKeys)
	register(a, group, httpkit.Operation{
		ID: "create-key", Method: http.MethodPost, Path: "/me/api-keys", Summary: "Create a developer key", Status: 201,
		Text: "`key` is shown only in this response, since only its hash is stored. The tier is the account's plan.",
		Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other, Codes: []problem.Code{problem.KeyLimitReached, problem.AccountUnconfirmed},
	}, a.createKey)
	register(a, group, httpkit.Operation{
		ID: "revoke-key", Method: http.MethodDelete, Path: "/me/api-keys/{prefix}", Summary: "Revoke a developer key", Status: 204,
		Text: "The key and the mailbox tokens that it got are rejected from then on. The mailboxes it created stay with the account.",
		Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other, Codes: []problem.Code{problem.KeyNotFound},
	}, a.revokeKey)
	a.keyMailboxes(group)
}

// Key is a developer key as its owner sees it.
type Key struct {
	Prefix       string         `json:"prefix" doc:"Identifies the key in paths." example:"k3v9q2"`
	Name         string         `json:"name" doc:"The name that the owner gave to the key." example:"CI"`
	Scopes       []apikey.Scope `json:"scopes" nullable:"false" enum:"mailboxes:read,mailboxes:write,messages:read,otp:read" doc:"What the key may do."`
	AllowedCIDRs []string       `json:"allowedCidrs" nullable:"false" doc:"The networks it may be used from; empty for any."`
	Tier         string         `json:"tier" doc:"The code of the account's plan." example:"free"`
	CreatedAt    clock.Stamp    `json:"createdAt" doc:"When the key was created."`
	LastUsedAt   *clock.Stamp   `json:"lastUsedAt" nullable:"true" doc:"When it was last accepted, or null."`
	ExpiresAt    *clock.Stamp   `json:"expiresAt" nullable:"true" doc:"Null if it is valid until it is revoked."`
	Key          string         `json:"key,omitempty" doc:"The secret key, shown only when it is created." example:"x_k3v9q2_4f8s1d6g7h2j5k9m"`
}

func shownKey(k *apikey.Key, credential string) Key {
	networks := make([]string, len(k.Networks))
	for i, n := range k.Networks {
		networks[i] = n.String()
	}
	return Key{
		Prefix: k.Prefix, Name: k.Name, Scopes: k.Scopes, AllowedCIDRs: networks, Tier: k.Limits.Tier,
		CreatedAt: clock.Stamp{Time: k.CreatedAt}, LastUsedAt: clock.Optional(k.LastUsedAt), ExpiresAt: clock.Optional(k.ExpiresAt), Key: credential,
	}
}

func (a *API) listKeys(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[Key], error) {
	after, err := keyMark(*in)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(*in)
	keys, err := a.Keys.List(ctx, from(ctx).account.ID, after, size+1)
	if err != nil {
		return nil, err
	}
	keys, next := httpkit.CutPage(keys, size, keyPosition)
	shown := make([]Key, len(keys))
	for i, k := range keys {
		shown[i] = shownKey(k, "")
	}
	return httpkit.Page(shown, next), nil
}

// keyPosition encodes the position of a key in the list, and keyMark decodes it.
func keyPosition(k *apikey.Key) string {
	return strconv.FormatInt(k.CreatedAt.UnixMicro(), 10) + " " + k.Prefix
}

func keyMark(p httpkit.Paging) (apikey.Mark, error) {
	position, err := p.Position()
	if err != nil || position == "" {
		return apikey.Mark{}, err
	}
	created, prefix, ok := strings.Cut(position, " ")
	us, err := strconv.ParseInt(created, 10, 64)
	if err != nil || !ok || prefix == "" {
		return apikey.Mark{}, httpkit.InvalidCursor()
	}
	return apikey.Mark{CreatedAt: time.UnixMicro(us), Prefix: prefix}, nil
}

// keyCreation is the body that creates a key.
type keyCreation struct {
	_            struct{}     `additionalProperties:"false"`
	Name         string       `json:"name" minLength:"1" maxLength:"100" doc:"A name to recognize the key by." example:"CI"`
	Scopes       []string     `json:"scopes" minItems:"1" maxItems:"20" nullable:"false" enum:"mailboxes:read,mailboxes:write,messages:read,otp:read" doc:"What the key may do."`
	AllowedCIDRs []string     `json:"allowedCidrs,omitempty" maxItems:"100" nullable:"false" doc:"The networks it may be used from, such as 192.0.2.0/24; any if absent or empty."`
	ExpiresAt    *clock.Stamp `json:"expiresAt,omitempty" doc:"In the future; never if absent."`
}

func (a *API) createKey(ctx context.Context, in *struct{ Body keyCreation }) (*httpkit.One[Key], error) {
	if err := a.Accounts.CheckConfirmed(from(ctx).account); err != nil {
		return nil, err
	}
	w := apikey.Params{Name: in.Body.Name, Scopes: in.Body.Scopes, Networks: in.Body.AllowedCIDRs}
	if in.Body.ExpiresAt != nil {
		w.ExpiresAt = in.Body.ExpiresAt.Time
	}
	k, credential, err := a.Keys.Create(ctx, from(ctx).account.ID, w)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownKey(k, credential)), nil
}

func (a *API) revokeKey(ctx context.Context, in *struct {
	Prefix string `path:"prefix" doc:"The key's prefix."`
},
) (*struct{}, error) {
	return nil, a.Keys.Revoke(ctx, from(ctx).account.ID, in.Prefix)
}
