// Package config reads the configuration of the service. Load applies four sources, each over the one before: the
// defaults, a YAML file, the environment, the command line. Under profile dev some defaults differ (dev.go).
//
// The struct tags of Config and of its sections (sections.go) are the one place where a key is defined. newTable
// (setting.go) turns them into settings, and everything else is made from those: the file, the variables, gonebox
// config, the warnings and docs/config.md. Rules that involve several keys are in check.go.
//
// Load reports all faults at once, each with its origin, such as the line of the file, and what to do about it;
// secrets are masked. A Config does not change afterwards: the service must be restarted to read it again. Names of
// keys and variables are public and never change.
package config

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gonebox/gonebox/internal/plan"
)

// Config holds every setting of the service. A field's tags are:
//
//	key       the name in its section; dots separate the levels
//	default   the value as text
//	help      what it means: one phrase, without a full stop
//	required  "true": the text or list must not be empty
//	oneof     the only values, separated by spaces
//	form      the form that a text must have; see checkForm
//	min, max  the bounds of a number, a duration or a size
//	zero      what zero means; without it a number must be above zero
//	open      the advice given when the value opens the service to everyone; see Warnings
type Config struct {
	Profile       string        `key:"profile" default:"standard" oneof:"standard dev" help:"dev: defaults and permissions for a laptop or a CI job, for clients on loopback and private networks alone; see docs/spec/dev.md"`
	DataDir       string        `key:"data_dir" default:"./data" required:"true" help:"directory of the database, the raw messages and the generated secret key"`
	BaseURL       string        `key:"base_url" default:"http://localhost:8080" form:"base_url" help:"URL at which browsers and clients reach the service: scheme, host, and a path if it is served below one"`
	Domains       []string      `key:"domains" default:"gonebox.localhost" required:"true" form:"domain" help:"active public mail domains; the first is used when a request names none"`
	Roles         []string      `key:"roles" default:"smtp, api, jobs" required:"true" oneof:"smtp api jobs" help:"the parts that this process runs; fewer than all need database.url"`
	Inject        string        `key:"inject" default:"on" oneof:"on off" help:"whether clients may put messages into their mailboxes over the API"`
	DiskReserve   Size          `key:"disk_reserve" default:"32MiB" zero:"none" help:"disk space in data_dir kept free for deleting when the disk is full, at most an eighth of the disk; not used with PostgreSQL"`
	ShutdownGrace time.Duration `key:"shutdown_grace" default:"20s" help:"how long work in progress may continue after the signal to stop"`
	ShutdownDelay time.Duration `key:"shutdown_delay" default:"0s" zero:"no delay" help:"how long the service keeps serving after the signal to stop, during which /readyz returns 503, so that load balancers notice; shutdown_grace begins afterwards"`

	Log      Log      `key:"log" help:"what is logged, and how"`
	HTTP     HTTP     `key:"http" help:"the public web address: API and web pages"`
	API      API      `key:"api" help:"bounds of API calls"`
	SMTP     SMTP     `key:"smtp" help:"incoming mail"`
	Database Database `key:"database" help:"where everything except raw messages is stored"`
	DNS      DNS      `key:"dns" help:"DNS lookups"`
	Metrics  Metrics  `key:"metrics" help:"metrics and profiles for the operator"`
	Memory   Memory   `key:"memory" help:"bounds of the memory used"`
	Secrets  Secrets  `key:"secrets" help:"secrets of the installation"`
	Access   Access   `key:"access" help:"who may use the service without being set up by its operator"`
	OIDC     OIDC     `key:"oidc" help:"sign-in with the accounts that a team has at an OpenID Connect issuer, such as Keycloak, Entra ID or Google"`
	Session  Session  `key:"session" help:"guest sessions"`
	Account  Account  `key:"account" help:"accounts and signing in"`
	Mailbox  Mailbox  `key:"mailbox" help:"mailboxes"`
	Message  Message  `key:"message" help:"messages"`
	Domain   Domain   `key:"domain" help:"private domains"`
	Webhooks Webhooks `key:"webhooks" help:"delivery of events to webhook endpoints"`
	Relay    Relay    `key:"relay" help:"the operator's mail server, for mail that the service sends: codes for accounts, and messages that they take out"`
	Billing  Billing  `key:"billing" help:"points, top-ups and payment providers"`
	Dev      Dev      `key:"dev" help:"the account of profile: dev"`
	Compat   Compat   `key:"compat" help:"APIs of other services, each on a listener of its own"`
	LMTP     LMTP     `key:"lmtp" help:"mail from a mail server on this machine, over LMTP (RFC 2033)"`
	Limits   Limits   `key:"limits" help:"rate limits (count/period; several may be joined by commas) and limits on what is open at once"`
	// Ingress lists the ingresses in the order of their names.
	Ingress []Ingress `key:"ingress" help:"mail that comes otherwise than over SMTP; each ingress has a name of its own"`
	// Plans starts with the guest plan; the others follow in the order of the catalogue.
	Plans []plan.Plan `key:"plans" help:"the plans; a code that is not one of the defaults adds a plan, which starts with the values of free"`
}

// Default returns the configuration without any source but the defaults. It panics if a tag is wrong, which the tests
// of this package find.
func Default() *Config {
	c, err := parse("", nil, nil, nil)
	if err != nil {
		panic(err) // a tag is wrong; the tests of this package find it
	}
	return c
}

// Load reads the configuration: the YAML file at path (if path is empty, the one that FileVariable names, if any), the
// GONEBOX_ variables of environ, each "NAME=value", and overrides, which maps keys to the values given on the command
// line. The returned error joins one *Error for each fault, in the order in which they were found, or is that of
// reading the file.
func Load(path string, environ []string, overrides map[string]string) (*Config, error) {
	if path == "" {
		var err error
		if path, err = configFile(environ); err != nil {
			return nil, err
		}
	}
	if path == "" {
		return parse("", nil, environ, overrides)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	return parse(path, data, environ, overrides)
}

// parse is Load with the contents of the file, whose name appears in errors.
func parse(name string, data []byte, environ []string, overrides map[string]string) (*Config, error) {
	root, err := parseYAML(name, data)
	if err != nil {
		return nil, err
	}
	l := newLoader(root, ingressNames(root, environ, overrides))
	l.applyProfile(root, environ, overrides)
	l.applyFile(name, root)
	l.applyEnvironment(environ)
	l.applyCommandLine(overrides)
	l.check()
	if err := errors.Join(l.errs...); err != nil {
		return nil, err
	}
	return l.config, nil
}

// Catalogue returns the plans in the form that the rest of the service uses. It fails if their codes are not unique;
// those of Load are.
func (c *Config) Catalogue() (plan.Catalogue, error) {
	return plan.New(c.Plans[0], c.Plans[1:]...)
}
