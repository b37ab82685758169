package app

import (
	"context"
	"os"
	"path/filepath"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/backup"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/httpapi"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/outbound"
	"github.com/gonebox/gonebox/internal/process"
	"github.com/gonebox/gonebox/internal/reserve"
)

// newProcesses returns the list of processes.
func newProcesses(c clock.Clock, cfg *config.Config) *process.Service {
	name, err := os.Hostname()
	if err != nil {
		name = cfg.SMTP.Hostname
	}
	return process.New(c, process.Process{Name: name, Version: Version, Roles: cfg.Roles})
}

// overview reads how the service is doing. Each of its queries reads a few rows, however much mail there is.
func (a *App) overview(ctx context.Context) (*httpapi.Overview, error) {
	processes, err := a.processes.All(ctx)
	if err != nil {
		return nil, err
	}
	disk, err := a.overviewDisk(ctx)
	if err != nil {
		return nil, err
	}
	queues, err := a.overviewQueues(ctx)
	if err != nil {
		return nil, err
	}
	made, err := backup.New(a.db, a.clock).Last(ctx)
	if err != nil {
		return nil, err
	}
	now := a.clock.Now()
	o := &httpapi.Overview{
		At: clock.Stamp{Time: now}, Mail: httpapi.NewOverviewMail(process.Total(processes, now)), Disk: disk, Queues: queues,
		Backup: httpapi.OverviewBackup{MadeAt: clock.Optional(made)},
	}
	for _, p := range processes {
		if !p.Ended {
			o.Processes = append(o.Processes, httpapi.OverviewProcess{
				Name: p.Name, Version: p.Version, Roles: p.Roles, StartedAt: clock.Stamp{Time: p.StartedAt}, SeenAt: clock.Stamp{Time: p.SeenAt},
			})
		}
	}
	return o, nil
}

func (a *App) overviewDisk(ctx context.Context) (disk httpapi.OverviewDisk, err error) {
	if disk.Database, err = a.db.Size(ctx); err != nil {
		return disk, err
	}
	if size, free, known := reserve.Space(a.cfg.DataDir); known {
		disk.Size, disk.Free = &size, &free
	}
	if !a.sharesDatabase() {
		disk.Raw = new(folderSize(filepath.Join(a.cfg.DataDir, rawFolder)))
		disk.Full = a.reserve.Full()
	}
	return disk, nil
}

func (a *App) overviewQueues(ctx context.Context) (all []httpapi.OverviewQueue, err error) {
	queues := []struct{ name, kind string }{{"webhooks", deliveryKind}}
	if a.outbound != nil {
		queues = append(queues, struct{ name, kind string }{"relay", outbound.Kind}, struct{ name, kind string }{"resets", account.ForgottenKind})
	}
	for _, q := range queues {
		b, err := job.CountBacklog(ctx, a.db, q.kind)
		if err != nil {
			return nil, err
		}
		all = append(all, httpapi.OverviewQueue{
			Name: q.name, Ready: b.Ready, Waiting: b.Waiting, Running: b.Running, Held: b.Held, Dead: b.Dead, ReadySince: clock.Optional(b.ReadySince),
		})
	}
	return all, nil
}
