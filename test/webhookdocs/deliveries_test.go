package webhookdocs_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// delivery is a request as the service sends it, before a test tampers with it.
type delivery struct {
	id, sent, signature string
	body                string
}

// sign computes the signature of docs/spec/webhooks.md#deliveries. It is written independently and uses nothing of the
// service.
func sign(secret, id, sent, body string) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + sent + "." + body))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func genuine(id, body string, age time.Duration) delivery {
	sent := strconv.FormatInt(time.Now().Add(-age).Unix(), 10)
	return delivery{id, sent, sign(secret, id, sent, body), body}
}

func post(t *testing.T, url string, d delivery) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(d.body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{"webhook-id": d.id, "webhook-timestamp": d.sent, "webhook-signature": d.signature} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Body.Close()
	return a.StatusCode
}

const (
	secret   = "whsec_bm90IGEgc2VjcmV0IGJ1dCBhIHRlc3Qga2V5IDMyQg=="
	body     = `{"type":"otp.extracted","timestamp":"2026-11-21T20:30:00.000Z","data":{"code":"246810"}}`
	other    = "whsec_YW5vdGhlciBzZWNyZXQgd2hpY2ggaXMgbm90IGl0ISE="
	unusual  = `{"type":"message.received","data":{"subject":"Ngày mới – ☕ \u0000 </script>","x":1.50}}` + "\n"
	longAgo  = 6 * time.Minute
	recently = 4 * time.Minute
	lastType = "the end" // the type of the last event of a test
)

func TestDocumentedReceiversVerifySignatures(t *testing.T) {
	for _, r := range receivers() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			run := r.taken(t)(secret)
			for _, c := range forged() {
				if got := post(t, run.url, c.delivery); got != http.StatusBadRequest {
					t.Errorf("%s: the receiver answers %d, want %d", c.what, got, http.StatusBadRequest)
				}
			}
			for _, c := range accepted() {
				if got := post(t, run.url, c.delivery); got != http.StatusNoContent {
					t.Errorf("%s: the receiver answers %d, want %d", c.what, got, http.StatusNoContent)
				}
			}
			want := "otp.extracted message.received otp.extracted otp.extracted otp.extracted otp.extracted otp.extracted"
			if got := run.printed(t, lastType); got != want {
				t.Errorf("the receiver printed %s, want %s", got, want)
			}
		})
	}
}

type trial struct {
	what string
	delivery
}

func accepted() []trial {
	two := genuine("evt_two", body, 0)
	two.signature = sign(other, two.id, two.sent, two.body) + " " + two.signature
	reversed := genuine("evt_reversed", body, 0)
	reversed.signature += " " + sign(other, reversed.id, reversed.sent, reversed.body)
	versions := genuine("evt_versions", body, 0)
	versions.signature = "v1a,ed25519 v2,AAAA v1,%%% v1 " + versions.signature
	return []trial{
		{"genuine", genuine("evt_1", body, 0)},
		{"unusual text", genuine("evt_unusual", unusual, 0)},
		{"the same event again", genuine("evt_1", body, 0)},
		{"some minutes old", genuine("evt_old", body, recently)},
		{"some minutes early", genuine("evt_early", body, -recently)},
		{"by two secrets", two},
		{"by two secrets, the other way round", reversed},
		{"with other versions", versions},
		{"the last", genuine("evt_last", fmt.Sprintf(`{"type":%q}`, lastType), 0)},
	}
}

func forged() []trial {
	change := func(f func(*delivery)) delivery {
		d := genuine("evt_forged", body, 0)
		f(&d)
		return d
	}
	return []trial{
		{"nothing", delivery{body: body}},
		{"no signature", change(func(d *delivery) { d.signature = "" })},
		{"no time", change(func(d *delivery) { d.sent = "" })},
		{"no id", change(func(d *delivery) { d.id = "" })},
		{"another id", change(func(d *delivery) { d.id = "evt_other" })},
		{"another body", change(func(d *delivery) { d.body = strings.Replace(d.body, "246810", "246811", 1) })},
		{"a body written anew", change(func(d *delivery) { d.body += " " })},
		{"no body", change(func(d *delivery) { d.body = "" })},
		{"another time", change(func(d *delivery) { d.sent = strconv.FormatInt(time.Now().Unix()-60, 10) })},
		{"another secret", change(func(d *delivery) { d.signature = sign(other, d.id, d.sent, d.body) })},
		{"two other secrets", change(func(d *delivery) { d.signature = strings.Repeat(sign(other, d.id, d.sent, d.body)+" ", 2) })},
		{"another version", change(func(d *delivery) { d.signature = "v2" + d.signature[2:] })},
		{"no version", change(func(d *delivery) { d.signature = d.signature[3:] })},
		{"a part of it", change(func(d *delivery) { d.signature = d.signature[:10] })},
		{"an empty one", change(func(d *delivery) { d.signature = "v1," })},
		{"no base64", change(func(d *delivery) { d.signature = "v1,*" })},
		{"old", genuine("evt_forged", body, longAgo)},
		{"from the future", genuine("evt_forged", body, -longAgo)},
		{"a time that is no number", resigned("evt_forged", "yesterday")},
		{"a time with a sign", resigned("evt_forged", "-1")},
		{"a huge time", resigned("evt_forged", "99999999999999999999999")},
		{"the longest time", resigned("evt_forged", "9223372036854775807")},
		{"a time with a fraction", resigned("evt_forged", strconv.FormatInt(time.Now().Unix(), 10)+".5")},
		{"digits of another script", resigned("evt_forged", "٣")},
	}
}

// resigned has a valid signature over a timestamp that is too old or in the future.
func resigned(id, sent string) delivery {
	return delivery{id, sent, sign(secret, id, sent, body), body}
}
