package mcp

import (
	"encoding/json"
	"testing"

	"github.com/gonebox/gonebox/internal/apiclient"
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
		{waiting, `{"mailbox":"a@b.example","seconds":9007199254740993}`, "seconds is 9007199254740993, but must be a whole number from 1 to 55."},
		{waiting, `{"mailbox":null}`, "mailbox is required."},
		{waiting, `{"mailbox":"a@b.example","has":["virus"]}`, `has is ["virus"], but must be a list of code, link, action, attachment.`},
		{waiting, `{"mailbox":1}`, "mailbox is 1, but must be text."},
		{waiting, `{"seconds":1}`, "mailbox is required."},
		{waiting, `{"mailbox":"a@b.example","timeout":1}`, "there is no argument timeout. This tool takes after, from, has, mailbox, seconds, subject, to."},
		{waiting, `[]`, "they are not a JSON object."},
		{waiting, `{`, "they are not a JSON object."},
		{sending, `{"mailbox":"a@b.example","code":"48 29"}`, `code is "48 29", but must be text of 1 to 32 characters that matches ^[A-Za-z0-9-]+$.`},
		{newChecker(schemaOf[createArgs](true)), `{"ttlSeconds":5}`, "ttlSeconds is 5, but must be a whole number of at least 60."},
		{newChecker(schemaOf[noArguments](true)), `{"a":1}`, "there is no argument a. This tool takes no arguments."},
	} {
		if got := c.checker.check(c.checker.lenient(json.RawMessage(c.arguments))); got != c.want {
			t.Errorf("check of %s: %q, want %q", c.arguments, got, c.want)
		}
	}
}

// What coding agents send is taken as what they mean.
func TestLenientArguments(t *testing.T) {
	c := newChecker(schemaOf[WaitMessageArgs](false))
	for sent, want := range map[string]string{
		``:     `{}`,
		`null`: `{}`,
		`{"mailbox":null,"seconds":null,"has":null,"unknown":null}`: `{}`,
		`{"seconds":5.0}`:                    `{"seconds":5}`,
		`{"seconds":5e0}`:                    `{"seconds":5}`,
		`{"seconds":50e-1}`:                  `{"seconds":5}`,
		`{"seconds":0.5E1}`:                  `{"seconds":5}`,
		`{"seconds":"5"}`:                    `{"seconds":5}`,
		`{"seconds":" 5.0 "}`:                `{"seconds":5}`,
		`{"seconds":-5.0}`:                   `{"seconds":-5}`,
		`{"has":"code"}`:                     `{"has":["code"]}`,
		`{"has":["code"],"from":"5.0"}`:      `{"from":"5.0","has":["code"]}`,
		`{"seconds":1.5}`:                    `{"seconds":1.5}`,
		`{"seconds":"1.5"}`:                  `{"seconds":"1.5"}`,
		`{"seconds":5.00000000000000000001}`: `{"seconds":5.00000000000000000001}`,
		`{"seconds":1e999999999}`:            `{"seconds":1e999999999}`,
		`{"seconds":1e-999999999}`:           `{"seconds":1e-999999999}`,
		`{"seconds":"0x5"}`:                  `{"seconds":"0x5"}`,
		`{"seconds":"1/1"}`:                  `{"seconds":"1/1"}`,
		`{"seconds":"five"}`:                 `{"seconds":"five"}`,
		`{"seconds":""}`:                     `{"seconds":""}`,
		`{"seconds":true}`:                   `{"seconds":true}`,
		`{"seconds":[5]}`:                    `{"seconds":[5]}`,
		`{"mailbox":5}`:                      `{"mailbox":5}`,
		`[]`:                                 `[]`,
		`"text"`:                             `"text"`,
	} {
		if got := string(c.lenient(json.RawMessage(sent))); got != want {
			t.Errorf("lenient(%s) = %s, want %s", sent, got, want)
		}
	}
}

// With a token the mailbox need not be named; over stdio, which has no tokens, it must.
func TestMailboxIsRequiredWithoutToken(t *testing.T) {
	for keepTokens, want := range map[bool]string{false: "", true: "mailbox is required."} {
		if got := newChecker(schemaOf[MailboxArgs](keepTokens)).check(json.RawMessage("{}")); got != want {
			t.Errorf("check({}) where the process keeps tokens (%t): got %q, want %q", keepTokens, got, want)
		}
	}
}

// Problems of the API are about the arguments of the tool, whatever the API calls them.
func TestFailuresNameArguments(t *testing.T) {
	for pointer, want := range map[string]string{"/localPart": "name", "/ttl": "ttlSeconds", "?wait": "seconds", "/from": "from", "?after": "after", "": ""} {
		f := failureOf((&apiclient.Response{Status: 422, Body: []byte(`{"code":"request.invalid","errors":[{"pointer":"` + pointer + `","message":"is wrong"}]}`)}).Err())
		if wanted := "Correct the arguments. " + want + " is wrong."; f.Message != wanted {
			t.Errorf("failure of the pointer %q: %q, want %q", pointer, f.Message, wanted)
		}
	}
}

// Arguments of any kind are either those of the schema, or refused with a sentence.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"seconds":5e0,"has":"code"}`, `{"seconds":"1e999"}`, `{"has":[null]}`, `{"seconds":1e-9999999999}`, `{"mailbox":{"a":1}}`, `null`, ``} {
		f.Add(seed)
	}
	c := newChecker(schemaOf[WaitMessageArgs](false))
	f.Fuzz(func(t *testing.T, arguments string) {
		var in WaitMessageArgs
		err := decode(json.RawMessage(arguments), c, &in)
		if err == nil && in.Seconds != 0 && (in.Seconds < secondsMin || in.Seconds > secondsMax) {
			t.Errorf("decode(%q) = %d seconds, want %d to %d", arguments, in.Seconds, secondsMin, secondsMax)
		}
		if f, ok := err.(*failure); err != nil && (!ok || f.Code != "request.invalid" || f.Message == "") {
			t.Errorf("decode(%q): %v, want request.invalid with a message", arguments, err)
		}
	})
}
