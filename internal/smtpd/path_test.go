package smtpd_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/smtpd"
)

// FuzzPath checks that everything that parsePath accepts is a path by the grammar, and that its mailbox in brackets is parsed to the same
// mailbox.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		"<>", "<a@b>", "<a@b> SIZE=1", "<Postmaster>", "<@a,@b:c@d>", `<"a b"@c>`, `<"a"@c>`, `<"\"\\"@c>`, "<a@[1.2.3.4]>", "<a..b@c>",
		"<\xc3\xa4@\xc3\xb6.test>", "<\xff@b>", "<a@b..c>", "<a@-b>", `<""@a>`, "<a", "", "<@a:>", "<a@b>>", `<"@x>`,
	} {
		f.Add([]byte(seed))
	}
	g := newGrammar()
	f.Fuzz(func(t *testing.T, p []byte) {
		mailbox, rest, utf8, ok := smtpd.ParsePath(p)
		if !ok {
			return
		}
		if !bytes.HasPrefix(p, []byte("<")) || !bytes.HasSuffix(p, append([]byte(">"), rest...)) {
			t.Errorf("ParsePath(%q): the rest is %q, want it behind a path in angle brackets", p, rest)
		}
		if mailbox != "" && mailbox != "postmaster" && !g.address(mailbox) {
			t.Errorf("ParsePath(%q) = %q, want an address of RFC 5321, postmaster or nothing", p, mailbox)
		}
		if beyond := strings.ContainsFunc(mailbox, func(r rune) bool { return r > 0x7f }); beyond && !utf8 {
			t.Errorf("ParsePath(%q) = %q as ASCII, want it reported as UTF-8", p, mailbox)
		}
		again, rest, _, ok := smtpd.ParsePath([]byte("<" + mailbox + ">"))
		if !ok || again != mailbox || len(rest) != 0 {
			t.Errorf("ParsePath(%q) = %q, and ParsePath of that = %q, %t, want the same again", p, mailbox, again, ok)
		}
	})
}
