package clients_test

import (
	"errors"
	"net/textproto"
	"testing"
)

// Each client makes, lists and deletes the fault rules of an account and of a project, and reads the transcripts of refused mails.
func TestClientsMakeFaultRules(t *testing.T) {
	web, server := serveProjects(t)
	inEachLanguage(t, "faults", func(t *testing.T, language string, run func(environ ...string) string) {
		for key, name := range map[string]string{projectKey: "key", "": "none"} {
			name += "-" + language
			compare := func(phase, want string) {
				t.Helper()
				if got := run("URL=http://"+web, "KEY="+key, "NAME="+name, "PHASE="+phase); got != want {
					t.Errorf("%s with the key %q, phase %s: got\n%swant\n%s", language, key, phase, got, want)
				}
			}
			compare("add", `true rcpt 451 4.3.2 Try again later admin@* 1 1 0 600 null false
message true 2 9 0.5 42 true null
true true 0 request.invalid
`)
			sendAs(t, server, name, "ada@shop.example", "111222") // no rule matches
			if err := trySendAs(server, name, "admin@shop.example", "333444"); codeOf(err) != 451 {
				t.Fatalf("%s with the key %q: the first mail to admin@shop.example as %s: error %v, want the rule's 451", language, key, name, err)
			}
			sendAs(t, server, name, "admin@shop.example", "333444")
			compare("read", `1 0 1 0 1 451 4.3.2 Try again later admin@shop.example true
true false admin@shop.example
1 fault.not_found
0 true
0
`)
		}
	})
}

// codeOf returns the code of the reply that an error of SMTP is, 0 if it is another one.
func codeOf(err error) int {
	var reply *textproto.Error
	if errors.As(err, &reply) {
		return reply.Code
	}
	return 0
}
