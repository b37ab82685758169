package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/app/apptest"
)

// provisioned starts a service with cheap passwords and returns it with a function that runs a command on its data.
func provisioned(t *testing.T, set map[string]string) (*apptest.Service, func(line string) outcome) {
	all := map[string]string{"account.password.memory": "64KiB", "account.password.passes": "1"}
	maps.Copy(all, set)
	s := apptest.Start(t, apptest.Options{Set: all})
	return s, func(line string) outcome { return gonebox(t, line+" --data-dir "+s.Dir) }
}

// withStdin runs fn with a text on standard input.
func withStdin(t *testing.T, text string, fn func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdin")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := os.Stdin
	os.Stdin = f
	defer func() { os.Stdin = before }()
	fn()
}

func TestSeedCreatesAccountsOnceWithAllThatTheyNeed(t *testing.T) {
	s, command := provisioned(t, map[string]string{"access.registration": "closed"})
	secret := strings.TrimSpace(gonebox(t, "key generate").out)
	file := filepath.Join(t.TempDir(), "seed.yaml")
	text := `accounts:
- email: ci@example.org
  password: correct horse
  plan: pro
  role: staff
  keys:
  - {name: own, scopes: [messages:read, otp:read], secret: ` + secret + `}
  - {name: random, scopes: [mailboxes:read]}
  domains: [mail.ada-example.org, Bücher-example.org]
  filters: [{name: Door codes, extractRegex: 'door code (\d{4})', priority: 7}]
  webhooks: [{url: 'https://hooks.ada-example.org/gonebox', events: [message.received]}]
- email: bob@example.org
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	seed := func() (rows []app.Seeded) {
		t.Helper()
		got := command("seed --json " + file)
		if got.code != exitOK {
			t.Fatalf("code %d: %s", got.code, got.err)
		}
		if err := json.Unmarshal([]byte(got.out), &rows); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	secrets := map[string]string{}
	for _, row := range seed() {
		if !row.Created {
			t.Errorf("the first time %s %s was there", row.Kind, row.Name)
		}
		secrets[row.Kind+" "+row.Name] = row.Secret
	}
	if len(secrets) != 8 || !strings.HasPrefix(secrets["webhook https://hooks.ada-example.org/gonebox"], "whsec_") || secrets["key own"] != "" || secrets["account ci@example.org"] != "" {
		t.Errorf("created %v", secrets)
	}
	for _, row := range seed() {
		if row.Created || row.Secret != "" {
			t.Errorf("the second time %+v", row)
		}
	}
	signIn := s.Call(http.MethodPost, "/auth/token", "", map[string]string{"email": "ci@example.org", "password": "correct horse"})
	var session struct {
		Token   string
		Account struct{ Plan, Role string }
	}
	signIn.Into(t, &session)
	if session.Account.Plan != "pro" || session.Account.Role != "staff" {
		t.Fatal(string(signIn.Body))
	}
	for path, n := range map[string]int{"/me/domains": 2, "/me/filters": 1, "/me/webhooks": 1, "/me/api-keys": 2} {
		var page struct{ Data []json.RawMessage }
		if a := s.Call(http.MethodGet, path, session.Token, nil); json.Unmarshal(a.Body, &page) != nil || len(page.Data) != n {
			t.Errorf("GET %s: %s, want %d entries", path, a.Body, n)
		}
	}
	if a := s.Call(http.MethodPost, "/auth/token", "", map[string]string{"email": "bob@example.org", "password": secrets["account bob@example.org"]}); a.Status != http.StatusOK {
		t.Errorf("the generated password: %d %s", a.Status, a.Body)
	}
	for key, want := range map[string]int{secret: http.StatusForbidden, secrets["key random"]: http.StatusOK} { // the first lacks the scope
		if a := s.Call(http.MethodGet, "/keys/mailboxes", key, nil); a.Status != want {
			t.Errorf("a key: %d %s, want %d", a.Status, a.Body, want)
		}
	}
}

func TestSeedNamesTheWrongEntry(t *testing.T) {
	_, command := provisioned(t, nil)
	for text, want := range map[string]string{
		"accounts: [{email: a@example.org, filters: [{name: a, extractRegex: '('}]}]":                "accounts[0].filters[0]: extractRegex missing closing )",
		"accounts: [{email: a@example.org}, {email: b}]":                                             "accounts[1]: email",
		"accounts: [{email: c@example.org, plan: gold}]":                                             `accounts[0]: plan "gold" is not in the catalogue`,
		"accounts: [{email: c@example.org, role: king}]":                                             `accounts[0]: role must be user or staff`,
		"accounts: [{email: a@example.org, keys: [{name: k, scopes: [all]}]}]":                       "accounts[0].keys[0]: scopes/0 must be one of",
		"accounts: [{email: a@example.org, keys: [{name: k, scopes: [otp:read], secret: x_short}]}]": "accounts[0].keys[0]: secret: is not a whole developer key",
		"accounts: [{emial: a@example.org}]":                                                         "line 1: field emial not found",
		"accounts: []":                                                                               "names no account",
	} {
		withStdin(t, text, func() {
			if got := command("seed -"); got.code != exitFailure || !strings.Contains(got.err, want) {
				t.Errorf("%s: code %d, %s, want %s", text, got.code, got.err, want)
			}
		})
	}
}

func TestUserIsAddedWithItsPassword(t *testing.T) {
	s, command := provisioned(t, map[string]string{"access.registration": "closed"})
	withStdin(t, "correct horse\n", func() {
		if got := command("user add Ada@Example.org --password-stdin --plan plus --role staff"); got.code != exitOK || got.out != "Created the account ada@example.org.\n" {
			t.Errorf("%+v", got)
		}
	})
	if a := s.Call(http.MethodPost, "/auth/token", "", map[string]string{"email": "ada@example.org", "password": "correct horse"}); a.Status != http.StatusOK || !strings.Contains(string(a.Body), `"plan":"plus"`) {
		t.Errorf("sign in: %d %s", a.Status, a.Body)
	}
	command("user add ada@example.org").oneErrorLine(t, "a taken address", exitFailure, "address is taken")
	command("user add eve@example.org --plan gold").oneErrorLine(t, "an unknown plan", exitFailure, `plan "gold" is not in the catalogue`)
	if list := command("user list").out; strings.Contains(list, "eve@") {
		t.Errorf("the failed commands left an account: %s", list)
	}
}

func TestKeyIsAddedListedAndRevoked(t *testing.T) {
	s, command := provisioned(t, nil)
	if got := command("user add ada@example.org --plan pro"); got.code != exitOK {
		t.Fatal(got.err)
	}
	var added keyRow
	got := command("key add --user ada@example.org --name ci --scopes mailboxes:read,messages:read --network 10.0.0.0/8 --network 127.0.0.0/8 --for 1000000h --json")
	if err := json.Unmarshal([]byte(got.out), &added); err != nil || len(added.Networks) != 2 || added.ExpiresAt == nil {
		t.Fatalf("%+v: %v", got, err)
	}
	secret := strings.TrimSpace(gonebox(t, "key generate").out)
	withStdin(t, secret+"\n", func() {
		if got := command("key add --user ada@example.org --name given --scopes mailboxes:read --secret-stdin"); got.code != exitOK || strings.Contains(got.out, secret) {
			t.Errorf("%+v", got)
		}
		command("key add --user ada@example.org --name none --scopes mailboxes:read --secret-stdin").oneErrorLine(t, "no key", exitFailure, "read the key")
	})
	withStdin(t, secret+"\n", func() {
		command("key add --user ada@example.org --name twice --scopes mailboxes:read --secret-stdin").oneErrorLine(t, "a key twice", exitFailure, "has the prefix")
	})
	works := func(key string) int { return s.Call(http.MethodGet, "/keys/mailboxes", key, nil).Status }
	if first, second := works(added.Key), works(secret); first != http.StatusOK || second != http.StatusOK {
		t.Errorf("the keys are answered %d and %d", first, second)
	}
	if list := command("key list --user ada@example.org"); strings.Contains(list.out, secret) || strings.Count(list.out, "\n") != 3 {
		t.Errorf("list:\n%s%s", list.out, list.err)
	}
	if got := command("key revoke --user ada@example.org " + added.Prefix); got.code != exitOK || works(added.Key) != http.StatusUnauthorized {
		t.Errorf("%+v, then %d", got, works(added.Key))
	}
	command("key revoke --user ada@example.org "+added.Prefix).oneErrorLine(t, "revoke again", exitFailure, "key")
}
