package mailpit

import (
	"net/http"
	"runtime"
)

// info is the response of GET /api/v1/info.
type info struct {
	Version       string
	LatestVersion string
	Database      string
	DatabaseSize  int64
	Messages      int
	Unread        int
	Tags          map[string]int
	RuntimeStats  runtimeStats
}

// runtimeStats has the statistics of Mailpit. Memory is in octets: what the process has got from the
// operating system.
type runtimeStats struct {
	Memory           uint64
	Uptime           int64
	MessagesDeleted  int64
	SMTPAccepted     int64
	SMTPAcceptedSize int64
	SMTPRejected     int64
	SMTPIgnored      int64
}

// version is what clients show as the version of Mailpit. Mailpit's page is loaded again where that of an event is another one.
func version(gonebox string) string { return "Gonebox " + gonebox }

// info responds with the number of messages. The statistics that Mailpit keeps and Gonebox does not are 0.
func (a *API) info(w http.ResponseWriter, r *http.Request) {
	page, err := a.Mails.Search(r.Context(), nil, 0, 0)
	var tags map[string]int
	if err == nil {
		tags, err = a.Mails.Tags(r.Context())
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	writeJSON(w, info{
		Version: version(a.HTTP.Version), LatestVersion: version(a.HTTP.Version), Messages: page.Total, Unread: page.Unread,
		Tags: tags, RuntimeStats: runtimeStats{Memory: memory.Sys},
	})
}
