package mcp

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"github.com/gonebox/gonebox/internal/apiclient"
	"github.com/gonebox/gonebox/internal/local"
)

// linkResult is the result of wait_for_link.
type linkResult struct {
	Status    string  `json:"status" jsonschema:"found or timeout."`
	URL       string  `json:"url,omitempty" jsonschema:"The address of the link: https, or under profile: dev http to this machine or a private network."`
	Host      string  `json:"host,omitempty" jsonschema:"The host that the link leads to."`
	Kind      *string `json:"kind" jsonschema:"What the message asks to open the link for: verify, sign_in, reset, invite or unlock. Null where it asks for no link in particular, and this is the first of its links."`
	Warning   string  `json:"warning,omitempty" jsonschema:"Why the link may not be what it seems."`
	MessageID string  `json:"messageId,omitempty" jsonschema:"The message that has the link."`
	LeftOut   string  `json:"leftOut,omitempty" jsonschema:"Why the link that the message asks to open is not returned."`
	Diagnosed
}

// The values of leftOut. They are fixed texts, as those of warning are.
const (
	leftOutLocal  = "A link was left out: it is http, to this machine or a private network. Only a service under profile: dev returns those, to clients on its machine or network."
	leftOutScheme = "A link was left out: it is not https."
)

// waitForLink waits for a message with a link that may be followed. A message whose links all have other schemes does not end
// the wait. It reads the messages, which marks them as seen.
func waitForLink(ctx context.Context, c *call, in WaitMessageArgs) (linkResult, error) {
	b, err := c.openToRead(ctx, in.MailboxArgs)
	if err != nil {
		return linkResult{}, err
	}
	in.Has = append(in.Has, "bestLink")
	out, leftOut := linkResult{Status: statusTimeout}, 0
	err = c.waitList(ctx, b, in, func(page []messageSummary) (apiclient.Outcome, error) {
		for _, m := range page {
			full, err := c.fullMessage(ctx, b, m.ID)
			if apiclient.Code(err) == "message.not_found" {
				continue // deleted meanwhile
			}
			if err != nil {
				return apiclient.NoMessages, err
			}
			l, ok, why := c.linkOf(ctx, full)
			if ok {
				out = linkResult{statusFound, l.URL, l.Host, full.kindOf(l), l.Warning, m.ID, why, Diagnosed{}}
				return apiclient.Found, nil
			}
			if why != "" {
				out.LeftOut = why
				leftOut++
			}
		}
		return apiclient.NoMatch, nil
	}, &out.Diagnosed)
	if out.Status == statusTimeout && leftOut > 0 { // the service took them for links to follow
		out.Diagnosis = &diagnosis{Summary: sentenceOf("no_link"), Causes: []cause{{"no_link", leftOut}}}
	}
	return out, err
}

// linkOf returns the link of a message that may be followed. If that is not the one that the service chose, leftOut says why.
func (c *call) linkOf(ctx context.Context, m *fullMessage) (l link, ok bool, leftOut string) {
	if m.BestLink == nil {
		return link{}, false, ""
	}
	isLocal := isLocalLink(*m.BestLink)
	if isLocal && c.isDev(ctx) {
		u, _ := url.Parse(*m.BestLink) // it is one
		return link{URL: normalized(*m.BestLink), Host: strings.ToLower(u.Hostname())}, true, ""
	}
	if _, ok := newLink(*m.BestLink); !ok {
		leftOut = leftOutScheme
		if isLocal {
			leftOut = leftOutLocal
		}
	}
	l, ok = m.linkToFollow()
	return l, ok, leftOut
}

// isLocalLink reports whether an address is that of a web page by http, without a user name, on this machine or in a private network.
func isLocalLink(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.User != nil {
		return false
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		return local.IsAddr(a)
	}
	return local.IsPrivateName(u.Host)
}

// normalized returns a URL without characters that a URL cannot have, such as the spaces of a sentence; "" if it is none.
func normalized(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.String()
}

// devProbe asks a service once whether it runs under profile: dev and takes this client for a local one.
type devProbe struct {
	mu    sync.Mutex
	known bool
	isDev bool
}

// ask returns the answer. An error of the connection is none, and it is asked again the next time.
func (p *devProbe) ask(ctx context.Context, api apiclient.API) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known {
		return p.isDev
	}
	_, err := apiclient.Call(ctx, api, apiclient.Request{Method: http.MethodPost, Path: "/auth/local"}) // only such a service signs in without a password
	code := apiclient.Code(err)
	p.isDev, p.known = err == nil, err == nil || strings.HasPrefix(code, "access.")
	return p.isDev
}

// isDev reports whether the service runs under profile: dev, and the client is a local one.
func (c *call) isDev(ctx context.Context) bool {
	if e := exchangeOf(ctx); e != nil {
		return c.CheckDev != nil && c.CheckDev(e.request) == nil
	}
	return c.tokens != nil && c.dev.ask(ctx, c.API)
}
