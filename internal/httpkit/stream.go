package httpkit

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

// Download is a response that a browser saves and never shows. Its octets are read while they are sent.
type Download struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Policy      string `header:"Content-Security-Policy"`
	Body        func(huma.Context)
}

// NewDownload returns a Download whose body is written by Send.
func NewDownload(contentType, filename string, body func(huma.Context)) *Download {
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": filename})
	if disposition == "" {
		disposition = "attachment"
	}
	return &Download{ContentType: contentType, Disposition: disposition, Policy: "sandbox; default-src 'none'", Body: body}
}

// Sandbox is a Content-Security-Policy that keeps a browser from running scripts in content that a sender wrote, since they
// could call the API of its origin.
const Sandbox = "default-src 'none'; sandbox"

// WriteAttachment responds with the content of an attachment of size octets, outside of huma. If its content type is not
// valid, it is sent as application/octet-stream. After an error the body is shorter than Content-Length, which the client
// notices.
func WriteAttachment(w http.ResponseWriter, contentType, filename string, size int64, content io.Reader) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	if media, params, err := mime.ParseMediaType(contentType); err == nil {
		h.Set("Content-Type", mime.FormatMediaType(media, params))
	}
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": filename}))
	h.Set("Content-Security-Policy", Sandbox)
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	_, _ = io.Copy(w, content)
}

// ChunkSize is how many octets Chunks reads at once.
const ChunkSize = 64 << 10

// Chunks returns a function that reads the next octets of r, or returns io.EOF. Each call overwrites what the previous
// one returned.
func Chunks(r io.Reader) func(context.Context) ([]byte, error) {
	buf := make([]byte, ChunkSize)
	return func(context.Context) ([]byte, error) {
		n, err := io.ReadFull(r, buf)
		if n > 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) {
			return buf[:n], nil
		}
		return nil, err
	}
}

// Send returns the body of a response of size octets: first, and what next returns until io.EOF. The client may take as
// long as it likes, as long as it takes each chunk within the write timeout. If next fails the connection is aborted, so
// that the client sees that octets are missing.
func (k *Kit) Send(size int64, first []byte, next func(context.Context) ([]byte, error)) func(huma.Context) {
	return func(h huma.Context) {
		ctx, w := h.Context(), h.BodyWriter()
		h.SetHeader("Content-Length", strconv.FormatInt(size, 10))
		connection := http.NewResponseController(callOf(ctx).writer)
		for chunk, err := first, error(nil); ; chunk, err = next(ctx) {
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				k.abortDownload(ctx, err)
			}
			_ = connection.SetWriteDeadline(clock.System().Now().Add(k.WriteTimeout))
			if _, err := w.Write(chunk); err != nil {
				return // the client closed the connection, or reads too slowly
			}
		}
	}
}

// abortDownload aborts a response that has begun. A message that was deleted meanwhile is not logged as an error.
func (k *Kit) abortDownload(ctx context.Context, err error) {
	level := slog.LevelError
	if _, known := problem.From(err); known || ctx.Err() != nil {
		level = slog.LevelDebug
	}
	k.Logger.LogAttrs(ctx, level, "download aborted", slog.String("operation", callOf(ctx).operation), slog.Any("error", err))
	panic(http.ErrAbortHandler)
}
