package blackbox_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

const (
	ipv4Question = "9.113.0.203.bl.test" // of stranger
	ipv6Client   = "2001:db8::9"
	ipv6Question = "9.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.bl.test"
)

// startListed starts a service that asks two blocklists of a name server.
func startListed(t *testing.T, more settings) (*service, *nameServer) {
	names := startNameServer(t)
	set := settings{"dns.resolver": names.addr, "smtp.dnsbl": "empty.test, bl.test", "smtp.trusted_proxies": "127.0.0.1/32"}
	maps.Copy(set, more)
	return start(t, set), names
}

// rcptFrom returns the reply to RCPT for a client behind the trusted load balancer.
func (s *service) rcptFrom(client, to string) string {
	s.t.Helper()
	c := s.smtpFrom(client)
	reply(s.t, c, 250, "EHLO client.example")
	reply(s.t, c, 250, "MAIL FROM:<sender@example.org>")
	if err := c.PrintfLine("RCPT TO:<%s>", to); err != nil {
		s.t.Fatal(err)
	}
	code, text, err := c.ReadResponse(0)
	if err != nil {
		s.t.Fatal(err)
	}
	if code == 554 {
		reply(s.t, c, 250, "NOOP") // the session goes on
	}
	_ = c.Close()
	return fmt.Sprintf("%d %s", code, text)
}

func TestListedClientsAreRefused(t *testing.T) {
	t.Parallel()
	s, names := startListed(t, nil)
	box := s.create("", nil)
	names.put(ipv4Question+". 60 IN A 127.0.0.4", ipv6Question+". 60 IN A 127.0.0.2")
	for _, client := range []string{stranger, ipv6Client} {
		var got string
		eventually(t, "the refusal of "+client, func() bool {
			s.Clock.Advance(time.Minute) // forgets a look-up that took too long
			got = s.rcptFrom(client, box.Address)
			return got != "250 2.1.5 Recipient ok"
		})
		if !strings.HasPrefix(got, "554 5.7.1 ") || !strings.HasSuffix(got, " bl.test") {
			t.Errorf("RCPT from %s = %s, want 554 5.7.1 and the list bl.test at the end", client, got)
		}
	}
	if got := s.rcptFrom(stranger, "postmaster@"+box.Domain); !strings.HasPrefix(got, "250 ") {
		t.Errorf("RCPT to postmaster from a listed client = %s, want 250", got)
	}
	all := s.awaitDeliveries(box.Token, 2)
	if last := all[0]; last.Reply != 554 || last.Code != "5.7.1" || last.RemoteIP != ipv6Client || last.From != "sender@example.org" || !strings.HasSuffix(last.Reason, "bl.test") {
		t.Errorf("the delivery log has %+v, want 554 5.7.1 for %s, which sender@example.org used, with the list bl.test", last, ipv6Client)
	}
	if s.metric(`gonebox_smtp_recipients_total{reply="554"}`) < 2 {
		t.Errorf("the metric counts %v replies 554, want at least 2", s.metric(`gonebox_smtp_recipients_total{reply="554"}`))
	}
}

func TestClientsThatNoListNamesAreAccepted(t *testing.T) {
	t.Parallel()
	s, names := startListed(t, nil)
	box := s.create("", nil)
	accepted := func(what, client string) {
		t.Helper()
		if got := s.rcptFrom(client, box.Address); got != "250 2.1.5 Recipient ok" {
			t.Errorf(`%s: s.rcptFrom(client, box.Address) = %s, want "250 2.1.5 Recipient ok"`, what, got)
		}
		s.Clock.Advance(time.Minute)
	}
	accepted("not listed", stranger)
	if names.timesAsked("A", ipv4Question) == 0 {
		t.Errorf("the list was not asked for %s, want it asked", ipv4Question)
	}
	names.put(ipv4Question + ". 60 IN A 127.255.255.254")
	accepted("an error of the list", stranger)
	names.put(ipv4Question + ". 60 IN A 93.184.216.34")
	accepted("an answer that is none of a list", stranger)

	names.put("1.0.0.127.bl.test. 60 IN A 127.0.0.2", "7.2.1.10.bl.test. 60 IN A 127.0.0.2")
	accepted("loopback", "127.0.0.1")
	accepted("private", "10.1.2.7")
	for _, q := range []string{"1.0.0.127.bl.test", "7.2.1.10.bl.test"} {
		if names.timesAsked("A", q) != 0 {
			t.Errorf("the list was asked for %s, want only public addresses looked up", q)
		}
	}
	names.put(ipv4Question + ". 60 IN A 127.0.0.4")
	names.answer(dns.RcodeServerFailure, false)
	accepted("a failure of the list", stranger)
}

func TestSilentListsRefuseNoMail(t *testing.T) {
	t.Parallel()
	s, names := startListed(t, settings{"dns.timeout": "100ms"})
	box := s.create("", nil)
	names.put(ipv4Question + ". 60 IN A 127.0.0.4")
	names.answer(dns.RcodeSuccess, true)
	defer names.speak()
	if got := s.rcptFrom(stranger, box.Address); got != "250 2.1.5 Recipient ok" {
		t.Errorf("RCPT from %s = %s, want 250 2.1.5 Recipient ok", stranger, got)
	}
	if names.timesAsked("A", ipv4Question) == 0 {
		t.Errorf("the list was not asked for %s, want it asked", ipv4Question)
	}
}
