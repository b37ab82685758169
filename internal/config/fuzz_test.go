package config_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/config"
)

// FuzzLoad checks that any input gives errors of one line each, or a configuration that can be printed and loaded again.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(documented), "http.addr", ":1")
	f.Add([]byte(changed), "domains", "a.example")
	f.Add([]byte("a: &a [*a]\n? {}\n: !!binary x\n"), "plans.free.name", "\u2028")
	f.Add([]byte("plans: {x: {keys: {calls: 1/1s}}, x: {}}"), "nope", "")
	f.Add([]byte("!!map [1]\n"), "webhooks.retry_schedule", "1d, 1ns")
	f.Fuzz(func(t *testing.T, file []byte, key, value string) {
		c, err := config.Parse("f", file, nil, map[string]string{key: value})
		if err != nil {
			checkLines(t, err)
			return
		}
		database := ""
		if c.Database.URL != "" {
			database = "postgres:"
		}
		c.Secrets.Key, c.Billing.Bankpay.APIKey, c.Database.URL = "", "", ""
		var out bytes.Buffer
		if err := c.WriteYAML(&out, true); err != nil {
			t.Fatal(err)
		}
		again, err := config.Parse("printed", out.Bytes(), nil, map[string]string{"database.url": database})
		if err != nil {
			t.Fatalf("Parse of the printed configuration: %v\n%s", err, out.Bytes())
		}
		again.Database.URL = ""
		same(t, c, again)
	})
}

func checkLines(t *testing.T, err error) {
	t.Helper()
	errs := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		errs = joined.Unwrap()
	}
	for _, err := range errs {
		if _, ok := errors.AsType[*config.Error](err); !ok || err.Error() == "" || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("the error is a %T that reads %q, want a *config.Error of one line", err, err)
		}
	}
}
