package apptest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// startCluster starts the processes of a service on one PostgreSQL, all at once, so that tests also cover concurrent
// starts.
func (s *Service) startCluster(o Options, fake *clock.Fake) {
	s.t.Helper()
	s.database = s.openCluster()
	children, faults := make([]*child, len(o.Processes)), make([]error, len(o.Processes))
	var starting sync.WaitGroup
	for i, roles := range o.Processes {
		first := &start{Settings: s.settingsOf(i, roles, o.Set)}
		if fake != nil {
			first.Now = fake.Now()
		}
		starting.Go(func() { children[i], faults[i] = newChild(s.t, first, o.Log) })
	}
	starting.Wait()
	for i, c := range children {
		if faults[i] != nil {
			s.t.Fatalf("start process %d (%s): %v", i, o.Processes[i], faults[i])
		}
		s.instances = append(s.instances, c)
		if strings.Contains(o.Processes[i], "api") {
			s.edges = append(s.edges, c.addresses())
		}
	}
}

// settingsOf returns the configuration keys of process i.
func (s *Service) settingsOf(i int, roles string, own map[string]string) map[string]string {
	set := map[string]string{"secrets.key": strings.Repeat("cluster-", 8), "base_url": "http://gonebox.test"} // the same in all processes
	// Three processes take 36 of the 600 connections that package dbtest allows.
	set["database.connections"] = "12"
	maps.Copy(set, own)
	set = s.settings(set)
	set["database.url"], set["roles"], set["data_dir"] = s.database, roles, filepath.Join(s.Dir, fmt.Sprint("process-", i))
	return set
}

// openCluster returns the URL of the database that belongs to Dir: the one of an earlier service in it, or a new one.
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
