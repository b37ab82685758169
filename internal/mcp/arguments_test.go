package mcp

import (
	"encoding/json"
	"testing"
)

// The message names the argument, its value and what is allowed, in words that an agent can act on.
func TestArgumentErrorsSayWhatIsAllowed(t *testing.T) {
	waiting, sending := newChecker(schemaOf[WaitMessageArgs](true)), newChecker(schemaOf[testMessageArgs](true))
	for _, c := range []struct {
		checker         *checker
		arguments, want string
	}{
		{waiting, `{"mailbox":"a@b.example","seconds":55,"has":["code"]}`, ""},
		{waiting, `{"mailbox":"a@b.example","seconds":60}`, "seconds is 60, but must be a whole number from 1 to 55."},
		{waiting, `{"mailbox":"a@b.example","seconds":1.5}`, "seconds is 1.5, but must be a whole number from 1 to 55."},
		{waiting, `{"mailbox":"a@b.example","seconds":null}`, "seconds is null, but must be a whole number from 1 to 55."},
		{waiting, `{"mailbox":"a@b.example","has":["virus"]}`, `has is ["virus"], but must be a list of code, link, attachment.`},
		{waiting, `{"mailbox":1}`, "mailbox is 1, but must be text."},
		{waiting, `{"seconds":1}`, "mailbox is required."},
		{waiting, `{"mailbox":"a@b.example","timeout":1}`, "there is no argument timeout. This tool takes after, from, has, mailbox, seconds, subject."},
		{waiting, `[]`, "they are not a JSON object."},
		{waiting, `{`, "they are not a JSON object."},
		{sending, `{"mailbox":"a@b.example","code":"48 29"}`, `code is "48 29", but must be text of 1 to 32 characters that matches ^[A-Za-z0-9-]+$.`},
		{newChecker(schemaOf[createArgs](true)), `{"ttlSeconds":5}`, "ttlSeconds is 5, but must be a whole number of at least 60."},
		{newChecker(schemaOf[noArguments](true)), `{"a":1}`, "there is no argument a. This tool takes no arguments."},
	} {
		if got := c.checker.check(json.RawMessage(c.arguments)); got != c.want {
			t.Errorf("%s: %q, want %q", c.arguments, got, c.want)
		}
	}
}
