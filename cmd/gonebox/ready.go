package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

type readyCmd struct {
	configFlags
	URL *string `placeholder:"URL" help:"Ask this service; without it the one that the configuration runs on this machine."`
}

// Help is shown below the command's flags.
func (*readyCmd) Help() string {
	return `For health checks where there is no other program: it exits with 0 if the service can work, else with 1 and the reason.

Example:
  gonebox ready --config /etc/gonebox.yaml`
}

// readyMax is how long the answer is waited for.
const readyMax = 5 * time.Second

// Run asks /readyz.
func (r *readyCmd) Run(c *console) error {
	var url string
	if r.URL != nil {
		url = strings.TrimSuffix(*r.URL, "/")
	} else {
		cfg, err := r.load(c, nil)
		if err != nil {
			return err
		}
		url = "http://" + near(cfg.HTTP.Addr)
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
	return fmt.Errorf("not ready: %s", reasons(res))
}

// near is where this machine reaches an address to listen on.
func near(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return addr
}

// reasons are the checks that fail.
func reasons(res *http.Response) string {
	const enough = 64 << 10
	var answer struct{ Checks map[string]string }
	_ = json.NewDecoder(io.LimitReader(res.Body, enough)).Decode(&answer) // without one the status has to do
	var failed []string
	for _, name := range slices.Sorted(maps.Keys(answer.Checks)) {
		if reason := answer.Checks[name]; reason != "ok" {
			failed = append(failed, name+": "+reason)
		}
	}
	if len(failed) == 0 {
		return res.Status
	}
	return strings.Join(failed, "; ")
}
