package blackbox_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"
)

// JSON answers from 1 KiB on are compressed for clients that accept it; everything else is sent as it is.
func TestLargeJSONAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	get := func(path, accepted string) (encoding string, body []byte) {
		a := s.do(http.MethodGet, "", "", nil, func(r *http.Request) {
			r.URL.Path = path
			r.Header.Set("Accept-Encoding", accepted)
		})
		if a.Status != http.StatusOK || a.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf(`%s for %q: %d, Vary %q, want Status %v and Vary "Accept-Encoding"`, path, accepted, a.Status, a.Header.Get("Vary"), http.StatusOK)
		}
		return a.Header.Get("Content-Encoding"), a.Body
	}
	_, plain := get("/api/v1/openapi.json", "identity")
	for accepted, want := range map[string]string{"gzip": "gzip", "br, GZIP;q=0.5": "gzip", "*": "gzip", "gzip;q=0": "", "gzip; q=0.0, br": "", "br": "", "identity": ""} {
		encoding, body := get("/api/v1/openapi.json", accepted)
		if encoding != want {
			t.Errorf("for %q: Content-Encoding %q, want %q", accepted, encoding, want)
		}
		if encoding == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(body, plain) {
			t.Errorf("for %q: %d octets, want the same %d", accepted, len(body), len(plain))
		}
	}
	if encoding, _ := get("/api/v1/healthz", "gzip"); encoding != "" {
		t.Errorf("a small response has Content-Encoding %q, want none", encoding)
	}
}
