package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/httpapi"
)

// Serve runs the service until ctx ends, and prints on out where it can be reached. It changes settings of the Go
// runtime for the whole process, so it is for the command only; tests use New and Run.
func Serve(ctx context.Context, cfg *config.Config, out io.Writer) error {
	limitMemory(cfg)
	collect := deferCollection()
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + waitingProcs)
	}
	a, err := New(ctx, cfg, Options{})
	if err != nil {
		return err
	}
	a.printGreeting(out, a.signInLink(ctx))
	go a.returnMemory(ctx, collect)
	return a.Run(ctx)
}

// waitingProcs is added to GOMAXPROCS. A goroutine in a sync keeps its P until the scheduler retakes it, and then queues for
// another behind all runnable goroutines, while the batch that it has just made durable waits. On two processors one P more
// raises the mail rate by 6 % (docs/decisions/0035).
const waitingProcs = 1

// printGreeting prints the addresses of the service and a first command to try. The developer key of profile dev and
// signIn, the link of signInLink, are printed here and nowhere else: they are not logged. Programs that start the service wait for
// the line that begins with Try.
func (a *App) printGreeting(out io.Writer, signIn string) {
	fmt.Fprintf(out, "Gonebox %s is ready.\n", Version)
	if a.runs(roleAPI) {
		fmt.Fprintf(out, "  web page        %s/\n", a.baseURL)
		fmt.Fprintf(out, "  API             %s%s\n", a.baseURL, httpapi.BasePath)
		fmt.Fprintf(out, "  documentation   %s/docs\n", a.baseURL)
	} else {
		fmt.Fprintf(out, "  probes          %s://%s/readyz\n", a.cfg.HTTP.Scheme(), a.HTTPAddr())
	}
	if addr := a.SMTPAddr(); addr != nil {
		_, port, _ := net.SplitHostPort(addr.String())
		fmt.Fprintf(out, "  SMTP            port %s, mail for %s\n", port, a.taken())
	}
	if addr := a.SMTPSAddr(); addr != nil {
		_, port, _ := net.SplitHostPort(addr.String())
		fmt.Fprintf(out, "  SMTP over TLS   port %s\n", port)
	}
	if addr := a.LMTPAddr(); addr != nil {
		fmt.Fprintf(out, "  LMTP            %s\n", addr)
	}
	if addr := a.MailpitAddr(); addr != nil {
		_, port, _ := net.SplitHostPort(addr.String())
		if a.cfg.IsDev() {
			fmt.Fprintf(out, "  inbox           http://localhost:%s%s\n", port, a.cfg.Compat.Mailpit.Path)
		}
		fmt.Fprintf(out, "  Mailpit API     http://localhost:%s%s\n", port, a.cfg.Compat.Mailpit.Path)
	}
	if addr := a.MailTMAddr(); addr != nil {
		_, port, _ := net.SplitHostPort(addr.String())
		fmt.Fprintf(out, "  mail.tm API     http://localhost:%s\n", port)
	}
	if a.devKey != "" {
		fmt.Fprintf(out, "  account         %s\n", config.DevAccount)
		if a.cfg.Dev.Key == "" { // a configured key is known
			fmt.Fprintf(out, "  developer key   %s\n", a.devKey)
		}
		if signIn != "" {
			fmt.Fprintf(out, "  sign in         %s\n", signIn)
		}
	}
	fmt.Fprintf(out, "  data            %s\n", a.cfg.DataDir)
	if addr := a.MetricsAddr(); addr != nil {
		fmt.Fprintf(out, "  metrics         http://%s/metrics\n", addr)
	}
	if a.runs(roleAPI) {
		fmt.Fprintf(out, "Try: curl -X POST %s%s/mailboxes\n", a.baseURL, httpapi.BasePath)
	}
}

// taken says for which domains anyone can send mail here: the public domains, and those of the sink.
func (a *App) taken() string {
	sink := a.cfg.SMTP.Sink.Domains
	if slices.Contains(sink, "*") {
		return "any address"
	}
	return strings.Join(append(a.publicDomains(), sink...), ", ")
}

// publicDomains returns the names of the public domains, as read at the start.
func (a *App) publicDomains() []string {
	var names []string
	for _, d := range a.domains.Public() {
		names = append(names, d.Name)
	}
	return names
}
