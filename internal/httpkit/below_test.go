package httpkit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/gonebox/gonebox/internal/httpkit"
)

func TestRequestsBelowAPathAreServed(t *testing.T) {
	h := httpkit.Below("/mail", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.URL.RequestURI())
	}))
	for _, c := range []struct{ method, target, want string }{
		{"GET", "/mail/", "200 /"},
		{"GET", "/", "200 /"},
		{"GET", "/mail", "308 /mail/"},
		{"HEAD", "/mail?a=b", "308 /mail/?a=b"},
		{"POST", "/mail", "200 /"},
		{"GET", "/mail/api/v1/messages/a%2Fb?c=%20d", "200 /api/v1/messages/a%2Fb?c=%20d"},
		{"GET", "/api/v1/messages/a%2Fb?c=%20d", "200 /api/v1/messages/a%2Fb?c=%20d"},
		{"GET", "/mailbox", "200 /mailbox"},
		{"GET", "/mail/mail/x", "200 /mail/x"},
		{"GET", "/mail//evil.example", "200 //evil.example"},
		{"GET", "/mail/../x", "200 /../x"},
		{"GET", "/m%61il/x", "200 /m%61il/x"},
		{"GET", "/mail%2Fx", "200 /mail%2Fx"},
		{"GET", "//mail/x", "200 //mail/x"},
		{"OPTIONS", "*", "200 *"},
	} {
		u, err := url.ParseRequestURI(c.target)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(c.method, "/", nil)
		r.URL = u
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		got := fmt.Sprintf("%d %s", rec.Code, rec.Header().Get("Location")+rec.Body.String())
		if got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.method, c.target, got, c.want)
		}
	}
}
