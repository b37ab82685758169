// Package process knows the processes of a service: the version, roles and last sign of life of each, and how much mail each accepted
// and refused in the last minutes. It is for the overview of staff (docs/spec/staff.md#the-overview).
//
// Traffic counts in memory. With Share each process writes a row about itself into PostgreSQL, which Report replaces every few seconds,
// so that any process can show all of them; without it there is one process, and nothing is written.
package process

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
)

// Process is a process of the service.
type Process struct {
	Name      string // of the machine or container
	Version   string
	Roles     []string
	StartedAt time.Time
	SeenAt    time.Time // when it last reported
	Ended     bool      // it was shut down; what it counted stays until it is old

	minutes []Minute
}

// ReportEvery is how often a process should report.
const ReportEvery = 10 * time.Second

const (
	// keep is how long a process that reports no more stays in the list.
	keep = time.Hour
	// most bounds the list: a process that fails again and again at its start leaves a row each time.
	most = 100
)

// Service is the list of processes, as one of them sees it. It is safe for concurrent use.
type Service struct {
	*Traffic

	clock clock.Clock
	own   Process
	id    string
	db    *db.DB // nil: there are no other processes
}

// New returns the list of a process that is alone. Of own it takes the name, the version and the roles.
func New(c clock.Clock, own Process) *Service {
	own.StartedAt = c.Now()
	return &Service{Traffic: NewTraffic(c), clock: c, own: own, id: rand.Text()}
}

// Share makes the processes that use a PostgreSQL database see each other. It must be called before the other methods.
func (s *Service) Share(d *db.DB) { s.db = d }

// present returns the process as it is now.
func (s *Service) present() Process {
	p := s.own
	p.SeenAt, p.minutes = s.clock.Now(), s.minutes()
	return p
}

// Report writes the row of the process, and deletes those of processes that have not reported for long. It must be called
// every ReportEvery.
func (s *Service) Report(ctx context.Context) error { return s.report(ctx, s.present()) }

// Leave reports that the process is shut down.
func (s *Service) Leave(ctx context.Context) error {
	p := s.present()
	p.Ended = true
	return s.report(ctx, p)
}

func (s *Service) report(ctx context.Context, p Process) error {
	if s.db == nil {
		return nil
	}
	return s.db.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error {
		return replaceTx(ctx, tx, s.id, p, p.SeenAt.Add(-keep))
	}, nil)
}

// All returns the processes, this one first, and the others by when they started, the newest first. What others counted is at most
// ReportEvery old.
func (s *Service) All(ctx context.Context) ([]Process, error) {
	all := []Process{s.present()}
	if s.db == nil {
		return all, nil
	}
	others, err := list(ctx, s.db, s.id, s.clock.Now().Add(-keep), most)
	if err != nil {
		return nil, err
	}
	return append(all, others...), nil
}
