package main

import (
	"strings"
	"testing"
)

func TestDoctorPrintsOneLineForEachCheck(t *testing.T) {
	got := gonebox(t, "doctor --set dns.resolver=127.0.0.1:1 --set dns.timeout=1s --set smtp.addr=127.0.0.1:0 --set http.addr=127.0.0.1:0 --data-dir "+t.TempDir())
	if got.code != exitFailure || !strings.Contains(got.err, "1 check failed") {
		t.Errorf("a resolver that does not answer: %+v", got)
	}
	for line := range strings.Lines(got.out) {
		level, _, _ := strings.Cut(line, " ")
		if level != "ok" && level != "warning" && level != "failure" {
			t.Errorf("line %q", line)
		}
	}
	for _, text := range []string{"failure  resolver: ", "ok       data folder: ", "ok       PostgreSQL: "} {
		if !strings.Contains(got.out, "\n"+text) {
			t.Errorf("no line %q in\n%s", text, got.out)
		}
	}
	got = gonebox(t, "doctor --set smtp.max_size=never")
	if got.code != exitFailure || !strings.HasPrefix(got.out, "failure  configuration: ") {
		t.Errorf("an invalid configuration: %+v", got)
	}
}
