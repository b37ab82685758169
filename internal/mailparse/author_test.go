package mailparse_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/mailparse"
)

func TestAuthor(t *testing.T) {
	for header, want := range map[string]string{
		"From: a@bank.example\n":                                        "a@bank.example",
		"From: Bank <a@bank.example>\n":                                 "a@bank.example",
		"from : \"Bank, Inc.\" <a@bank.example> (ours)\n":               "a@bank.example",
		"From: Bank, Inc <a@bank.example>\n":                            "a@bank.example",
		"From: \"service@bank.example\" <a@evil.example>\n":             "a@evil.example",
		"From: Team: a@bank.example;\n":                                 "a@bank.example",
		"From: =?utf-8?q?x=40evil.example=2C_Bank?= <a@bank.example>\n": "a@bank.example",
		"From: <@relay.example:a@bank.example>\n":                       "a@bank.example",
		"From: a@bank.example, b@evil.example\n":                        "",
		"From: b@evil.example, Bank <a@bank.example>\n":                 "",
		"From: Bank <a@bank.example>, Someone\n":                        "",
		"From: Team: a@bank.example, b@bank.example;\n":                 "",
		"From: a@bank.example b@evil.example\n":                         "",
		"From: a@bank.example; b@evil.example\n":                        "",
		"From: a@bank.example (b@evil.example)\n":                       "a@bank.example",
		"From: =?utf-8?q?a=40bank.example=2C_b=40evil.example?=\n":      "",
		"From: =?utf-8?q?Bank_=3Ca=40bank.example=3E?=\n":               "a@bank.example",
		"From: <a@bank.example> <b@evil.example>\n":                     "",
		"From: a@bank.example\nFrom: a@bank.example\n":                  "",
		"From: a@bank.example\nSubject: s\nFROM:\n b@evil.example\n":    "",
		"From: a@bank.example\nFrom:\n":                                 "",
		"From:\nSender: a@bank.example\n":                               "",
		"Sender: a@bank.example\n":                                      "",
		"From: Bank\n":                                                  "",
		"From:\n":                                                       "",
		"Subject: no sender\n":                                          "",
		// What is no address, though it has an at sign.
		"From: a@bank.example@evil.example\n":                 "",
		"From: <a@bank.example@evil.example>\n":               "",
		"From: a@bank.example (at) @evil.example\n":           "",
		"From: <=?utf-8?q?a=40bank.example?=@evil.example>\n": "",
		"From: <a@bank.example:b@evil.example>\n":             "",
		"From: <a@bank.example <b@evil.example>\n":            "",
		"From: a@bank.example:b@evil.example\n":               "",
		"From: <mailto:a@bank.example?b@evil.example>\n":      "",
		"From: a@bank.example\u202e@evil.example\n":           "",
		"From: <a@bank.example\u3000@evil.example>\n":         "",
		"From: <a@bank.example\u00a0@evil.example>\n":         "",
		"From: <a\u202e@evil.example>\n":                      "",
		"From: <a\u2028@evil.example>\n":                      "",
		"From: <=?utf-8?q?a=20b?=@evil.example>\n":            "",
		"From: <=?utf-8?q?a=0D=0Ab?=@evil.example>\n":         "",
		"From: <a\x01@evil.example>\n":                        "",
		"From: <@evil.example>\n":                             "",
		"From: a@\n":                                          "",
		"From: <\"a\"b@evil.example>\n":                       "",
		"From: <\"a@bank.example>\"b@evil.example>\n":         "",
		"From: <\"\u202eelpmaxe.knab@a\"@evil.example>\n":     "",
		"From: <a@bank.example> b@evil.example\n":             "",
		"From: <a@bank.example>b@evil.example\n":              "",
		"From: b@evil.example <a@bank.example>\n":             "a@bank.example",
		"From: \"a@bank.example\"@evil.example\n":             "\"a@bank.example\"@evil.example",
		"From: <\"a \\\" b\"@evil.example>\n":                 "\"a \\\" b\"@evil.example",
		"From: <\"a\"@evil.example>\n":                        "\"a\"@evil.example",
		"From: <a.!#$%&'*+-/=?^_`{|}~b@evil.example>\n":       "a.!#$%&'*+-/=?^_`{|}~b@evil.example",
		"From: <a..b.@evil.example>\n":                        "a..b.@evil.example",
		"From: <b\u00fccher@b\u00fccher.example>\n":           "b\u00fccher@b\u00fccher.example",
	} {
		if got := mailparse.Parse([]byte(header + "To: c@example.net\n\nx\n")).Author; got != want {
			t.Errorf("Parse of a mail with %q: Author is %q, want %q", header, got, want)
		}
	}
}
