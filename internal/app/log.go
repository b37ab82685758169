package app

import (
	"context"
	"io"
	"log/slog"

	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/httpkit"
)

// newLogger writes structured lines; those of a request carry its trace id.
func newLogger(c config.Log, w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: c.Level}
	var h slog.Handler = slog.NewTextHandler(w, o)
	if c.Format == "json" {
		h = slog.NewJSONHandler(w, o)
	}
	return slog.New(traced{h})
}

// traced adds the trace id of the request that a line is logged for.
type traced struct{ slog.Handler }

// Handle adds the trace id.
func (t traced) Handle(ctx context.Context, r slog.Record) error {
	if id := httpkit.TraceID(ctx); id != "" {
		r.AddAttrs(slog.String("traceId", id))
	}
	return t.Handler.Handle(ctx, r)
}

// WithAttrs keeps adding trace ids.
func (t traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{t.Handler.WithAttrs(attrs)} }

// WithGroup keeps adding trace ids.
func (t traced) WithGroup(name string) slog.Handler { return traced{t.Handler.WithGroup(name)} }
