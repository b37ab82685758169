package compat_test

import "testing"

// TestMailTMClientRunsUnmodified runs the npm package @cemalgnlts/mailjs through flow.mjs.
func TestMailTMClientRunsUnmodified(t *testing.T) {
	t.Parallel()
	installed(t, "mailtm", "@cemalgnlts/mailjs")
	s := start(t, map[string]string{"compat.mailtm.addr": "127.0.0.1:0"})
	runFlow(t, "mailtm", "flow.mjs", s.MailTM, s.SMTP)
}
