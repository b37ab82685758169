package httpapi

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
)

// download is an answer that a browser saves and never shows. Its octets are read while they are sent.
type download struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Policy      string `header:"Content-Security-Policy"`
	Body        func(huma.Context)
}

func saved(contentType, filename string, body func(huma.Context)) *download {
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": filename})
	if disposition == "" {
		disposition = "attachment"
	}
	return &download{ContentType: contentType, Disposition: disposition, Policy: "sandbox; default-src 'none'", Body: body}
}

// pieceSize is how many octets of an attachment are sent at once, and attachmentCost what a download of one takes: a piece, and the
// chunk that it is read from.
const (
	pieceSize      = 64 << 10
	attachmentCost = 3 * pieceSize
)

// pieces returns what reads the next octets of r, or io.EOF.
func pieces(r io.Reader) func(context.Context) ([]byte, error) {
	buf := make([]byte, pieceSize)
	return func(context.Context) ([]byte, error) {
		n, err := io.ReadFull(r, buf)
		if n > 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) {
			return buf[:n], nil
		}
		return nil, err
	}
}

// sending sends size octets: the first, and those that next returns until io.EOF. The client may take as long as it likes, if only each
// piece is taken within the write timeout. Where next fails the connection is broken off: the client sees that octets are missing.
func (a *API) sending(size int64, first []byte, next func(context.Context) ([]byte, error)) func(huma.Context) {
	return func(h huma.Context) {
		ctx, w := h.Context(), h.BodyWriter()
		h.SetHeader("Content-Length", strconv.FormatInt(size, 10))
		connection := http.NewResponseController(request(ctx).writer)
		for piece, err := first, error(nil); ; piece, err = next(ctx) {
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				a.brokenOff(ctx, err)
			}
			_ = connection.SetWriteDeadline(clock.System().Now().Add(a.Settings.WriteTimeout))
			if _, err := w.Write(piece); err != nil {
				return // the client is gone, or takes nothing
			}
		}
	}
}

// brokenOff ends an answer that has begun. What was erased meanwhile is no fault.
func (a *API) brokenOff(ctx context.Context, err error) {
	level := slog.LevelError
	if _, known := problem.From(err); known || ctx.Err() != nil {
		level = slog.LevelDebug
	}
	a.Logger.LogAttrs(ctx, level, "download broken off", slog.String("operation", request(ctx).operation), slog.Any("error", err))
	panic(http.ErrAbortHandler)
}
