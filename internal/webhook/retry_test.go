package webhook_test

import (
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/webhook"
)

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

// The example that the reference implementations of Standard Webhooks share.
func TestSignatureMatchesStandardWebhooks(t *testing.T) {
	secret, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := webhook.Signatures("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), secret, secret)
	const one = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got != one+" "+one {
		t.Errorf("Signatures of a known delivery with one secret twice = %s, want %s", got, one+" "+one)
	}
}

func TestSealedSecretIsBoundToItsEndpoint(t *testing.T) {
	if opens, foreign := webhook.Sealed([32]byte{7}, []byte("secret"), "whk_1", "whk_2"); !opens || foreign {
		t.Errorf("a sealed secret opens: %t, for another endpoint: %t; want true and false", opens, foreign)
	}
}

func TestRetryAfterIsParsed(t *testing.T) {
	for field, want := range map[string]time.Duration{
		"":                                 0,
		"0":                                0,
		" 7 ":                              7 * time.Second,
		"86400":                            24 * time.Hour,
		"-1":                               0,
		"1.5":                              0,
		"18446744073709551615":             1 << 32 * time.Second,
		"18446744073709551616":             0,
		"Sat, 14 Mar 2026 12:00:30 GMT":    30 * time.Second,
		"Sat, 14 Mar 2026 11:00:00 GMT":    0,
		"Saturday, 14-Mar-26 12:01:00 GMT": time.Minute, // the obsolete forms of RFC 9110 §5.6.7
		"Sat Mar 14 12:01:00 2026":         time.Minute,
		"2026-03-14T12:00:30Z":             0,
	} {
		if got := webhook.RetryAfter(field, noon()); got != want {
			t.Errorf("Retry-After: %q is %s, want %s", field, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "120", "-1", "Sat, 14 Mar 2026 12:00:30 GMT", "99999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, field string) {
		got := webhook.RetryAfter(field, noon())
		if got < 0 {
			t.Fatalf("%q is %s, want at least 0", field, got)
		}
		if at, err := http.ParseTime(field); err == nil && at.After(noon()) && got == 0 {
			t.Fatalf("RetryAfter(%q) = 0, want the time until then", field)
		}
	})
}

func TestPauseHasJitterAndHonoursRetryAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schedule := []time.Duration{5 * time.Second, time.Minute, 10 * time.Hour}
		chance := rapid.Float64Range(0, 0.999999).Draw(t, "chance")
		s, err := webhook.New(webhook.Parts{
			Chance: func() float64 { return chance }, Policy: webhook.Policy{Retries: schedule, Jitter: 0.2, RetryAfterMax: 24 * time.Hour},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, planned := range schedule {
			got := s.RetryDelay(i+1, 0)
			if low, high := planned*4/5, planned*6/5; got < low || got > high {
				t.Fatalf("a pause of %s became %s, want %s to %s", planned, got, low, high)
			}
			if asked := s.RetryDelay(i+1, 100*time.Hour); asked != 24*time.Hour {
				t.Fatalf("100h became %s, want %v", asked, 24*time.Hour)
			}
			if asked := s.RetryDelay(i+1, time.Second); asked != got {
				t.Fatalf("RetryDelay with Retry-After of a second = %s, want %s as without it", asked, got)
			}
		}
	})
	s, err := webhook.New(webhook.Parts{Policy: webhook.Policy{Retries: []time.Duration{time.Hour}, Jitter: 0.2}})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[time.Duration]bool)
	for range 50 {
		seen[s.RetryDelay(1, 0)] = true
	}
	if len(seen) < 2 {
		t.Error("50 first delays are all the same, want them spread")
	}
}
