package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
)

// Serve runs the service until ctx ends, and says on out where it can be reached.
func Serve(ctx context.Context, cfg *Config, out io.Writer) error {
	a, err := New(ctx, cfg, Options{})
	if err != nil {
		return err
	}
	a.greet(out)
	return a.Run(ctx)
}

// greet tells a newcomer where everything is and what to try next.
func (a *App) greet(out io.Writer) {
	base := strings.TrimSuffix(a.cfg.BaseURL, "/")
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
