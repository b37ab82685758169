package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"

	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/httpapi"
)

// Serve runs the service until ctx ends, and says on out where it can be reached.
func Serve(ctx context.Context, cfg *config.Config, out io.Writer) error {
	limitMemory(cfg)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + waitingProcs)
	}
	a, err := New(ctx, cfg, Options{})
	if err != nil {
		return err
	}
	a.greet(out)
	go a.returnMemory(ctx)
	return a.Run(ctx)
}

// waitingProcs is how many goroutines more than there are processors may be in Go's hands at once. One that waits for the disk
// holds its place until the runtime takes it away, and asks for one again behind all that want to run; the set of mail that
// it has just made durable waits with it. On two processors one place more is worth 6 % of the mails (docs/decisions/0035).
const waitingProcs = 1

// greet tells a newcomer where everything is and what to try next.
func (a *App) greet(out io.Writer) {
	fmt.Fprintf(out, "Gonebox %s is ready.\n", Version)
	if a.runs(roleAPI) {
		fmt.Fprintf(out, "  API             %s%s\n", a.baseURL, httpapi.BasePath)
		fmt.Fprintf(out, "  documentation   %s/docs\n", a.baseURL)
	} else {
		fmt.Fprintf(out, "  probes          http://%s/readyz\n", a.HTTPAddr())
	}
	if addr := a.SMTPAddr(); addr != nil {
		_, port, _ := net.SplitHostPort(addr.String())
		fmt.Fprintf(out, "  SMTP            port %s, mail for %s\n", port, strings.Join(a.servedNames(), ", "))
	}
	fmt.Fprintf(out, "  data            %s\n", a.cfg.DataDir)
	if addr := a.MetricsAddr(); addr != nil {
		fmt.Fprintf(out, "  metrics         http://%s/metrics\n", addr)
	}
	if a.runs(roleAPI) {
		fmt.Fprintf(out, "Try: curl -X POST %s%s/mailboxes\n", a.baseURL, httpapi.BasePath)
	}
}

func (a *App) servedNames() []string {
	var names []string
	for _, d := range a.domains.Public() {
		names = append(names, d.Name)
	}
	return names
}
