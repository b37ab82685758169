package netguard_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/gonebox/gonebox/internal/netguard"
)

func BenchmarkCheckURL(b *testing.B) {
	g := netguard.New(netguard.Options{Resolver: names{other: public}})
	for _, url := range []string{"https://hooks.example.com/gonebox", "https://bücher.example.com:8443/", "https://0x7f.1/"} {
		b.Run(url, func(b *testing.B) {
			for b.Loop() {
				_ = g.CheckURL(b.Context(), url)
			}
		})
	}
}

func BenchmarkPost(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1<<10)
	for _, http2 := range []bool{false, true} {
		b.Run(map[bool]string{false: "HTTP/1.1", true: "HTTP/2"}[http2], func(b *testing.B) {
			e := serve(b, http2, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }, nil)
			c := e.guard(b).Client()
			b.SetParallelism(4)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					a, err := c.Post(e.url, "application/json", bytes.NewReader(body))
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, a.Body)
					_ = a.Body.Close()
				}
			})
		})
	}
}
