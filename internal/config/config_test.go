package config_test

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/plan"
)

// documented is a file with documented defaults, in every form that a file may use.
const documented = `data_dir: ./data
base_url: http://localhost:8080
http: {addr: ":8080", trusted_proxies: []}
smtp: {addr: ":2525", hostname: mx.gonebox.localhost, max_size: 25MiB, tls: {cert: "", key: "", acme: false}}
database: {url: ""}                       # empty: SQLite in data_dir
domains: [gonebox.localhost]              # active public domains
dns: {resolver: ""}                       # empty: the system's; else host:port
metrics: {addr: ""}                       # empty: off; metrics and pprof, never on the public address
secrets: {key: ""}                        # empty: made once in data_dir; signs tokens, seals two-factor secrets
session: {idle: 30m}
mailbox: {address_cooldown: 720h, max_messages: 1000, reserved: []}
message: {attachment_max: 5MiB}
domain: {recheck_every: 6h, suspend_after: 3}
webhooks: {allow_networks: [], retry_schedule: [5s, 5m, 30m, 2h, 5h, 10h, 10h], pause_after_failures: 20, timeout: 15s}
billing:
  vnd_per_point: 1000
  reconcile_every: 10s
  providers: {bankpay: active, bnb: coming_soon}
  bankpay: {apikey: "", allow_networks: [], bank_bin: "", bank_name: "", account_number: "", account_name: ""}
limits: {mailbox_create: "30/1m, 300/24h", signin: "10/5m", signin_account: "50/5m", register: "10/1h", session: "30/1m", reads: "300/1m", long_polls: 100, other: "300/1m", smtp_connections: 100, smtp_messages: "1000/1m"}
plans:                                    # entitlement names are the paths: plans.free.mailboxes.max
  guest: {raw: {retention: 15m}}
  free: {keys: {max: 1, mailbox_create: "60/1m", calls: "120/1m"}, domains: {max: 1}, filters: {max: 5}, webhooks: {max: 1}}
`

func same(t *testing.T, want, got *config.Config) {
	t.Helper()
	compare := cmp.Options{cmpopts.EquateComparable(netip.Prefix{}), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(want, got, compare); diff != "" {
		t.Errorf("configurations differ (-want +got):\n%s", diff)
	}
}

// load parses a file named box.yaml.
func load(t *testing.T, file string, environ ...string) *config.Config {
	t.Helper()
	c, err := config.Parse("box.yaml", []byte(file), environ, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFileOfDefaultsChangesNothing(t *testing.T) {
	same(t, config.Default(), load(t, documented))
}

func TestDefaultsAgreeWithOtherPackages(t *testing.T) {
	catalogue, err := config.Default().Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plan.Default(), catalogue, cmp.AllowUnexported(plan.Catalogue{})); diff != "" {
		t.Errorf("plans differ (-want +got):\n%s", diff)
	}
}

func TestVariablesAreUnique(t *testing.T) {
	keys := map[string]string{}
	for key, env := range config.Keys() {
		for _, name := range []string{env, env + "_FILE"} {
			if other, ok := keys[name]; ok {
				t.Errorf("%s is the variable of %s and %s, want one key for each variable", name, other, key)
			}
			keys[name] = key
		}
	}
}

func TestLaterSourcesOverrideEarlierOnes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gonebox.yaml")
	file := "session: {idle: 1m}\nmailbox: {max_messages: 1}\nsmtp: {max_recipients: 1}\n"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{
		"PATH=/bin", "GONEBOX_MAILBOX_MAX_MESSAGES=2", "GONEBOX_SMTP_MAX_RECIPIENTS=2",
		"GONEBOX_DOMAINS=a.example, b.example", "GONEBOX_PLANS_FREE_MAILBOXES_MAX=7",
	}
	c, err := config.Load(path, environ, map[string]string{"smtp.max_recipients": "3"})
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Session.Idle = time.Minute
	want.Mailbox.MaxMessages = 2
	want.SMTP.MaxRecipients = 3
	want.Domains = []string{"a.example", "b.example"}
	want.Plans[1].Entitlements.MailboxesMax = 7
	same(t, want, c)
}

func TestFileChangesAndAddsPlans(t *testing.T) {
	c := load(t, `plans:
  plus: {price: {monthly: 60}, mailbox: {ttl: {max: 100d}}}
  team: {name: Team, price: {monthly: 900}, mailboxes: {max: 9}, mailbox: {lifetime: {max: 0}}}
`, "GONEBOX_PLANS_TEAM_PRICE_YEARLY=9000")
	catalogue, err := c.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	plus, _ := catalogue.Plan("plus")
	if plus.Prices != (plan.Prices{Monthly: 60, Yearly: 500}) || plus.Entitlements.TTLMax != 2400*time.Hour {
		t.Errorf("the plan plus is %+v, want the prices %+v and a TTL of up to %v", plus, plan.Prices{Monthly: 60, Yearly: 500}, 2400*time.Hour)
	}
	want := plan.Default().Free()
	want.Code, want.Name, want.Prices = "team", "Team", plan.Prices{Monthly: 900, Yearly: 9000}
	want.Entitlements.MailboxesMax, want.Entitlements.LifetimeMax = 9, 0
	if diff := cmp.Diff(want, catalogue.All()[3]); diff != "" {
		t.Errorf("team (-want +got):\n%s", diff)
	}
}

func TestEmptySectionsKeepTheDefaults(t *testing.T) {
	for _, file := range []string{"", "# nothing\n", "http:\n  # addr: x\nplans:\n  free:\n", "---\n", "{}"} {
		same(t, config.Default(), load(t, file))
	}
}

func TestUnquotedDigitsAreText(t *testing.T) {
	c := load(t, "billing: {bankpay: {bank_bin: 970436, account_number: 0123456789012345678}}")
	if got := c.Billing.Bankpay.AccountNumber; got != "0123456789012345678" {
		t.Errorf(`account number %q, want "0123456789012345678"`, got)
	}
}

func TestSecretIsReadFromFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	secret := strings.Repeat("5e", 32)
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := load(t, "", "GONEBOX_SECRETS_KEY_FILE="+path); string(c.Secrets.Key) != secret {
		t.Errorf("secrets.key read from a file is %q, want %q", string(c.Secrets.Key), secret)
	}
}

// changed has, for every kind, a value that is not the default.
const changed = `roles: [api, jobs]
database: {url: "postgres:///x"}
log: {level: debug, format: json}
http: {addr: "127.0.0.1:0", trusted_proxies: [10.0.0.0/8, "fd00::/8", 192.0.2.1], body_max: 1000}
domains: [xn--bcher-kva.example, b.example]
webhooks: {retry_schedule: [1s, 1500ms, 1d12h], retry_jitter: 0}
disk_reserve: 0
mailbox: {address_cooldown: 0, reserved: [ceo, a.b-c]}
billing: {bankpay: {account_name: "Công ty \"A\" \\ \u2028 #: %"}}
limits: {reads: "1/1s, 100/1h", long_polls: 1}
plans: {free: {domains: {max: 0}}, zed: {name: Z}}
`

func TestPrintedConfigurationLoadsAsItself(t *testing.T) {
	url := "GONEBOX_DATABASE_URL=postgres:///x"
	for name, file := range map[string]string{"default": "", "changed": changed} {
		for _, comments := range []bool{false, true} {
			t.Run(name+"/"+strconv.FormatBool(comments), func(t *testing.T) {
				c := load(t, file)
				var out bytes.Buffer
				if err := c.WriteYAML(&out, comments); err != nil {
					t.Fatal(err)
				}
				if name == "changed" { // the masked secret is replaced and set in the environment
					again := load(t, strings.ReplaceAll(out.String(), `url: "***"`, `url: ""`), url)
					same(t, c, again)
					return
				}
				same(t, c, load(t, out.String()))
			})
		}
	}
}

func TestJSONHasTheTreeOfTheFile(t *testing.T) {
	var out bytes.Buffer
	if err := load(t, changed).WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var tree struct {
		Database struct{ URL string }
		HTTP     struct {
			Addr           string
			TrustedProxies []string `json:"trusted_proxies"`
		}
		Plans map[string]struct {
			Mailboxes struct{ Max int }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &tree); err != nil {
		t.Fatal(err)
	}
	if tree.Database.URL != "***" || tree.HTTP.Addr != "127.0.0.1:0" || tree.HTTP.TrustedProxies[2] != "192.0.2.1/32" || tree.Plans["zed"].Mailboxes.Max != 20 {
		t.Errorf("the configuration as printed is %+v, want the database's URL masked, the address as configured, the third trusted proxy 192.0.2.1/32 and at most 20 mailboxes in the plan zed", tree)
	}
}

func TestMissingFileIsAnError(t *testing.T) {
	if _, err := config.Load(filepath.Join(t.TempDir(), "none.yaml"), nil, nil); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("Load of a missing file: %v, want an error of one line", err)
	}
}
