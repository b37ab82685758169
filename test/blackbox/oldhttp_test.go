package blackbox_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// A request of HTTP/1.0 may have no Host. It is local for the tools of /mcp as it is for the API.
func TestToolsTakeRequestsOfHTTP10(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	const list = `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_mailboxes", "arguments": {}}}`
	for request, want := range map[string]string{
		"GET /api/v1/keys/mailboxes HTTP/1.0\r\nX-Api-Key: " + devKey + "\r\n\r\n":                                                            ` 200 `,
		"GET /api/v1/keys/mailboxes HTTP/1.0\r\nHost: evil.example\r\nX-Api-Key: " + devKey + "\r\n\r\n":                                      `auth.address_not_allowed`,
		"POST /mcp HTTP/1.0\r\nX-Api-Key: " + devKey + mcpFields(list):                                                                        `"structuredContent":{"mailboxes":[]`,
		"POST /mcp HTTP/1.0\r\nHost: evil.example\r\nX-Api-Key: " + devKey + mcpFields(list):                                                  `auth.address_not_allowed`,
		"POST http://evil.example/mcp HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: " + devKey + mcpFields(list):                                  `auth.address_not_allowed`,
		"GET http://evil.example/api/v1/keys/mailboxes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Api-Key: " + devKey + "\r\n\r\n": `auth.address_not_allowed`,
	} {
		if got := exchangeRaw(t, s.URL, request); !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q in it", request, got, want)
		}
	}
}

// mcpFields returns the rest of a request to /mcp, after its first fields.
func mcpFields(body string) string {
	return fmt.Sprintf("\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// exchangeRaw sends octets to the server of a URL and returns what it responds until it closes the connection.
func exchangeRaw(t *testing.T, url, request string) string {
	t.Helper()
	address, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("reading the response to %q: %v", request, err)
	}
	return string(response)
}
