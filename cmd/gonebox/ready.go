package main

import (
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

// Help is shown below the flags of the command.
func (*readyCmd) Help() string {
	return `Asks /readyz and exits with status 0 if the service is ready, or with 1 and the reason if not. Meant for
health checks in containers without curl.

Example:
  gonebox ready --config /etc/gonebox.yaml`
}

// readyMax is how long to wait for the response: /readyz responds within 5 seconds (docs/spec/running.md#readiness).
const readyMax = 5 * time.Second

// Run asks /readyz. Without --url it asks the service that the configuration describes, on this machine.
func (r *readyCmd) Run(c *console) error {
	var url string
	if r.URL != nil {
		url = strings.TrimSuffix(*r.URL, "/")
	} else {
		cfg, err := r.load(c, nil)
		if err != nil {
			return err
		}
		url = "http://" + config.DialAddr(cfg.HTTP.Addr)
	}
	request, err := http.NewRequestWithContext(c, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return err
	}
	res, err := (&http.Client{Timeout: readyMax}).Do(request)
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
