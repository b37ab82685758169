package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/config"
)

// errorLines parses a configuration with errors and returns the lines of the returned error.
func errorLines(t *testing.T, file string, environ []string, overrides map[string]string) []string {
	t.Helper()
	c, err := config.Parse("box.yaml", []byte(file), environ, overrides)
	if err == nil {
		t.Fatalf("Parse = %+v and no error, want an error of\n%s", c, file)
	}
	if _, ok := errors.AsType[*config.Error](err); !ok {
		t.Errorf("Parse returned an error of type %T, want a *config.Error", err)
	}
	return strings.Split(err.Error(), "\n")
}

func TestFileErrorsNameLineKeyAndValue(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"smtp:\n  maxsize: 1MiB\n", "box.yaml:2: smtp.maxsize: unknown key; did you mean smtp.max_size?"},
		{"htpp: {addr: x}\n", "box.yaml:1: htpp: unknown key; did you mean http?"},
		{"qwertyuiop: 1\n", "box.yaml:1: qwertyuiop: unknown key"},
		{"http.addr: ':1'\n", "box.yaml:1: has a key that is not a plain name; nest sections instead of joining them with dots"},
		{"http: &h {addr: ':1'}\nsmtp: *h\n", "box.yaml:2: smtp: is a section: give it keys of its own, as in key: value"},
		{"http: {addr: &a ':1'}\nsmtp: {addr: *a}\n", `box.yaml:2: smtp.addr = "*a": is an alias; write the value itself`},
		{"http: {<<: {addr: ':1'}}\n", "box.yaml:1: http: has a key that is not a plain name; nest sections instead of joining them with dots"},
		{"data_dir: a\n\ndata_dir: a\n", "box.yaml:3: data_dir: is given twice; first on line 1"},
		{"http: {addr: ':1'}\nhttp: {body_max: 1B}\n", "box.yaml:2: http: is given twice; first on line 1"},
		{"http: 8080\n", "box.yaml:1: http: is a section: give it keys of its own, as in key: value"},
		{"- a\n", "box.yaml:1: is a section: give it keys of its own, as in key: value"},
		{"a: 1\n---\nb: 1\n", "box.yaml: holds more than one YAML document; keep one"},
		{"a: [1\n", "box.yaml:2: is not YAML: did not find expected ',' or ']'"},
		{"data_dir: {a: b}\n", `box.yaml:1: data_dir = "{…}": must be a single value`},
		{"data_dir:\n", `box.yaml:1: data_dir = "": has no value; write one ("" for none), or leave the key out`},
		{"data_dir: true\n", `box.yaml:1: data_dir = "true": must be text; put it in quotes`},
		{"data_dir: \"a\\nb\"\n", `box.yaml:1: data_dir = "a\nb": has control characters or is not UTF-8`},
		{"domains: a.example\n", `box.yaml:1: domains = "a.example": must be a list, as in [a, b]`},
		{"domains: [a.example, [b]]\n", `box.yaml:1: domains = "[…]": element 2: "[…]" must be a single value`},
		{"domains: [a.example, a.example]\n", `box.yaml:1: domains = "[…]": "a.example" is listed twice`},
		{"smtp: {tls: {acme: yes}}\n", `box.yaml:1: smtp.tls.acme = "yes": must be true or false, without quotes`},
		{"smtp: {max_size: 25 apples}\n", `box.yaml:1: smtp.max_size = "25 apples": is not a size; write it like 25MiB, 512KiB or 4096B`},
		{"smtp: {max_size: 9000000TiB}\n", `box.yaml:1: smtp.max_size = "9000000TiB": is not a size; write it like 25MiB, 512KiB or 4096B`},
		{"smtp: {max_size: ''}\n", `box.yaml:1: smtp.max_size = "": must be above zero`},
		{"memory: {budget: 64MiB}\n", `box.yaml:1: memory.budget = "64MiB": must be at least 128MiB`},
		{"session: {idle: 30}\n", `box.yaml:1: session.idle = "30": is not a duration; write it like 15s, 30m, 720h or 30d`},
		{"session: {idle: 999999d}\n", `box.yaml:1: session.idle = "999999d": is not a duration; write it like 15s, 30m, 720h or 30d`},
		{"session: {idle: 0s}\n", `box.yaml:1: session.idle = "0s": must be above zero`},
		{"session: {idle: -1s}\n", `box.yaml:1: session.idle = "-1s": must not be below zero`},
		{"limits: {long_polls: '5'}\n", `box.yaml:1: limits.long_polls = "5": must be a whole number, without quotes`},
		{"limits: {long_polls: 0x10}\n", `box.yaml:1: limits.long_polls = "0x10": is not a whole number`},
		{"limits: {reads: 300}\n", `box.yaml:1: limits.reads = "300": is not a rate: limit "300": "300" is not count/duration, as in 30/1m`},
		{"log: {level: loud}\n", `box.yaml:1: log.level = "loud": is none of debug, info, warn, error`},
		{"log: {format: xml}\n", `box.yaml:1: log.format = "xml": is none of text, json`},
		{"webhooks: {retry_jitter: 101}\n", `box.yaml:1: webhooks.retry_jitter = "101": must be at most 100`},
		{"http: {trusted_proxies: [10.0.0.1/8]}\n", `box.yaml:1: http.trusted_proxies = "[…]": "10.0.0.1/8" has bits beyond its mask; write 10.0.0.0/8`},
		{"http: {trusted_proxies: [ten]}\n", `box.yaml:1: http.trusted_proxies = "[…]": "ten" is not a network; write it like 10.0.0.0/8 or fd00::/8`},
		{"secrets: {key: '***'}\n", `box.yaml:1: secrets.key = "***": is the mask of a printed configuration; put the secret itself in`},
		{"plans: {Team: {}}\n", `box.yaml:1: plans = "Team": is not a plan code; use up to 32 lower-case letters and digits`},
		{"plans: {team: {price: {weekly: 1}}}\n", "box.yaml:1: plans.team.price.weekly: unknown key; did you mean plans.team.price.yearly?"},
	} {
		if got := errorLines(t, c.file, nil, nil); len(got) != 1 || got[0] != c.want {
			t.Errorf("the errors of %q\n got %s\nwant %s", c.file, strings.Join(got, "\n     "), c.want)
		}
	}
}

func TestInvalidValuesAreRefused(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"base_url: https://a.example/box/", `base_url = "https://a.example/box/": must be http:// or https://`},
		{"base_url: https://a.example/a//b", "base_url = "},
		{"base_url: https://a.example/..", "base_url = "},
		{"base_url: https://a.example/a/./b", "base_url = "},
		{"base_url: https://a.example/a%2Fb", "base_url = "},
		{"base_url: https://a.example/a b", "base_url = "},
		{"base_url: 'https://a.example/a?b'", "base_url = "},
		{"base_url: 'https://a.example/a#b'", "base_url = "},
		{"base_url: https://user@a.example/a", "base_url = "},
		{"base_url: https://a.example:65536", `base_url = "https://a.example:65536": has no port from 1 to 65535`},
		{"base_url: https://a.example:0/mail", "base_url = "},
		{"base_url: 'https://a.example:/mail'", "base_url = "},
		{"base_url: 'https://[2001:db8::1]:99999'", "base_url = "},
		{"base_url: https://a.example/api", `base_url = "https://a.example/api": has a path that begins like those of the service itself`},
		{"base_url: https://a.example/docs/mail", "base_url = "},
		{"base_url: https://a.example/inbox", "base_url = "},
		{"compat: {mailpit: {path: mailpit}}", `compat.mailpit.path = "mailpit": must be a path`},
		{"compat: {mailpit: {path: /mailpit/}}", "compat.mailpit.path = "},
		{"compat: {mailpit: {path: /}}", "compat.mailpit.path = "},
		{"compat: {mailpit: {path: /api}}", `compat.mailpit.path = "/api": begins like the paths of the API itself`},
		{"compat: {mailpit: {path: /gonebox}}", `compat.mailpit.path = "/gonebox": begins like the paths of the API itself`},
		{"base_url: https://a.example/", "base_url = "},
		{"base_url: ftp://a.example", "base_url = "},
		{"base_url: 'http://'", "base_url = "},
		{"http: {addr: '8080'}", `http.addr = "8080": is not host:port; write :8080`},
		{"http: {addr: '::1:80'}", "http.addr = "},
		{"http: {addr: ':65536'}", "http.addr = "},
		{"http: {addr: ':1'}\nsmtp: {addr: ':1'}", `box.yaml:2: smtp.addr = ":1": is the address of http.addr too`},
		{"smtp: {tls: {addr: ':8080', self_signed: true}}", `box.yaml:1: smtp.tls.addr = ":8080": is the address of http.addr too`},
		{"smtp: {tls: {addr: ':465'}}", `box.yaml:1: smtp.tls.addr = ":465": needs a certificate`},
		{"metrics: {addr: ':8080'}", `metrics.addr = ":8080": is the public address`},
		{"dns: {resolver: ':53'}", `dns.resolver = ":53": is not host:port`},
		{"data_dir: ''", `data_dir = "": must not be empty`},
		{"database: {timeout: 100ms}", `database.timeout = "100ms": must be at least 1s`},
		{"database: {timeout: 2m}", `database.timeout = "2m": must be at most 1m`},
		{"smtp: {hostname: MX.example.org}", "smtp.hostname = "},
		{"smtp: {hostname: mx}", "smtp.hostname = "},
		{"smtp: {dnsbl: [BL.example.org]}", "smtp.dnsbl = "},
		{"smtp: {dnsbl: ['']}", "smtp.dnsbl = "},
		{"smtp: {dnsbl: [" + strings.Repeat("a.", 92) + "bl.org]}", "smtp.dnsbl = "},
		{"domains: []", `domains = "[…]": must not be empty`},
		{"domains: [bücher.example]", "domains = "},
		{"domains: [xn--a.example]", "domains = "},
		{"domains: [192.0.2.1]", "domains = "},
		{"domains: [a..example]", "domains = "},
		{"domains: [a.example.]", "domains = "},
		{"mailbox: {reserved: [Boss]}", "mailbox.reserved = "},
		{"secrets: {key: tooshortsecret}", `secrets.key = "***": must be 64 hex digits or the base64 of 32 octets`},
		{"secrets: {key: a-passphrase-of-more-than-32-characters!}", `secrets.key = "***": must be 64 hex digits or the base64 of 32 octets`},
		{"database: {url: 'mysql://u:hunter2@h/d'}", `database.url = "***": must be postgres://`},
		{"smtp: {tls: {key: k.pem}}", `smtp.tls.key = "k.pem": needs smtp.tls.cert`},
		{"smtp: {tls: {cert: c.pem}}", `smtp.tls.cert = "c.pem": needs smtp.tls.key`},
		{"smtp: {hostname: mx.a.example, tls: {cert: c, key: k, acme: true}}", `smtp.tls.acme = "true": and smtp.tls.cert exclude`},
		{"smtp: {tls: {acme: true}}", `smtp.tls.acme = "true": no certificate`},
		{"http: {tls: {key: k.pem}}", `http.tls.key = "k.pem": needs http.tls.cert`},
		{"http: {tls: {cert: c.pem}}", `http.tls.cert = "c.pem": needs http.tls.key`},
		{"http: {tls: {cert: c, key: k, acme: {hosts: [a.example]}}}", `http.tls.acme.hosts = "a.example": and http.tls.cert exclude`},
		{"http: {tls: {acme: {email: a@a.example}}}", `http.tls.acme.email = "a@a.example": needs http.tls.acme.hosts`},
		{"http: {tls: {acme: {roots: r.pem}}}", `http.tls.acme.roots = "r.pem": needs http.tls.acme.hosts`},
		{"http: {tls: {acme: {hosts: [a.example], email: A <a@a.example>}}}", `http.tls.acme.email = "A <a@a.example>": is not an e-mail address`},
		{"http: {tls: {acme: {hosts: [box.localhost]}}}", `http.tls.acme.hosts = "[…]": "box.localhost" is not a name in public DNS`},
		{"http: {tls: {acme: {hosts: [localhost]}}}", `"localhost" is not a name in public DNS`},
		{"http: {tls: {acme: {hosts: [192.0.2.1]}}}", `"192.0.2.1" is not a name in public DNS`},
		{"http: {tls: {acme: {hosts: ['*.a.example']}}}", "http.tls.acme.hosts = "},
		{"http: {tls: {acme: {hosts: [A.example]}}}", `"A.example" is not in lower-case A-label form; write a.example`},
		{"http: {tls: {acme: {hosts: ['a.example:443']}}}", "http.tls.acme.hosts = "},
		{"http: {tls: {acme: {hosts: [a.example, a.example]}}}", `"a.example" is listed twice`},
		{"http: {tls: {acme: {hosts: [a.example], directory: 'http://ca.example'}}}", `http.tls.acme.directory = "http://ca.example": must be an https:// URL`},
		{"base_url: http://a.example\nhttp: {tls: {cert: c, key: k}}", `base_url = "http://a.example": is plain HTTP`},
		{"base_url: https://b.example\nhttp: {tls: {acme: {hosts: [a.example]}}}", `base_url = "https://b.example": has a host without a certificate; add it to http.tls.acme.hosts`},
		{"http: {redirect_addr: ':80'}", `http.redirect_addr = ":80": needs http.tls.acme.hosts, or http.tls.cert`},
		{"http: {addr: ':80', redirect_addr: ':80', tls: {cert: c, key: k}}", `http.redirect_addr = ":80": is the address of http.addr too`},
		{"http: {redirect_addr: ':2525', tls: {cert: c, key: k}}", `http.redirect_addr = ":2525": is the address of smtp.addr too`},
		{"roles: [api]", `roles = "api": the other parts cannot share`},
		{"roles: []", `roles = "[…]": must not be empty`},
		{"roles: [api, cook]", `roles = "[…]": "cook" is none of smtp, api, jobs`},
		{"api: {page_max: 10}", `default: api.page_default = "50": is above api.page_max`},
		{"webhooks: {response_max: 1B}", "webhooks.response_kept = "},
		{"http: {read_timeout: 1s}", "http.read_header_timeout = "},
		{"account: {password: {memory: 1KiB}}", "account.password.memory = "},
		{"billing: {topup_min: 60000000}", "billing.topup_min = "},
		{"billing: {late_payment: 1h}", "billing.late_payment = "},
		{"billing: {providers: {bnb: active}}", "billing.providers.bnb = "},
		{"billing: {bankpay: {bank_bin: 97}}", "billing.bankpay.bank_bin = "},
		{"billing: {bankpay: {account_number: 1-2}}", "billing.bankpay.account_number = "},
		{"billing: {bankpay: {apikey: s3cret, bank_bin: 970436, account_number: 1}}", `billing.bankpay.apikey = "***": needs billing.bankpay.allow_networks`},
		{"billing: {bankpay: {apikey: s3cret, allow_networks: [192.0.2.1]}}", `billing.bankpay.apikey = "***": needs billing.bankpay.bank_bin`},
		{"plans: {plus: {name: ''}}", "plans.plus.name = "},
		{"plans: {free: {mailbox: {ttl: {default: 8d}}}}", `plans.free.mailbox.ttl.default = "192h": is above the plan's`},
		{"plans: {free: {mailbox: {ttl: {max: 31d}}}}", "plans.free.mailbox.ttl.max = "},
		{"plans: {free: {mailbox: {ttl: {default: 1500ms}}}}", `plans.free.mailbox.ttl.default = "1.5s": must be whole seconds`},
		{"plans: {pro: {raw: {retention: 367d}}}", "plans.pro.raw.retention = "},
		{"plans: {free: {price: {monthly: 1}}}", "plans.free.price.monthly = "},
		{"plans: {guest: {price: {yearly: 1}}}", "plans.guest.price.yearly = "},
	} {
		got := errorLines(t, c.file, nil, nil)
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("the errors of %q\n got %s\nwant %s…", c.file, strings.Join(got, "\n     "), c.want)
		}
		if all := strings.Join(got, ""); strings.Contains(all, "hunter2") || strings.Contains(all, "s3cret") || strings.Contains(all, "tooshort") {
			t.Errorf("the errors of %q are %s, want no secret in them", c.file, all)
		}
	}
}

func TestEnvironmentErrorsNameTheVariable(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"GONEBOX_HTTP_ADRR", ":1", "environment: GONEBOX_HTTP_ADRR: unknown variable; did you mean GONEBOX_HTTP_ADDR?"},
		{"GONEBOX_SMTP_TLS_KEY_FILE", "x", "environment: GONEBOX_SMTP_TLS_KEY_FILE: unknown variable; unset it, or use one that docs/config.md lists"},
		{"GONEBOX_PORT", "8080", "environment: GONEBOX_PORT: unknown variable; unset it, or use one that docs/config.md lists"},
		{"GONEBOX_SESSION_IDLE", "", `GONEBOX_SESSION_IDLE: session.idle = "": is not a duration; write it like 15s, 30m, 720h or 30d`},
		{"GONEBOX_DATABASE_URL", "redis://u:hunter2@h", `GONEBOX_DATABASE_URL: database.url = "***": must be postgres://user:password@host/name, or empty for SQLite`},
		{"GONEBOX_SECRETS_KEY_FILE", "/nowhere/key", `GONEBOX_SECRETS_KEY_FILE: secrets.key = "/nowhere/key": the file with the secret cannot be read: open /nowhere/key: no such file or directory`},
		{"GONEBOX_DOMAINS", "a.example,,b.example", `GONEBOX_DOMAINS: domains = "a.example,,b.example": "" is not a domain name in lower-case A-label form, like mail.example.org`},
	} {
		got := errorLines(t, "", []string{c.name + "=" + c.value}, nil)
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("the errors of %s=%s\n got %s\nwant %s", c.name, c.value, strings.Join(got, "\n     "), c.want)
		}
	}
}

// What is not a domain name stops the start, and says what it is instead. Before, the service handed out dead addresses.
func TestEveryKeyOfDomainsHasOneCheck(t *testing.T) {
	for text, reason := range map[string]string{
		`["a.example.net"]`: "brackets or quotes", "user@a.example.net": "is a mail address", "http://a.example.net": "is a URL", "*.example.net": "wildcard",
		"a_b.example.net": "underscore", "a.example.net:25": "has a port", "a.example.net/": "slash", "a.example.net b.example.net": "white space",
		"1.2.3.4": "IP address", "2001:db8::1": "IP address", "a.example.1": "IP address", "co.uk": "public suffix", "github.io": "public suffix",
		"A.example.net": "write a.example.net", "a.example.net.": "write a.example.net", "bücher.example.net": "write xn--bcher-kva.example.net",
	} {
		for _, key := range []string{"domains", "smtp.hostname", "smtp.sink.domains", "smtp.dnsbl"} {
			got := errorLines(t, "", nil, map[string]string{key: text, "smtp.sink.account": "a@example.org"})
			if len(got) != 1 || !strings.Contains(got[0], key+" = ") || !strings.Contains(got[0], reason) {
				t.Errorf("Load with --set %s=%s: %q, want one line with %q", key, text, got, reason)
			}
		}
	}
	for _, text := range []string{"nodot", "localhost", "com", "test"} {
		for _, key := range []string{"domains", "smtp.hostname"} {
			if got := errorLines(t, "", nil, map[string]string{key: text}); !strings.Contains(got[0], "single label") {
				t.Errorf("Load with --set %s=%s: %q, want one line about its single label", key, text, got)
			}
		}
	}
	for _, text := range []string{"gonebox.localhost", "box.test", "box.example", "box.internal", "box.local", "mx.home.arpa", "box.example.org", "me.duckdns.org"} {
		for _, key := range []string{"domains", "smtp.hostname", "smtp.sink.domains"} {
			if _, err := config.Parse("", nil, nil, map[string]string{key: text, "smtp.sink.account": "a@example.org"}); err != nil {
				t.Errorf("Load with --set %s=%s: %v, want no error", key, text, err)
			}
		}
	}
}

// A secret or a database that is named and empty is an error, and not the default: the service would start on a new database.
func TestNamedSecretThatIsEmptyIsAnError(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const unset = "the variable is set and empty; give it a value, or unset it"
	for _, c := range []struct{ name, value, want string }{
		{"GONEBOX_DATABASE_URL", "", "GONEBOX_DATABASE_URL: database.url = \"\": " + unset},
		{"GONEBOX_DATABASE_URL", " \t", "GONEBOX_DATABASE_URL: database.url = \"\": " + unset},
		{"GONEBOX_SECRETS_KEY", "", "GONEBOX_SECRETS_KEY: secrets.key = \"\": " + unset},
		{"GONEBOX_SECRETS_PREVIOUS", "", "GONEBOX_SECRETS_PREVIOUS: secrets.previous = \"\": " + unset},
		{"GONEBOX_BILLING_BANKPAY_APIKEY", "", "GONEBOX_BILLING_BANKPAY_APIKEY: billing.bankpay.apikey = \"\": " + unset},
		{"GONEBOX_DEV_KEY", "", "GONEBOX_DEV_KEY: dev.key = \"\": " + unset},
		{"GONEBOX_DATABASE_URL_FILE", "", "GONEBOX_DATABASE_URL_FILE: database.url = \"\": " + unset},
		{"GONEBOX_DATABASE_URL_FILE", file(""), "the file with the secret is empty; write the secret into it, or unset the variable"},
		{"GONEBOX_DATABASE_URL_FILE", file("\n"), "the file with the secret is empty"},
		{"GONEBOX_SECRETS_KEY_FILE", file(" \r\n"), "the file with the secret is empty"},
		{"GONEBOX_SECRETS_PREVIOUS_FILE", file("\n"), "the file with the secret is empty"},
		{"GONEBOX_BILLING_BANKPAY_APIKEY_FILE", file("\n\n"), "the file with the secret is empty"},
	} {
		got := errorLines(t, "", []string{c.name + "=" + c.value}, nil)
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("Load with %s=%q:\n got %s\nwant %s", c.name, c.value, strings.Join(got, "\n     "), c.want)
		}
	}
	if _, err := config.Load("", []string{"GONEBOX_CONFIG="}, nil); err == nil || err.Error() != "GONEBOX_CONFIG: "+unset {
		t.Errorf("Load with GONEBOX_CONFIG=: error %v, want %s", err, unset)
	}
	if got := load(t, `database: {url: ""}`, "GONEBOX_DNS_RESOLVER=").Database.URL; got != "" {
		t.Errorf("Load of an empty database.url in the file, and with an empty variable that is no secret: the URL is %q, want none", string(got))
	}
	if c, err := config.Load("", nil, map[string]string{"database.url": ""}); err != nil || c.Database.URL != "" {
		t.Errorf("Load with --set database.url=: error %v, want SQLite, since it was typed", err)
	}
}

func TestSecretCannotComeFromTwoVariables(t *testing.T) {
	got := errorLines(t, "", []string{"GONEBOX_SECRETS_KEY=" + strings.Repeat("5e", 32), "GONEBOX_SECRETS_KEY_FILE=/x"}, nil)
	if len(got) != 1 || !strings.Contains(got[0], "keep one of them") {
		t.Errorf("the errors are %q, want one that says keep one of them", got)
	}
}

func TestEveryErrorIsReported(t *testing.T) {
	got := errorLines(t, "session: {idle: soon}\nnope: 1\nsmtp: {addr: x}\n",
		[]string{"GONEBOX_LIMITS_LONG_POLLS=many"}, map[string]string{"http.adr": ":1", "billing.topup_max": "1"})
	want := []string{
		`box.yaml:1: session.idle = "soon": is not a duration`,
		`box.yaml:2: nope: unknown key`,
		`box.yaml:3: smtp.addr = "x": is not host:port`,
		`GONEBOX_LIMITS_LONG_POLLS: limits.long_polls = "many": is not a whole number`,
		`command line: http.adr: unknown key; did you mean http.addr?`,
		`default: billing.topup_min = "10000": is above billing.topup_max`,
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("the errors are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
