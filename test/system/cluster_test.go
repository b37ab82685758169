package system_test

import (
	"maps"
	"strings"
	"testing"
)

// cluster is several processes on one PostgreSQL, behind a balancer.
type cluster struct {
	front     *service // what clients see: an API and a port for mail, which no process of its own serves
	processes []*service
	balancer  *balancer
}

// startCluster starts a process for each of roles and waits until all are ready.
func startCluster(t *testing.T, url string, set map[string]string, roles ...string) *cluster {
	t.Helper()
	c := &cluster{}
	for _, role := range roles {
		own := map[string]string{"database.url": url, "secrets.key": strings.Repeat("5e", 32), "roles": role}
		maps.Copy(own, set)
		c.processes = append(c.processes, start(t, options{set: own}))
	}
	t.Cleanup(func() {
		for _, p := range c.processes {
			if t.Failed() && p.proc.running() {
				t.Logf("the process %q says %+v", p.o.set["roles"], p.probe())
			}
		}
	})
	c.balancer = newBalancer(t, c.processes)
	c.front = &service{t: t, api: api{t: t, url: "http://" + c.balancer.web.Addr().String() + "/api/v1"}, smtp: c.balancer.mail.Addr().String()}
	return c
}
