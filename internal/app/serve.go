package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"strings"
)

// Serve runs the service until ctx ends, and says on out where it can be reached.
func Serve(ctx context.Context, cfg *Config, out io.Writer) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	a, err := New(ctx, cfg, Options{})
	if err != nil {
		return err
	}
	a.greet(out)
	go debug.FreeOSMemory() // what starting up needed is not needed again
	return a.Run(ctx)
}

// gcPercent lets garbage grow to three times what lives. Little lives here, a few MiB, and every mail leaves some behind:
// collecting less often is worth a tenth of its time, for some 10 MiB.
const gcPercent = 300

// greet tells a newcomer where everything is and what to try next.
func (a *App) greet(out io.Writer) {
	base := a.baseURL
	_, smtpPort, _ := net.SplitHostPort(a.SMTPAddr().String())
	fmt.Fprintf(out, "Gonebox %s is ready.\n", Version)
	fmt.Fprintf(out, "  API             %s%s\n", base, "/api/v1")
	fmt.Fprintf(out, "  documentation   %s/docs\n", base)
	fmt.Fprintf(out, "  SMTP            port %s, mail for %s\n", smtpPort, strings.Join(a.servedNames(), ", "))
	fmt.Fprintf(out, "  data            %s\n", a.cfg.DataDir)
	if addr := a.MetricsAddr(); addr != nil {
		fmt.Fprintf(out, "  metrics         http://%s/metrics\n", addr)
	}
	fmt.Fprintf(out, "Try: curl -X POST %s/api/v1/mailboxes\n", base)
}

func (a *App) servedNames() []string {
	var names []string
	for _, d := range a.domains.Public() {
		names = append(names, d.Name)
	}
	return names
}
