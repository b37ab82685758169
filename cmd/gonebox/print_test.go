package main

import "testing"

func TestVisibleReplacesControlCharacters(t *testing.T) {
	if got := visible("12\x1b[31m\t\u202e34 é"); got != "12\ufffd[31m\ufffd\ufffd34 é" {
		t.Errorf("visible = %q, want each control character replaced", got)
	}
}
