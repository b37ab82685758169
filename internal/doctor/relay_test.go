package doctor_test

import (
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/doctor"
	"github.com/gonebox/gonebox/internal/outbound"
)

var authority *apptest.Authority

func TestMain(m *testing.M) {
	os.Exit(apptest.WithAuthority(&authority, m.Run))
}

// The relay is connected to as if to send a mail, what fails is named with what to do, and nothing is sent.
func TestRelayIsExamined(t *testing.T) {
	dns := serveDNS(t, map[string]string{"example.com. MX": "10 mx.example.com."})
	clear, secure, strange := apptest.NewRelay(t), authority.NewTLSRelay(t, true), httptest.NewTLSServer(nil)
	defer strange.Close()
	for _, test := range []struct {
		name, url string
		reply     []string // stage and reply of both relays
		level     string
		texts     []string
	}{
		{"in clear", "smtp://" + clear.Addr, nil, "ok", []string{clear.Addr + " answers in clear", "wants none", "nothing was sent"}},
		{"over TLS", "smtps://user:secret@" + secure.Addr, nil, "ok", []string{"over TLS and takes the password"}},
		{"wrong password", "smtps://user:secret@" + secure.Addr, []string{"AUTH", "535 5.7.8 No such user"}, "failure", []string{"authentication (5.7.8 No such user)", "API key"}},
		{"busy sign-in", "smtps://user:secret@" + secure.Addr, []string{"AUTH", "454 4.7.0 Later"}, "failure", []string{"authentication (4.7.0 Later)", "may work later"}},
		{"no mechanism", "smtp://user:secret@" + clear.Addr, nil, "failure", []string{"authentication", "offers none of", "leave user and password out"}},
		{"no TLS there", "smtps://user:secret@" + clear.Addr, nil, "failure", []string{"TLS", "use smtp://"}},
		{"strange certificate", "smtps://user:secret@" + strange.Listener.Addr().String(), nil, "failure", []string{"TLS", "certificate"}},
		{"nothing there", "smtp://127.0.0.1:1", nil, "failure", []string{"connecting to the relay (connect: connection refused)", "firewall"}},
		{"refused by the greeting", "smtp://" + clear.Addr, []string{"greeting", "554 5.7.1 Not you"}, "failure", []string{"the greeting (5.7.1 Not you)", "smtp.hostname"}},
		{"busy", "smtp://" + clear.Addr, []string{"greeting", "421 4.3.2 Later"}, "failure", []string{"the greeting (4.3.2 Later)", "may work later"}},
		{"closed", "smtp://" + clear.Addr, []string{"greeting", "close"}, "failure", []string{"the greeting", "closed the connection", "use smtps://"}},
	} {
		if test.reply != nil {
			clear.Reply(test.reply[0], test.reply[1])
			secure.Reply(test.reply[0], test.reply[1])
		}
		found := examine(t, map[string]string{"dns.resolver": dns, "relay.url": test.url, "relay.from": "no-reply@box.example.org"})
		wantFinding(t, found, "relay", test.level, test.texts...)
		if strings.Contains(found["relay"], "secret") {
			t.Errorf("%s: the relay is %q, want the password left out", test.name, found["relay"])
		}
		clear.Reply("greeting")
		secure.Reply("AUTH")
	}
	if n := clear.Tries() + secure.Tries(); n > 0 {
		t.Errorf("the relays have seen %d commands MAIL, want none", n)
	}
	if found := examine(t, map[string]string{"dns.resolver": dns}); found["relay"] != "" {
		t.Errorf("without relay.url the relay is %q, want nothing about it", found["relay"])
	}
}

// What concerns hosts that are not this machine is tried without the configuration, which knows that the tests' relays are.
func TestAdviceOnRelayElsewhere(t *testing.T) {
	plain, starttls, implicit := apptest.NewRelay(t), authority.NewTLSRelay(t, false), authority.NewTLSRelay(t, true)
	for _, test := range []struct {
		name, addr string
		timeout    time.Duration
		advice     string // "": the relay takes mail
	}{
		{"STARTTLS", starttls.Addr, time.Minute, ""},
		{"no STARTTLS", plain.Addr, time.Minute, "port 465"},
		{"TLS from the beginning", implicit.Addr, 2 * time.Second, "use smtps://"}, // both sides wait for the other to begin
	} {
		host, port, _ := net.SplitHostPort(test.addr)
		secure, err := outbound.Probe(t.Context(), outbound.Relay{Host: host, Port: port}, "box.example.org", test.timeout)
		var failure *outbound.ProbeError
		switch {
		case test.advice == "" && (err != nil || !secure):
			t.Errorf("%s: Probe(%s) = %v, %v, want TLS and no error", test.name, test.addr, secure, err)
		case test.advice != "" && !errors.As(err, &failure):
			t.Errorf("%s: Probe(%s) = %v, %v, want a ProbeError", test.name, test.addr, secure, err)
		case test.advice != "" && !strings.Contains(doctor.AdviseRelay(failure, false), test.advice):
			t.Errorf("%s: the advice on %v is %q, want %q in it", test.name, failure, doctor.AdviseRelay(failure, false), test.advice)
		}
	}
}
