package mcp

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/gonebox/gonebox/internal/apiclient"
)

// NewRemote returns the API of the Gonebox at a URL, such as https://gonebox.example. Redirects are not followed.
func NewRemote(url string) *apiclient.Remote {
	return &apiclient.Remote{URL: strings.TrimSuffix(url, "/"), HTTP: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the target of a redirect would get the credential
	}}
}

// ServeStdio serves one client over in and out, usually standard input and output, until ctx or the input ends. It then
// closes both. A line that is not a message is answered with an error, and the session goes on. It sets Options.KeepTokens, and uses Options.Credential for all calls. It returns nil if ctx ended.
func ServeStdio(ctx context.Context, o Options, in io.ReadCloser, out io.WriteCloser) error {
	o.KeepTokens = true
	server, _ := newServer(o)
	err := server.Run(ctx, &lineTransport{in, out})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the caller ended it
	}
	return err
}
