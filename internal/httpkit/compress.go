package httpkit

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const (
	// compressFrom is how many octets a JSON response has that is compressed.
	compressFrom = 1 << 10
	// compressors is how many responses are compressed at once. Each holds some 800 KiB; further responses are sent as they are,
	// so that clients that read slowly cannot use more memory.
	compressors = 8
)

// gzipPool lends compressors without ever waiting for one.
type gzipPool chan *gzip.Writer

func newGzipPool() gzipPool {
	p := make(gzipPool, compressors)
	for range compressors {
		p <- nil // made at first use
	}
	return p
}

// get returns a compressor that writes to w, or nil if all are in use.
func (p gzipPool) get(w io.Writer) *gzip.Writer {
	select {
	case z := <-p:
		if z == nil {
			z, _ = gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
		} else {
			z.Reset(w)
		}
		return z
	default:
		return nil
	}
}

// put gives a compressor back.
func (p gzipPool) put(z *gzip.Writer) {
	z.Reset(io.Discard) // so that it does not keep the connection
	p <- z
}

// compressor is a ResponseWriter that compresses JSON responses whose first part has at least compressFrom octets. It delays
// the header until then. Event streams, downloads and responses that are encoded already pass through as they are.
type compressor struct {
	http.ResponseWriter
	pool    gzipPool
	accepts bool
	status  int          // of the header that is delayed until the first call of Write; 0: none is
	whole   bool         // the first call of Write passes the whole body, so that it need not be sent in chunks
	gzip    *gzip.Writer // nil: the response is sent as it is
}

func newCompressor(pool gzipPool, w http.ResponseWriter, r *http.Request) *compressor {
	return &compressor{ResponseWriter: w, pool: pool, accepts: acceptsGzip(r.Header.Get("Accept-Encoding"))}
}

// acceptsGzip reports whether a client takes gzip (RFC 9110 §12.5.3).
func acceptsGzip(accepted string) bool {
	for part := range strings.SplitSeq(accepted, ",") {
		coding, params, _ := strings.Cut(part, ";")
		if name := strings.ToLower(strings.TrimSpace(coding)); name != "gzip" && name != "*" {
			continue
		}
		weight, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(params), " ", ""), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !ok || err == nil && q > 0
	}
	return false
}

// WriteHeader sends the status, or keeps it until the first part of the body shows whether to compress.
func (c *compressor) WriteHeader(status int) {
	h := c.Header()
	json := strings.HasPrefix(h.Get("Content-Type"), jsonType) || strings.HasPrefix(h.Get("Content-Type"), "application/problem+json")
	if status < 200 || !json || h.Get("Content-Encoding") != "" {
		c.ResponseWriter.WriteHeader(status)
		return
	}
	h.Add("Vary", "Accept-Encoding")
	c.status = status
}

// Write sends a part of the body.
func (c *compressor) Write(b []byte) (int, error) {
	if c.status != 0 {
		if c.accepts && len(b) >= compressFrom {
			c.gzip = c.pool.get(c.ResponseWriter)
		}
		if c.gzip != nil {
			c.Header().Set("Content-Encoding", "gzip")
			c.Header().Del("Content-Length")
		} else if c.whole {
			c.Header().Set("Content-Length", strconv.Itoa(len(b)))
		}
		c.sendStatus()
	}
	if c.gzip != nil {
		return c.gzip.Write(b)
	}
	return c.ResponseWriter.Write(b)
}

func (c *compressor) sendStatus() {
	if c.status != 0 {
		c.ResponseWriter.WriteHeader(c.status)
		c.status = 0
	}
}

// end completes the response.
func (c *compressor) end() {
	c.sendStatus()
	if c.gzip != nil {
		_ = c.gzip.Close() // a client that has gone needs no end
	}
}

// release gives the compressor back, also of a response that was aborted.
func (c *compressor) release() {
	if c.gzip != nil {
		c.pool.put(c.gzip)
		c.gzip = nil
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }
