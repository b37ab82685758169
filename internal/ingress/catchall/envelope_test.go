package catchall

import (
	"strings"
	"testing"
)

func TestEnvelopeIsThatOfTheServer(t *testing.T) {
	served := func(address string) bool { return strings.HasSuffix(address, "@box.example") }
	for name, test := range map[string]struct{ message, from, to string }{
		"delivered":            {"Delivered-To: ada@box.example\r\n\r\n", "", "ada@box.example"},
		"original":             {"X-Original-To: ada@box.example\r\nDelivered-To: all@box.example\r\n\r\n", "", "ada@box.example"},
		"envelope":             {"Envelope-to: <ada@box.example>, bob@box.example\r\n\r\n", "", "ada@box.example bob@box.example"},
		"the mailbox itself":   {"X-Original-To: all@hoster.example\r\nDelivered-To: all@hoster.example\r\nDelivered-To: ada@box.example\r\n\r\n", "", "ada@box.example"},
		"one of several":       {"Envelope-To: other@else.example,\r\n ada@box.example\r\n\r\n", "", "ada@box.example"},
		"forged below":         {"X-Original-To: ada@box.example\r\nReceived: x\r\nX-Original-To: bob@box.example\r\n\r\n", "", "ada@box.example"},
		"in the body":          {"Subject: x\r\n\r\nDelivered-To: ada@box.example\r\n", "", ""},
		"not here":             {"Delivered-To: ada@else.example\r\n\r\n", "", "ada@else.example"},
		"none":                 {"To: ada@box.example\r\n\r\n", "", ""},
		"no address":           {"Delivered-To: ada\r\n\r\n", "", ""},
		"reverse-path":         {"Return-Path: <shop@sender.example>\r\nDelivered-To: ada@box.example\r\n\r\n", "shop@sender.example", "ada@box.example"},
		"null reverse-path":    {"Return-Path: <>\r\nDelivered-To: ada@box.example\r\n\r\n", "", "ada@box.example"},
		"line feeds":           {"Return-Path: <s@x.example>\nX: y\nDelivered-To: ada@box.example\n\nbody", "s@x.example", "ada@box.example"},
		"a line From":          {"From shop Sat Mar 14\r\nDelivered-To: ada@box.example\r\n\r\n", "", "ada@box.example"},
		"folded":               {"Delivered-To:\r\n\tada@box.example\r\n\r\n", "", "ada@box.example"},
		"empty":                {"", "", ""},
		"header without a end": {"Delivered-To: ada@box.example", "", "ada@box.example"},
	} {
		from, to := envelopeOf([]byte(test.message), served)
		if got := strings.Join(to, " "); from != test.from || got != test.to {
			t.Errorf("%s: envelopeOf(%q) = %q, %q, want %q, %q", name, test.message, from, got, test.from, test.to)
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	for _, message := range []string{"", "\n", "Delivered-To: a@b\r\n c, d@e\r\n\r\n", ": x\n y", "X-Original-To:,,,@\r\n", "Return-Path: <<>>"} {
		f.Add([]byte(message))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		_, to := envelopeOf(message, func(string) bool { return true })
		for _, address := range to {
			if !strings.Contains(address, "@") || strings.ContainsAny(address, "\n,") {
				t.Errorf("envelopeOf(%q) has the recipient %q, want an address of one line", message, address)
			}
		}
	})
}
