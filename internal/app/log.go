package app

import (
	"context"
	"io"
	"log/slog"

	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/httpkit"
)

// newLogger returns a logger that adds the trace id to the lines logged for a request, and bounds the lines that
// clients cause.
func newLogger(c config.Log, w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: c.Level}
	var h slog.Handler = slog.NewTextHandler(w, o)
	if c.Format == "json" {
		h = slog.NewJSONHandler(w, o)
	}
	return slog.New(logHandler{h, newSampler()})
}

// logHandler is a slog.Handler that adds the trace id of the request in the context, and bounds the lines that each client
// can cause.
type logHandler struct {
	slog.Handler
	sampler *sampler
}

// Handle writes a line, or drops it if its client has caused too many. The next line that is written has the attribute
// suppressed, the number of lines dropped since the last one.
func (t logHandler) Handle(ctx context.Context, r slog.Record) error {
	if client := clientOf(r); client != "" {
		suppressed, ok := t.sampler.allow(client, r.Time)
		if !ok {
			return nil
		}
		if suppressed > 0 {
			r.AddAttrs(slog.Int("suppressed", suppressed))
		}
	}
	if id := httpkit.TraceID(ctx); id != "" {
		r.AddAttrs(slog.String("traceId", id))
	}
	return t.Handler.Handle(ctx, r)
}

// WithAttrs returns a handler that adds trace ids too.
func (t logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{t.Handler.WithAttrs(attrs), t.sampler}
}

// WithGroup returns a handler that adds trace ids too.
func (t logHandler) WithGroup(name string) slog.Handler {
	return logHandler{t.Handler.WithGroup(name), t.sampler}
}
