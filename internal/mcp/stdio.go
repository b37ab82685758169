package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Remote is an API that another process serves. It is safe for concurrent use.
type Remote struct {
	url    string
	client *http.Client
}

// remoteTimeout is the longest time of a call: the longest wait for mail and 30 seconds.
const remoteTimeout = secondsMax*time.Second + 30*time.Second

// NewRemote returns the API of the Gonebox at a URL, such as https://gonebox.example. Redirects are not followed.
func NewRemote(url string) *Remote {
	return &Remote{url: strings.TrimSuffix(url, "/"), client: &http.Client{
		Timeout:       remoteTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the target of a redirect would get the credential
	}}
}

// responseMax is how much of a response is read, in octets. It is more than the largest attachment.
const responseMax = 64 << 20

// Do sends a request. Error: server.unavailable, if the connection fails or the response is incomplete.
func (r *Remote) Do(ctx context.Context, q Request) (*Response, error) {
	request, err := newRequest(ctx, r.url+"/api/v1", q)
	if err != nil {
		return nil, fmt.Errorf("the URL %s is not valid: %w", r.url, err)
	}
	res, err := r.client.Do(request)
	if err != nil {
		return nil, &failure{Code: "server.unavailable", Message: "No Gonebox answers at " + r.url + ". Check the URL, and whether the service runs."}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, responseMax))
	if err != nil {
		return nil, newFailure("server.unavailable")
	}
	return &Response{Status: res.StatusCode, RetryAfter: res.Header.Get("Retry-After"), Body: body}, nil
}

// newRequest returns the HTTP request for q. base is the URL that the path is appended to.
func newRequest(ctx context.Context, base string, q Request) (*http.Request, error) {
	var body io.Reader = http.NoBody
	if q.Body != nil {
		text, err := json.Marshal(q.Body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, q.Method, base+q.Path, body)
	if err != nil {
		return nil, err
	}
	if q.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.Credential != "" {
		r.Header.Set("Authorization", "Bearer "+q.Credential)
	}
	return r, nil
}

// ServeStdio serves one client over in and out, usually standard input and output, until ctx or the input ends. It then
// closes both. It sets Options.KeepTokens, and uses Options.Credential for all calls. It returns nil if ctx ended.
func ServeStdio(ctx context.Context, o Options, in io.ReadCloser, out io.WriteCloser) error {
	o.KeepTokens = true
	server, _ := newServer(o)
	err := server.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the caller ended it
	}
	return err
}
