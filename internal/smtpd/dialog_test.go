package smtpd_test

import (
	"crypto/tls"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/smtpd"
	"github.com/gonebox/gonebox/internal/smtpd/dialogtest"
)

// TestDialogs runs test/dialogs/*.txt, each against its own server.
func TestDialogs(t *testing.T) {
	sources, err := dialogtest.Sources("../../test/dialogs/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	certificate := newCertificate(t, "mx.example.test")
	for _, source := range sources {
		d, err := source.Dialog(map[string]string{"hostname": "mx.example.test", "domain": "example.test", "address": "box@example.test"})
		if err != nil {
			t.Error(err)
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			play(t, d, certificate)
		})
	}
}

func play(t *testing.T, d *dialogtest.Dialog, certificate tls.Certificate) {
	in := &fakeInbound{refuse: make(map[string]error)}
	for address, code := range d.Accept {
		in.refuse[address] = faultOrProblem(code)
	}
	if d.Deliver != "" {
		in.fail = faultOrProblem(d.Deliver)
	}
	_, addr := serve(t, dialogConfig(t, d.Config, certificate), in)
	player := dialogtest.Player{Addr: addr, TLS: &tls.Config{InsecureSkipVerify: true}}
	if err := player.Play(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.Delivered, asDialog(in.deliveries(), d.Delivered), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("delivered (-want +got):\n%s", diff)
	}
}

// asDialog returns deliveries in the form that dialogs use. The protocol is left out where the dialog does not name one.
func asDialog(deliveries []delivery, want []dialogtest.Delivery) []dialogtest.Delivery {
	var out []dialogtest.Delivery
	for i, got := range deliveries {
		v := dialogtest.Delivery{From: got.env.From, With: got.env.Protocol, Data: got.data}
		if i < len(want) && want[i].With == "" {
			v.With = ""
		}
		for _, to := range got.env.To {
			v.To = append(v.To, to.Address)
		}
		out = append(out, v)
	}
	return out
}

func dialogConfig(t *testing.T, settings map[string]string, certificate tls.Certificate) smtpd.Config {
	cfg := smtpd.Config{TLS: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	for key, value := range settings {
		n, _ := strconv.Atoi(value)
		switch key {
		case "max_size":
			cfg.MaxSize = int64(n)
		case "max_recipients":
			cfg.MaxRecipients = n
		case "max_connections":
			cfg.MaxConnections = n
		case "max_commands":
			cfg.MaxCommands = n
		case "max_errors":
			cfg.MaxErrors = n
		case "messages": // how many the client's address may send
			var sent atomic.Int64
			cfg.AllowMessage = func(netip.Addr) (time.Duration, bool) { return 12 * time.Second, sent.Add(1) <= int64(n) }
		case "refused": // recipients an hour
			cfg.RefusedRecipients = ratelimit.Limit{{Count: n, Per: time.Hour}}
		case "auth":
			cfg.AcceptAuth = func(netip.Addr) bool { return value == "on" }
		case "bare_lf":
			cfg.BareLF = func(netip.Addr) bool { return value == "on" }
		case "lmtp":
			cfg.LMTP, cfg.TLS = value == "on", nil
		case "dsn":
			cfg.DSN = value == "on"
		case "tls":
			if value == "off" {
				cfg.TLS = nil
			}
		case "proxy":
			cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix(value)}
		case "relay":
			cfg.Relays = []netip.Prefix{netip.MustParsePrefix(value)}
		default:
			t.Fatalf("the dialog says @config %s, want a key that this test knows", key)
		}
	}
	return cfg
}
