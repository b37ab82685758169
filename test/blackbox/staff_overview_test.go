package blackbox_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// overview is how the service is doing, as staff see it.
type overview struct {
	At   time.Time
	Mail struct {
		AcceptedPerMinute, RefusedPerMinute float64
		Minutes                             []struct {
			At                time.Time
			Accepted, Refused int
		}
		Refusals []struct {
			Kind, Reason string
			Count        int
		}
	}
	Disk struct {
		Size, Free, Raw *int64
		Database        int64
		Full            bool
	}
	Queues []struct {
		Name                                string
		Ready, Waiting, Running, Held, Dead int
		ReadySince                          *time.Time
	}
	Processes []struct {
		Name, Version     string
		Roles             []string
		StartedAt, SeenAt time.Time
	}
	Backup struct{ MadeAt *time.Time }
}

// refused returns how often mail was refused for a cause.
func (o *overview) refused(kind, reason string) int {
	for _, r := range o.Mail.Refusals {
		if r.Kind == kind && r.Reason == reason {
			return r.Count
		}
	}
	return 0
}

func TestOverviewCountsMailOfAllProcesses(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"limits.signin": "1000/1m"})
	staff := s.promote(s.account("staff@example.org"))
	m := s.NewMailbox()
	s.Call(http.MethodPost, "/staff/blocks", staff.Token, fields{"sender": "@blocked.example"})
	const each = 4               // so that every process has some
	s.Clock.Advance(time.Second) // until every process knows the block
	for range each {
		s.Send(apptest.Mail{To: []string{m.Address}})
		for from, to := range map[string]string{"x@blocked.example": m.Address, "x@sender.example": "nobody-" + m.Address} {
			if err := s.TrySend(apptest.Mail{From: from, To: []string{to}}); err == nil {
				t.Errorf("mail from %s to %s was accepted, want it refused", from, to)
			}
		}
	}
	var got overview
	eventually(t, "the mail of every process in the overview", func() bool {
		s.Clock.Advance(10 * time.Second)
		got = get[overview](s, "/staff/overview", staff.Token)
		return got.refused("reply", "550 5.1.1") == each && got.refused("block", "sender") == each && got.accepted() == each
	})
	if n := len(got.Mail.Minutes); n != 15 || got.Mail.Minutes[n-1].At.After(got.At) || got.At.Sub(got.Mail.Minutes[n-1].At) >= time.Minute {
		t.Errorf("the minutes are %v at %v, want 15 of which the last contains that time", got.Mail.Minutes, got.At)
	}
	s.Clock.Advance(2 * time.Minute)
	if got = get[overview](s, "/staff/overview", staff.Token); got.Mail.AcceptedPerMinute != each/5. || got.Mail.RefusedPerMinute != each/5. {
		t.Errorf("the averages are %v accepted and %v refused a minute, want %v each", got.Mail.AcceptedPerMinute, got.Mail.RefusedPerMinute, each/5.)
	}
	s.Clock.Advance(16 * time.Minute)
	if got = get[overview](s, "/staff/overview", staff.Token); got.accepted() != 0 || len(got.Mail.Refusals) != 0 {
		t.Errorf("the mail is %+v after 16 minutes, want none", got.Mail)
	}
}

// accepted returns how many messages were stored in all minutes.
func (o *overview) accepted() (n int) {
	for _, m := range o.Mail.Minutes {
		n += m.Accepted
	}
	return n
}

func TestOverviewShowsProcessesDiskAndQueues(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"relay.url": "smtp://127.0.0.1:9", "relay.from": "no-reply@box.example"})
	staff := s.promote(s.account("staff@example.org"))
	var got overview
	count := max(1, len(processes(t)))
	eventually(t, "all processes in the overview", func() bool {
		got = get[overview](s, "/staff/overview", staff.Token)
		return len(got.Processes) == count
	})
	jobs := 0
	for _, p := range got.Processes {
		if p.Name == "" || p.Version == "" || p.SeenAt.Before(p.StartedAt) || got.At.Sub(p.SeenAt) > time.Minute {
			t.Errorf("a process is %+v at %v, want a name, a version and a recent report", p, got.At)
		}
		if slices.Contains(p.Roles, "jobs") {
			jobs++
		}
	}
	if jobs != 1 {
		t.Errorf("the processes are %+v, want one with the role jobs", got.Processes)
	}
	if d := got.Disk; d.Database <= 0 || d.Size == nil || d.Free == nil || *d.Free > *d.Size || d.Full || (d.Raw == nil) != s.OnPostgres() {
		t.Errorf("the disk is %+v, want a database, free space within its size, and raw messages on SQLite", d)
	}
	var names []string
	for _, q := range got.Queues {
		names = append(names, q.Name)
	}
	if !slices.Equal(names, []string{"webhooks", "relay", "resets"}) {
		t.Errorf("the queues are %v, want webhooks, relay and resets", names)
	}
	if got.Backup.MadeAt != nil {
		t.Errorf("the last backup was made at %v, want null: none was recorded", got.Backup.MadeAt)
	}
	want(t, s.Call(http.MethodPost, "/auth/password/forgot", "", fields{"email": "staff@example.org"}), 202, "")
	eventually(t, "the mail that the relay does not take, in the queue", func() bool {
		got = get[overview](s, "/staff/overview", staff.Token)
		return got.Queues[1].Waiting+got.Queues[1].Ready+got.Queues[1].Running == 1
	})
}
