package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/config"
)

type readyCmd struct {
	configFlags
	URL *string `placeholder:"URL" help:"Base URL of the service; default: the configured one on this machine."`
}

// readyMax is how long to wait for the response: /readyz responds within 5 seconds (docs/spec/running.md#readiness).
const readyMax = 5 * time.Second

// Run asks /readyz. Without --url it asks the service that the configuration describes, on this machine.
func (r *readyCmd) Run(c *console) error {
	var url string
	client := &http.Client{Timeout: readyMax}
	if r.URL != nil {
		url = strings.TrimSuffix(*r.URL, "/")
	} else {
		cfg, err := r.load(c, nil)
		if err != nil {
			return err
		}
		url = cfg.HTTP.Scheme() + "://" + config.DialAddr(cfg.HTTP.Addr)
		// The certificate is for the public name and not for this address. Nothing secret is sent. Every service has one for localhost.
		client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: "localhost"}} //nolint:gosec // see above
	}
	request, err := http.NewRequestWithContext(c, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return err
	}
	res, err := client.Do(request)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		_, err = fmt.Fprintln(c.out, "ok")
		return err
	}
	return fmt.Errorf("not ready: %s", failedChecks(res))
}

// failedChecks returns the failed checks that a response of /readyz lists, each with its reason, or the status of the
// response if it lists none.
func failedChecks(res *http.Response) string {
	const bodyMax = 64 << 10
	var body struct{ Checks map[string]string }
	_ = json.NewDecoder(io.LimitReader(res.Body, bodyMax)).Decode(&body) // without a body the status is the reason
	var failed []string
	for _, name := range slices.Sorted(maps.Keys(body.Checks)) {
		if reason := body.Checks[name]; reason != "ok" && reason != "elsewhere" { // docs/spec/running.md#readiness
			failed = append(failed, name+": "+reason)
		}
	}
	if len(failed) == 0 {
		return res.Status
	}
	return strings.Join(failed, "; ")
}
