package doctor

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"strings"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
)

// besideIngress makes checks of what receiving over SMTP from the internet needs. Where an ingress takes mail, what they find says that mail
// may come without it.
func (e *examination) besideIngress(check func()) {
	if len(e.cfg.Ingress) > 0 {
		report := e.report
		defer func() { e.report = report }()
		e.report = func(f Finding) {
			if f.Level != OK {
				f.Text += " (not needed for mail that comes through an ingress)"
			}
			report(f)
		}
	}
	check()
}

// secretMin is the length of a secret in characters, below which it can be guessed.
const secretMin = 16

// checkIngresses checks whether providers can reach the ingresses, and whether mailboxes elsewhere can be reached.
func (e *examination) checkIngresses(ctx context.Context) {
	for _, in := range e.cfg.Ingress {
		check := "ingress " + in.Name
		u, _ := url.Parse(e.cfg.BaseURL)
		switch {
		case in.Kind == config.IngressIMAP:
			e.checkMailbox(ctx, check, in.URL)
		case u == nil || isLocal(u.Hostname()):
			e.reportf(check, Warning, "base_url is %s, which no provider can reach; set it to the URL of the proxy or the tunnel", e.cfg.BaseURL)
		case u.Scheme != "https":
			e.reportf(check, Warning, "base_url is %s, so that mail comes in clear; let a proxy or a tunnel speak HTTPS", e.cfg.BaseURL)
		case in.Secret != "" && len(in.Secret) < secretMin:
			e.reportf(check, Warning, "its secret has less than %d characters; make one with: openssl rand -base64 24", secretMin)
		default:
			e.reportf(check, OK, "takes mail at %s/api/v1/ingress/%s; try it with gonebox ingress test %s", e.cfg.BaseURL, in.Name, in.Name)
		}
	}
}

// checkMailbox checks whether a server of IMAP greets.
func (e *examination) checkMailbox(ctx context.Context, check, address string) {
	u, err := url.Parse(address)
	if err != nil {
		e.reportf(check, Failure, "its url is not one")
		return
	}
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = map[string]string{"imaps": "993", "imap": "143"}[u.Scheme]
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	var conn net.Conn
	if u.Scheme == "imaps" {
		conn, err = (&tls.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	}
	if err != nil {
		e.reportf(check, Failure, "the server of the mailbox cannot be reached (%s)", oneLine(err))
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(clock.System().Now().Add(lookupTimeout))
	greeting, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.HasPrefix(greeting, "* OK") {
		e.reportf(check, Failure, "%s does not greet as a server of IMAP does; is the port right?", address)
		return
	}
	e.reportf(check, OK, "%s answers; the password is tried when the service runs, and the page for staff has the last error", address)
}
