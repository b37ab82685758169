package doctor_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestIssuerIsChecked(t *testing.T) {
	named := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"issuer":"` + named + `"}`))
	}))
	t.Cleanup(server.Close)
	settings := map[string]string{"dns.resolver": serveDNS(t, nil), "oidc.issuer": server.URL, "oidc.client_id": "box"}
	named = server.URL
	wantFinding(t, examine(t, settings), "issuer", "ok", server.URL, "/api/v1/auth/oidc/callback")
	named = server.URL + "/"
	wantFinding(t, examine(t, settings), "issuer", "failure", "oidc.issuer")
	server.Close()
	wantFinding(t, examine(t, settings), "issuer", "failure", "oidc.issuer")
}
