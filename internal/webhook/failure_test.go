package webhook_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/webhook"
)

func TestAddressesAreRemovedFromErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"tls: handshake failure":     "tls: handshake failure",
		"malformed HTTP version 1.1": "malformed HTTP version 1.1",
		"read tcp 10.0.0.7:50746->192.0.2.25:8443: read: broken": "read tcp (address)->(address): read: broken",
		"dial tcp [2001:db8::1]:443: no":                         "dial tcp (address): no",
		"listens on ::1, 127.0.0.1.":                             "listens on (address), (address).",
		"fe80::1%eth0 and [::ffff:10.0.0.1]":                     "(address) and (address)",
		"proxy db.internal:5432 and :443":                        "proxy (address) and (address)",
		"at 12:30 Uhr: ü 10.0.0.1":                               "at (address) Uhr: ü (address)", // better too much than too little
	} {
		if got := webhook.WithoutAddresses(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
