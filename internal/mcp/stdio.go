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

// remoteTimeout is how long a call may take: the longest wait, and a little more.
const remoteTimeout = secondsMax*time.Second + 30*time.Second

// NewRemote returns the API of the Gonebox at a URL, such as https://gonebox.example. Redirects are not followed.
func NewRemote(url string) *Remote {
	return &Remote{url: strings.TrimSuffix(url, "/"), client: &http.Client{
		Timeout:       remoteTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // it would get the credential
	}}
}

// responseMax is the largest answer that is read: above that of any attachment.
const responseMax = 64 << 20

// Do sends a request. An answer that breaks off is server.unavailable. Error: a failure, which names the URL where
// nothing answers.
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

// newRequest returns an HTTP request for a call. base is the URL below which paths are.
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

// ServeStdio serves one client over standard input and output until ctx or the input ends. Both are closed then. The
// credential is Options.Credential; KeepTokens is set. An end by ctx is no error.
func ServeStdio(ctx context.Context, o Options, in io.ReadCloser, out io.WriteCloser) error {
	o.KeepTokens = true
	server, _ := newServer(o)
	err := server.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was to end
	}
	return err
}
