package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"

	"go.yaml.in/yaml/v4"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
)

// Seed lists what gonebox seed creates: accounts, with the keys, domains, filters and webhooks of their owners.
type Seed struct {
	Accounts []SeedAccount `yaml:"accounts"`
}

// SeedAccount is an account of a seed. Filters and webhooks have the fields of the API's operations that create them.
type SeedAccount struct {
	Email    string           `yaml:"email"`
	Password string           `yaml:"password"` // "": a random one
	Plan     string           `yaml:"plan"`     // "": free
	Role     account.Role     `yaml:"role"`     // "": user
	Keys     []SeedKey        `yaml:"keys"`
	Domains  []string         `yaml:"domains"`
	Filters  []map[string]any `yaml:"filters"`
	Webhooks []map[string]any `yaml:"webhooks"`
}

// SeedKey is a developer key of a seed.
type SeedKey struct {
	Name   string   `yaml:"name"`
	Scopes []string `yaml:"scopes"`
	Secret string   `yaml:"secret"` // the whole key; "": a random one
}

// Seeded is one entry of a seed after it was applied: created, or found to exist.
type Seeded struct {
	Kind    string `json:"kind"` // account, key, domain, filter or webhook
	Name    string `json:"name"`
	Account string `json:"account"` // the e-mail address
	Created bool   `json:"created"` // false: it was there and was left as it is
	// Secret is a password, a key or the signing secret of a webhook that was generated; it cannot be shown again.
	Secret string `json:"secret,omitempty"`
}

// ParseSeed parses the YAML of a seed. Unknown keys are errors, which name the line.
func ParseSeed(data []byte) (*Seed, error) {
	s := &Seed{}
	if err := yaml.Load(data, s, yaml.WithKnownFields()); err != nil {
		return nil, err
	}
	if len(s.Accounts) == 0 {
		return nil, errors.New("accounts: names no account")
	}
	return s, nil
}

// Apply creates what s names and the service does not have yet, and calls report for each thing. What exists is not
// changed: an account is recognised by its e-mail address, a key by its prefix if the secret is given and else by its name, a domain
// and a filter by their names, a webhook by its URL. An error names the entry of the seed; the entries before it have been created.
func (s *Seed) Apply(ctx context.Context, o *Operator, cfg *config.Config, report func(Seeded) error) error {
	api, err := o.API(ctx, cfg)
	if err != nil {
		return err
	}
	for i, a := range s.Accounts {
		w := &seeding{o: o, api: api, entry: a, report: report}
		if err := w.apply(ctx); err != nil {
			return fmt.Errorf("accounts[%d]%w", i, err)
		}
	}
	return nil
}

// seeding applies one account of a seed.
type seeding struct {
	o      *Operator
	api    *OperatorAPI
	entry  SeedAccount
	report func(Seeded) error

	owner      *account.Account
	credential string // a user token of owner
}

func (w *seeding) apply(ctx context.Context) error {
	if err := w.addAccount(ctx); err != nil {
		return entryError("", err)
	}
	for i, k := range w.entry.Keys {
		if err := w.addKey(ctx, k); err != nil {
			return entryError(fmt.Sprintf(".keys[%d]", i), err)
		}
	}
	if len(w.entry.Domains)+len(w.entry.Filters)+len(w.entry.Webhooks) == 0 {
		return nil
	}
	return w.api.As(ctx, w.owner, func(credential string) error {
		w.credential = credential
		domains := make([]map[string]any, len(w.entry.Domains))
		for i, name := range w.entry.Domains {
			if normal, err := domain.Normalize(name); err == nil { // else the API says what is wrong with it
				name = normal
			}
			domains[i] = map[string]any{"domain": name}
		}
		for _, kind := range []struct {
			name, key string // key is the field that identifies an entry
			entries   []map[string]any
		}{{"domain", "domain", domains}, {"filter", "name", w.entry.Filters}, {"webhook", "url", w.entry.Webhooks}} {
			if err := w.post(ctx, kind.name, kind.key, kind.entries); err != nil {
				return err
			}
		}
		return nil
	})
}

// entryError prefixes err with the position of the faulty entry in the seed file.
func entryError(position string, err error) error {
	p, known := problem.From(err)
	if !known {
		return fmt.Errorf("%s: %w", position, err)
	}
	return fmt.Errorf("%s: %s", position, p.Line())
}

func (w *seeding) addAccount(ctx context.Context) (err error) {
	e := w.entry
	row := Seeded{Kind: "account", Name: e.Email, Account: e.Email}
	password, owner, err := w.o.AddAccount(ctx, account.Provision{Email: e.Email, Password: e.Password, Plan: e.Plan, Role: e.Role})
	switch p, _ := problem.From(err); {
	case err == nil:
		w.owner, row.Created = owner, true
		if e.Password == "" {
			row.Secret = password
		}
	case p != nil && p.Code == problem.AccountEmailTaken:
		if w.owner, err = w.o.Accounts.Find(ctx, e.Email); err != nil {
			return err
		}
	default:
		return err
	}
	return w.report(row)
}

func (w *seeding) addKey(ctx context.Context, k SeedKey) error {
	row := Seeded{Kind: "key", Name: k.Name, Account: w.entry.Email}
	prefix := ""
	if k.Secret != "" {
		var err error
		if prefix, _, err = token.ParseDeveloper(k.Secret); err != nil {
			return errors.New("secret: is not a whole developer key; gonebox key generate prints one")
		}
	}
	all, err := w.o.Keys.List(ctx, w.owner.ID, apikey.Mark{}, math.MaxInt32) // a plan bounds them
	if err != nil {
		return err
	}
	for _, have := range all {
		if prefix == "" && have.Name == k.Name || prefix != "" && have.Prefix == prefix {
			return w.report(row)
		}
	}
	_, credential, err := w.o.Keys.Create(ctx, w.owner.ID, apikey.Params{Name: k.Name, Scopes: k.Scopes, Credential: k.Secret})
	if err != nil {
		return err
	}
	row.Created = true
	if k.Secret == "" {
		row.Secret = credential
	}
	return w.report(row)
}

// post creates the entries that the account does not have. key is the field that identifies an entry.
func (w *seeding) post(ctx context.Context, kind, key string, entries []map[string]any) error {
	if len(entries) == 0 {
		return nil
	}
	path := "/api/v1/me/" + kind + "s"
	have, err := w.list(ctx, path, key)
	if err != nil {
		return entryError("."+kind+"s", err)
	}
	for i, e := range entries {
		name, _ := e[key].(string)
		row := Seeded{Kind: kind, Name: name, Account: w.entry.Email}
		if !have[name] {
			var response struct{ Data struct{ Secret string } }
			if err := w.call(ctx, http.MethodPost, path, e, &response); err != nil {
				return entryError(fmt.Sprintf(".%ss[%d]", kind, i), err)
			}
			row.Created, row.Secret = true, response.Data.Secret
			have[name] = true
		}
		if err := w.report(row); err != nil {
			return err
		}
	}
	return nil
}

// list returns the values of the field key of all entries of a list.
func (w *seeding) list(ctx context.Context, path, key string) (map[string]bool, error) {
	have, cursor := map[string]bool{}, ""
	for {
		var page struct {
			Data       []map[string]any
			NextCursor string
		}
		if err := w.call(ctx, http.MethodGet, path+cursor, nil, &page); err != nil {
			return nil, err
		}
		for _, item := range page.Data {
			name, _ := item[key].(string)
			have[name] = true
		}
		if page.NextCursor == "" {
			return have, nil
		}
		cursor = "?cursor=" + page.NextCursor
	}
}

// call calls an operation of the API as the owner of the account and decodes the response.
func (w *seeding) call(ctx context.Context, method, path string, body, response any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	r := httptest.NewRequestWithContext(ctx, method, path, bytes.NewReader(text))
	r.RemoteAddr = "127.0.0.1:0" // under profile: dev an operator may name local endpoints
	r.Header.Set("Authorization", "Bearer "+w.credential)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	rec := httptest.NewRecorder()
	w.api.ServeHTTP(rec, r)
	if rec.Code >= http.StatusBadRequest {
		var p struct {
			Code   problem.Code
			Detail string
			Errors []problem.Field
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &p); err != nil {
			return fmt.Errorf("status %d", rec.Code)
		}
		return &problem.Problem{Code: p.Code, Detail: p.Detail, Fields: p.Errors}
	}
	return json.Unmarshal(rec.Body.Bytes(), response)
}
