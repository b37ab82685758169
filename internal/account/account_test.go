package account_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// noon is the start of the fake clock, at the beginning of a time step.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// cheap is a cost that keeps the tests fast.
var cheap = account.Cost{Memory: 8, Passes: 1, Threads: 1}

const (
	email    = "ada@example.org"
	password = "correct horse"
)

// fixture is a service with its clock, database and registry.
type fixture struct {
	*account.Service
	t        *testing.T
	clock    *clock.Fake
	db       *db.DB
	registry *account.Registry
}

func policy(c account.Cost) account.Policy {
	return account.Policy{TokenTTL: 30 * 24 * time.Hour, TOTPPending: 10 * time.Minute, RecoveryCodes: 10, Password: c}
}

func open(t *testing.T, d *db.DB, c account.Cost) *fixture {
	t.Helper()
	now := clock.NewFake(noon)
	f := &fixture{t: t, clock: now, db: d, registry: account.NewRegistry(d, now, c, func(plan string) bool { return plan != "gold" },
		func(context.Context, *db.Tx, id.Account) error { return nil })}
	var err error
	f.Service, err = account.New(d, f.clock, ratelimit.New(f.clock), policy(c), account.Secrets{Seal: [32]byte{1}, Recovery: [32]byte{2}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// each runs a test on every engine, with a new service.
func each(t *testing.T, test func(t *testing.T, f *fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) { test(t, open(t, d, cheap)) })
}

// register creates the account that most tests use.
func (f *fixture) register() (token string, a *account.Account) {
	f.t.Helper()
	token, s, err := f.Register(f.t.Context(), account.Registration{Email: email, Password: password})
	if err != nil {
		f.t.Fatal(err)
	}
	return token, s.Account
}

// Register and SignIn call the service with a slot of one client.
func (f *fixture) Register(ctx context.Context, r account.Registration) (string, *account.Session, error) {
	slot, err := f.ReserveHash("192.0.2.1")
	if err != nil {
		return "", nil, err
	}
	defer slot.Release()
	return f.Service.Register(ctx, slot, r)
}

func (f *fixture) SignIn(ctx context.Context, c account.Credentials) (string, *account.Session, error) {
	return f.signInFrom(ctx, "192.0.2.1", c)
}

func (f *fixture) signInFrom(ctx context.Context, client string, c account.Credentials) (string, *account.Session, error) {
	slot, err := f.ReserveHash(client)
	if err != nil {
		return "", nil, err
	}
	defer slot.Release()
	return f.Service.SignIn(ctx, slot, c)
}

func (f *fixture) signIn(email, password, code string) (token string, err error) {
	token, _, err = f.SignIn(f.t.Context(), account.Credentials{Email: email, Password: password, Code: code})
	return token, err
}

// wantCode fails the test unless err is a problem of the code, or nil if code is "".
func wantCode(t *testing.T, what string, err error, code problem.Code) {
	t.Helper()
	if code == "" && err != nil || code != "" && !problem.Has(err, code) {
		t.Errorf("%s: %v, want %q", what, err, code)
	}
}

func TestAddressIsFoldedBeforeComparing(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, s, err := f.Register(t.Context(), account.Registration{Email: "ZOE\u0308@Example.ORG", Password: password})
		if err != nil || s.Account.Email != "zo\u00eb@example.org" {
			t.Fatalf(`Register(ZOE\u0308@Example.ORG) = %+v, %v, want the address zoë@example.org`, s, err)
		}
		for _, same := range []string{"zo\u00eb@example.org", "Zo\u00cb@EXAMPLE.org", "zoe\u0308@example.org"} {
			_, err := f.signIn(same, password, "")
			wantCode(t, "sign in as "+same, err, "")
			_, _, err = f.Register(t.Context(), account.Registration{Email: same, Password: password})
			wantCode(t, "register "+same, err, problem.AccountEmailTaken)
			if account.Identity(same) != account.Identity("zo\u00eb@example.org") {
				t.Errorf("Identity(%q) = %q, want %q as for its composed form", same, account.Identity(same), account.Identity("zo\u00eb@example.org"))
			}
		}
		_, err = f.signIn("zoe@example.org", password, "")
		wantCode(t, "another address", err, problem.AuthInvalidCredentials)
	})
}

func TestPasswordIsNormalizedBeforeHashing(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, _, err := f.Register(t.Context(), account.Registration{Email: email, Password: "pass\u00e9word"})
		wantCode(t, "register", err, "")
		_, err = f.signIn(email, "passe\u0301word", "")
		wantCode(t, "decomposed", err, "")
		_, err = f.signIn(email, "Pass\u00e9word", "")
		wantCode(t, "another case", err, problem.AuthInvalidCredentials)
	})
}

func TestInvalidRegistrationIsRejected(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for what, r := range map[string]account.Registration{
			"no @":           {Email: "ada.example.org", Password: password},
			"short password": {Email: email, Password: "1234567"},
			"long password":  {Email: email, Password: strings.Repeat("é", 201)},
			"bad locale":     {Email: email, Password: password, Locale: new("en_US")},
		} {
			_, _, err := f.Register(t.Context(), r)
			wantCode(t, what, err, problem.RequestInvalid)
			wantCode(t, what+", validated", r.Validate(), problem.RequestInvalid)
		}
		_, _, err := f.Register(t.Context(), account.Registration{Email: email, Password: strings.Repeat("é", 200), Locale: new("VI-vn")})
		wantCode(t, "200 characters", err, "")
	})
}

func TestEmailSyntaxIsLenient(t *testing.T) {
	long := strings.Repeat("a", 255-len("@b.example"))
	for text, want := range map[string]string{
		"a@b":                     "a@b",
		"A.b+c@Example.ORG":       "a.b+c@example.org",
		`"odd"!#$%&'*/=?^{|}~@x`:  `"odd"!#$%&'*/=?^{|}~@x`,
		"用户@例え.jp":                "用户@例え.jp",
		"ΑΒΓ@x.gr":                "αβγ@x.gr",
		long + "@b.example":       long + "@b.example",
		"":                        "",
		"@":                       "",
		"a@":                      "",
		"@b":                      "",
		"a@b@c":                   "",
		"a b@c":                   "",
		"a@c\u00a0":               "",
		"a\x00@c":                 "",
		"a\u200b@c":               "", // looks like a@c
		"a@c\r\n":                 "",
		"a\xff@c":                 "",
		long + "a@b.example":      "",
		"name <a@b.example>":      "",
		"a\u2028@b.example":       "",
		"a@b.example\u202e":       "",
		" a@b.example":            "",
		strings.Repeat("@", 1000): "",
	} {
		got, err := account.ParseEmail(text)
		if got != want || (want == "") != problem.Has(err, problem.RequestInvalid) {
			t.Errorf("ParseEmail(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestLocaleIsStoredInCanonicalForm(t *testing.T) {
	for text, want := range map[string]string{
		"en": "en", "vi-vn": "vi-VN", "EN-us": "en-US", "zh-hant-TW": "zh-Hant-TW", "iw": "he",
		"": "", "e": "", "english": "", "en_US": "", "xx": "", "en us": "", "en-": "", "*": "", "de-DE-1996x": "", "not-a-locale": "", "zh-Hant-TW-x": "",
	} {
		got, err := account.ParseLocale(text)
		if got != want || (want == "") != problem.Has(err, problem.RequestInvalid) {
			t.Errorf("ParseLocale(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
}

func FuzzEmail(f *testing.F) {
	for _, seed := range []string{"a@b", "Ada@Example.org", "ZOE\u0308@x", "İ@ẞ", "K@Å", "@", "a\x00@b", "\xff@b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		email, err := account.ParseEmail(text)
		if err != nil {
			return
		}
		again, err := account.ParseEmail(email)
		if err != nil || again != email {
			t.Errorf("ParseEmail(%q) = %q, and ParseEmail of that = %q, %v, want the same again", text, email, again, err)
		}
		if strings.Count(email, "@") != 1 || strings.ContainsAny(email, " \t\r\n\x00") || len([]rune(email)) > 255 {
			t.Errorf("ParseEmail(%q) = %q, want one @, no white space and at most 255 characters", text, email)
		}
	})
}
