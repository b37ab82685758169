package main

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

func TestCommandsAreAudited(t *testing.T) {
	s := apptest.Start(t, apptest.Options{Set: map[string]string{"account.password.memory": "64KiB", "account.password.passes": "1"}})
	command := func(line string) string {
		t.Helper()
		got := gonebox(t, line+" --data-dir "+s.Dir)
		if got.code != exitOK || got.err != "" {
			t.Fatalf("%s: code %d, %s", line, got.code, got.err)
		}
		return got.out
	}
	command("user add ada@example.org")
	command("user set-plan ada@example.org plus")
	command("domain add extra.example.org")
	all := command("audit --json")
	for _, want := range []string{`"command"`, `"user.add"`, `"ada@example.org"`, `"user.set-plan"`, `"plus"`, `"domain.add"`} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is missing in %s", want, all)
		}
	}
	first := command("audit --limit 1")
	if !strings.Contains(first, "domain.add") || !strings.Contains(first, "More: --after aud_") {
		t.Errorf("%s", first)
	}
}
