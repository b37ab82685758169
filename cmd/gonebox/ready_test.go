package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestReadyReportsFailedChecks(t *testing.T) {
	status, body := http.StatusOK, `{"status":"ok","checks":{"database":"ok"}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("gonebox ready asks for %s, want /readyz", r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for _, line := range []string{"ready --url " + server.URL + "/", "ready --set http.addr=127.0.0.1" + port} {
		if got := gonebox(t, line); got.code != exitOK || got.out != "ok\n" || got.err != "" {
			t.Errorf("gonebox %s: %+v, want exit status 0 and ok", line, got)
		}
	}
	status, body = http.StatusServiceUnavailable, `{"status":"failing","checks":{"smtp":"late","jobs":"elsewhere","database":"gone","migrations":"ok"}}`
	line := "ready --url " + server.URL
	gonebox(t, line).wantError(t, line, exitFailure, "not ready: database: gone; smtp: late")
	status, body = http.StatusBadGateway, "<html>"
	gonebox(t, line).wantError(t, line, exitFailure, "not ready: 502")
	server.Close()
	gonebox(t, line).wantError(t, line, exitFailure, "refused")
}
