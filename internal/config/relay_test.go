package config_test

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/config"
)

func TestRelayURL(t *testing.T) {
	for url, want := range map[string]config.RelayServer{
		"smtp://a%40b:p%3Aq@mail.example.org": {Host: "mail.example.org", Port: "587", User: "a@b", Password: "p:q"},
		"smtps://u:p@mail.example.org/":       {Host: "mail.example.org", Port: "465", ImplicitTLS: true, User: "u", Password: "p"},
		"smtp://localhost:25":                 {Host: "localhost", Port: "25", Loopback: true},
		"smtp://127.8.9.1:2525":               {Host: "127.8.9.1", Port: "2525", Loopback: true},
		"smtp://[::1]:2525":                   {Host: "::1", Port: "2525", Loopback: true},
		"smtp://[::ffff:127.0.0.1]:25":        {Host: "::ffff:127.0.0.1", Port: "25", Loopback: true},
		"smtp://localhost.evil.example:25":    {Host: "localhost.evil.example", Port: "25"},
		"smtp://192.0.2.1":                    {Host: "192.0.2.1", Port: "587"},
	} {
		c := load(t, "", "GONEBOX_RELAY_URL="+url, "GONEBOX_RELAY_FROM=Gonebox <no-reply@box.example>")
		if got, ok := c.Relay.Server(); !ok || got != want {
			t.Errorf("relay.url %s: Server() = %+v, %v, want %+v", url, got, ok, want)
		}
		if a := c.Relay.Sender(); a == nil || a.Address != "no-reply@box.example" || a.Name != "Gonebox" {
			t.Errorf("relay.from: Sender() = %v, want Gonebox <no-reply@box.example>", a)
		}
	}
	if _, ok := config.Default().Relay.Server(); ok {
		t.Error("Server() of the default configuration: got a relay, want none")
	}
}

func TestWrongRelaySettingsStopTheStart(t *testing.T) {
	const url = "GONEBOX_RELAY_URL=smtp://u:secret@mail.example.org"
	for _, c := range []struct {
		environ []string
		key     string
	}{
		{[]string{url}, "relay.url"}, // without relay.from
		{[]string{"GONEBOX_RELAY_URL=http://mail.example.org"}, "relay.url"},
		{[]string{"GONEBOX_RELAY_URL=smtp://"}, "relay.url"},
		{[]string{"GONEBOX_RELAY_URL=smtp://u@mail.example.org"}, "relay.url"},
		{[]string{"GONEBOX_RELAY_URL=smtp://u:secret@mail.example.org:99999"}, "relay.url"},
		{[]string{"GONEBOX_RELAY_URL=smtp://u:secret@mail.example.org/path"}, "relay.url"},
		{[]string{"GONEBOX_RELAY_URL=smtp://u:secret%0a@mail.example.org"}, "relay.url"},
		{[]string{url, "GONEBOX_RELAY_FROM=nobody"}, "relay.from"},
		{[]string{url, "GONEBOX_RELAY_FROM=a@b, c@d"}, "relay.from"},
		{[]string{url, "GONEBOX_RELAY_FROM=é@b.example"}, "relay.from"},
		{[]string{"GONEBOX_RELAY_ALLOW=*"}, "relay.allow"},
		{[]string{"GONEBOX_RELAY_ALLOW=*@*"}, "relay.allow"},
		{[]string{"GONEBOX_RELAY_ALLOW=*@*.*"}, "relay.allow"},
		{[]string{"GONEBOX_RELAY_ALLOW=Ops@company.example"}, "relay.allow"},
		{[]string{"GONEBOX_RELAY_RETRY_SCHEDULE="}, "relay.retry_schedule"},
		{[]string{"GONEBOX_ACCESS_CONFIRM_EMAIL=required"}, "access.confirm_email"},
		{[]string{"GONEBOX_ACCESS_CONTACT=me"}, "access.contact"},
	} {
		_, err := config.Load("", c.environ, nil)
		if err == nil || !strings.Contains(err.Error(), c.key) {
			t.Errorf("Load with %q = %v, want an error about %s", c.environ, err, c.key)
		} else if strings.Contains(err.Error(), "secret@") || strings.Contains(err.Error(), "u:secret") {
			t.Errorf("Load with %q = %v, want no password in it", c.environ, err)
		}
	}
}
