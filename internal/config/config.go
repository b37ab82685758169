// Package config reads the configuration of the service: defaults, over them a YAML file, the environment and the command line.
package config

import (
	"fmt"
	"os"
	"time"

	"github.com/gonebox/gonebox/internal/plan"
)

// Config is every setting of the service (decisions §7). The tags of a field are the one source of its key, its
// default, its bounds and its comment: the file, the environment, `gonebox config` and docs/config.md are all made
// from them. Durations and sizes are positive unless the tag zero says what zero means.
type Config struct {
	// DataDir holds the SQLite database, the raw messages and the generated secret.
	DataDir string `key:"data_dir" default:"./data" help:"directory of the database, the raw messages and the generated secret key"`
	// BaseURL is how people and links reach the service, without a path and without a trailing slash.
	BaseURL string `key:"base_url" default:"http://localhost:8080" help:"how browsers and clients reach the service: scheme and host, no path"`
	// Domains are the active public domains; the first is for callers who name none.
	Domains []string `key:"domains" default:"gonebox.localhost" help:"active public mail domains; the first is for callers who name none"`
	// Roles are the parts this process runs.
	Roles []string `key:"roles" default:"smtp, api, jobs" oneof:"smtp api jobs" help:"the parts this process runs; fewer than all need database.url"`
	// DiskReserve is kept for deleting on a full disk; see package reserve.
	DiskReserve Size `key:"disk_reserve" default:"32MiB" help:"disk space in data_dir that is kept for deleting when the disk is full, an eighth of the disk at most; 0: none. Not for PostgreSQL"`
	// ShutdownGrace is how long Serve waits for work under way once it is told to stop.
	ShutdownGrace time.Duration `key:"shutdown_grace" default:"20s" help:"how long work under way may go on after the signal to stop"`
	// ShutdownDelay is how long it goes on serving before that, so that load balancers notice.
	ShutdownDelay time.Duration `key:"shutdown_delay" default:"0s" zero:"not at all" help:"how long /readyz says 503 after the signal to stop before anything is turned away; shutdown_grace begins then"`

	Log      Log      `key:"log" help:"what is logged, and how"`
	HTTP     HTTP     `key:"http" help:"the public web address: API and web page"`
	API      API      `key:"api" help:"bounds of the API's calls"`
	SMTP     SMTP     `key:"smtp" help:"where mail comes in"`
	Database Database `key:"database" help:"where everything but the raw messages is kept"`
	DNS      DNS      `key:"dns" help:"asking the domain name system"`
	Metrics  Metrics  `key:"metrics" help:"metrics and profiles for the operator"`
	Memory   Memory   `key:"memory" help:"bounds of the memory used"`
	Secrets  Secrets  `key:"secrets" help:"what must stay secret"`
	Session  Session  `key:"session" help:"guest sessions"`
	Account  Account  `key:"account" help:"accounts and how they sign in"`
	Mailbox  Mailbox  `key:"mailbox" help:"mailboxes"`
	Message  Message  `key:"message" help:"messages"`
	Domain   Domain   `key:"domain" help:"private domains"`
	Webhooks Webhooks `key:"webhooks" help:"delivery of events to webhook endpoints"`
	Billing  Billing  `key:"billing" help:"points, top-ups and payment providers"`
	Limits   Limits   `key:"limits" help:"rate limits (count/period, several may be joined by commas) and numbers of things open at once"`
	// Plans starts with the guest plan; the others follow in the order of the catalogue.
	Plans []plan.Plan `key:"plans" help:"the plans; a code that is not one of the defaults adds a plan, which starts with the values of free"`
}

// Default is the configuration of a service that nobody has configured.
func Default() *Config {
	c, err := parse("", nil, nil, nil)
	if err != nil {
		panic(err) // a tag of this package is wrong, which its tests would show
	}
	return c
}

// Load puts the configuration together: the defaults, over them the YAML file at path (none when path is
// empty), over it the GONEBOX_ variables of environ ("NAME=value"), over them the overrides of the command line
// (key to value). The error joins a *Error for everything that is wrong, in the order it was found.
func Load(path string, environ []string, overrides map[string]string) (*Config, error) {
	if path == "" {
		return parse("", nil, environ, overrides)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	return parse(path, data, environ, overrides)
}

// parse is Load with the content of the file at hand.
func parse(name string, data []byte, environ []string, overrides map[string]string) (*Config, error) {
	root, err := parseYAML(name, data)
	if err != nil {
		return nil, err
	}
	l := newLoader(root)
	l.file(name, root)
	l.environment(environ)
	l.commandLine(overrides)
	l.check()
	if err := l.err(); err != nil {
		return nil, err
	}
	return l.config, nil
}

// Catalogue is the plans as the rest of the service takes them.
func (c *Config) Catalogue() (plan.Catalogue, error) {
	return plan.New(c.Plans[0], c.Plans[1:]...)
}
