package compat_test

import "testing"

// TestMailpitClientRunsUnmodified runs the npm package mailpit-api through the flows of flow.mjs.
func TestMailpitClientRunsUnmodified(t *testing.T) { runMailpit(t, "mailpit-api", "flow.mjs") }

// TestMailHogClientRunsUnmodified runs the npm package mailhog through the flow of mailhog.mjs.
func TestMailHogClientRunsUnmodified(t *testing.T) { runMailpit(t, "mailhog", "mailhog.mjs") }

// TestCypressCommandsRunUnmodified calls the commands of the npm package cypress-mailpit.
func TestCypressCommandsRunUnmodified(t *testing.T) {
	runMailpit(t, "cypress-mailpit", "cypress.mjs")
}

// TestWorkersInProjectsSeeNoForeignMail runs twelve workers with a hundred tests each, with mailpit-api and the calls of cypress-mailpit.
func TestWorkersInProjectsSeeNoForeignMail(t *testing.T) { runMailpit(t, "mailpit-api", "workers.mjs") }

func runMailpit(t *testing.T, client, script string) {
	t.Helper()
	t.Parallel()
	installed(t, "mailpit", client)
	s := start(t, map[string]string{"profile": "dev", "compat.mailpit.addr": "127.0.0.1:0"})
	runFlow(t, "mailpit", script, s.Mailpit, s.SMTP)
}
