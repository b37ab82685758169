package apptest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// startCluster runs a service of several processes on one PostgreSQL.
func (s *Service) startCluster(o Options, fake *clock.Fake) {
	s.t.Helper()
	s.database = s.openCluster()
	for i, roles := range o.Processes {
		set := map[string]string{"secrets.key": strings.Repeat("cluster-", 8), "base_url": "http://gonebox.test"} // as all of one cluster have
		maps.Copy(set, o.Set)
		set = s.settings(set)
		set["database.url"], set["roles"], set["data_dir"] = s.database, roles, filepath.Join(s.Dir, fmt.Sprint("process-", i))
		first := &start{Settings: set}
		if fake != nil {
			first.Now = fake.Now()
		}
		c, err := newChild(s.t, first, o.Log)
		if err != nil {
			s.t.Fatalf("start process %d (%s): %v", i, roles, err)
		}
		s.instances = append(s.instances, c)
		if strings.Contains(roles, "api") {
			s.edges = append(s.edges, c.addresses())
		}
	}
}

// openCluster is the URL of the database that belongs to Dir: the one it had before, or a new one.
func (s *Service) openCluster() string {
	s.t.Helper()
	note := filepath.Join(s.Dir, "database.url")
	if url, err := os.ReadFile(note); err == nil {
		return string(url)
	}
	url := dbtest.PostgresURL(s.t)
	if err := os.WriteFile(note, []byte(url), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return url
}
