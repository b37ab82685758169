package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/process"
)

func (a *API) staffOverview() {
	registerStaff(a, httpkit.Operation{
		ID: "get-staff-overview", Method: http.MethodGet, Path: "/staff/overview", Summary: "Show how the service is doing", Status: 200,
		Text: "The mail of the last minutes, the disk, the queues, the processes with their versions, and the last backup. What another process counted is up to 10 seconds old.",
	}, a.getStaffOverview)
}

// Overview is how the service is doing (docs/spec/staff.md#the-overview).
type Overview struct {
	At        clock.Stamp       `json:"at" doc:"When it was read."`
	Mail      OverviewMail      `json:"mail" doc:"The mail of the last 15 minutes, of all processes."`
	Disk      OverviewDisk      `json:"disk" doc:"Octets on the disk of the process that answered."`
	Queues    []OverviewQueue   `json:"queues" doc:"What waits to be sent."`
	Processes []OverviewProcess `json:"processes" doc:"The process that answered first, then the others that reported within the last hour and were not shut down."`
	Backup    OverviewBackup    `json:"backup" doc:"The last backup that was recorded."`
}

// OverviewMail is the mail of the last minutes.
type OverviewMail struct {
	AcceptedPerMinute float64           `json:"acceptedPerMinute" doc:"Stored messages a minute, in the last five whole minutes; a mail counts once for each recipient." example:"12.4"`
	RefusedPerMinute  float64           `json:"refusedPerMinute" doc:"Refused recipients a minute, in the last five whole minutes." example:"0.6"`
	Minutes           []OverviewMinute  `json:"minutes" doc:"The last 15 minutes, the oldest first; the last one has not ended."`
	Refusals          []OverviewRefusal `json:"refusals" doc:"Why mail was refused in these minutes, the most frequent first."`
}

// OverviewMinute is the mail of a minute.
type OverviewMinute struct {
	At       clock.Stamp `json:"at" doc:"Its beginning."`
	Accepted int64       `json:"accepted" doc:"Stored messages." example:"12"`
	Refused  int64       `json:"refused" doc:"Refused recipients." example:"1"`
}

// OverviewRefusal is how often mail was refused for a reason.
type OverviewRefusal struct {
	Kind   string `json:"kind" enum:"reply,block,limit" doc:"reply: a recipient was refused; block: a block or a blocklist stopped a connection or a command; limit: a limit stopped a connection, a mail or a call."`
	Reason string `json:"reason" doc:"The reply without its text; client, sender, recipient or dnsbl; or the name of the limit." example:"550 5.1.1"`
	Count  int64  `json:"count" doc:"How often." example:"3"`
}

// OverviewDisk is the disk.
type OverviewDisk struct {
	Size     *int64 `json:"size" doc:"Of the file system that the data folder is on; null where the system does not tell." example:"42949672960"`
	Free     *int64 `json:"free" doc:"What is free of it; null where the system does not tell." example:"21474836480"`
	Full     bool   `json:"full" doc:"Whether mail is deferred because the disk is full. Never on PostgreSQL."`
	Database int64  `json:"database" doc:"Of the database, wherever it is." example:"268435456"`
	Raw      *int64 `json:"raw" doc:"Of the raw messages in the data folder; null on PostgreSQL, where they are in the database." example:"1048576"`
}

// OverviewQueue is a queue.
type OverviewQueue struct {
	Name       string       `json:"name" enum:"webhooks,relay,resets" doc:"webhooks: events for endpoints; relay: mail for the operator's relay; resets: requests to set a new password. The last two exist with a relay."`
	Ready      int64        `json:"ready" doc:"What is due. Each count ends at 10,000." example:"0"`
	Waiting    int64        `json:"waiting" doc:"What is tried again later." example:"2"`
	Running    int64        `json:"running" doc:"What is being sent." example:"1"`
	Held       int64        `json:"held" doc:"What waits for a paused endpoint." example:"0"`
	Dead       int64        `json:"dead" doc:"What was given up and is kept for a while." example:"0"`
	ReadySince *clock.Stamp `json:"readySince" doc:"Since when the first of what is due is due, or null."`
}

// OverviewProcess is a process of the service.
type OverviewProcess struct {
	Name      string      `json:"name" doc:"Of its machine or container." example:"gonebox-1"`
	Version   string      `json:"version" doc:"Of the program." example:"0.1.0"`
	Roles     []string    `json:"roles" doc:"What it does." example:"[\"smtp\",\"api\",\"jobs\"]"`
	StartedAt clock.Stamp `json:"startedAt" doc:"When it was started."`
	SeenAt    clock.Stamp `json:"seenAt" doc:"When it last reported; each does so every 10 seconds."`
}

// OverviewBackup is the last backup.
type OverviewBackup struct {
	MadeAt *clock.Stamp `json:"madeAt" doc:"When gonebox backup record was last called, or null."`
}

// NewOverviewMail returns the JSON form of the mail of the last minutes.
func NewOverviewMail(m process.Mail) OverviewMail {
	const whole = 5 // minutes of the averages
	shown := OverviewMail{Minutes: make([]OverviewMinute, len(m.Minutes)), Refusals: make([]OverviewRefusal, len(m.Refusals))}
	for i, one := range m.Minutes {
		shown.Minutes[i] = OverviewMinute{clock.Stamp{Time: one.At()}, one.Accepted, one.Refused}
		if last := len(m.Minutes) - 1; i < last && i >= last-whole {
			shown.AcceptedPerMinute += float64(one.Accepted) / whole
			shown.RefusedPerMinute += float64(one.Refused) / whole
		}
	}
	for i, r := range m.Refusals {
		shown.Refusals[i] = OverviewRefusal{r.Kind, r.Reason, r.Count}
	}
	return shown
}

func (a *API) getStaffOverview(ctx context.Context, _ *struct{}) (*httpkit.One[Overview], error) {
	o, err := a.Overview(ctx)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(*o), nil
}
