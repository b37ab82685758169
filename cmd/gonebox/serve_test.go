package main

import (
	"strings"
	"testing"
)

func TestServeSaysWhereItDoesNotRun(t *testing.T) {
	for goos, runs := range map[string]bool{"linux": true, "darwin": true, "freebsd": true, "windows": false} {
		err := checkSystem(goos)
		if (err == nil) != runs || !runs && !strings.Contains(err.Error(), "serve does not run on Windows") {
			t.Errorf("checkSystem(%q) = %v, want an error that names Windows: %v", goos, err, !runs)
		}
	}
}
