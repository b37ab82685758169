package app

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// Programs that differ in one octet have different numbers, and one that cannot be read has none.
func TestProgramsHaveNumbersOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	number := func(content string) (after int64) {
		file := filepath.Join(dir, content)
		if content != "" {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			file = filepath.Join(dir, "none")
		}
		synctest.Test(t, func(*testing.T) {
			program := newProgram(file)
			program()
			synctest.Wait()
			after = program()
		})
		return after
	}
	one := number("program 1")
	other := number("program 2")
	if one == 0 || other == 0 || one == other {
		t.Errorf("the numbers of two programs are %d and %d, want two that differ and are not 0", one, other)
	}
	if got := number(""); got != 0 {
		t.Errorf("the number of a program that cannot be read is %d, want 0", got)
	}
	if _, err := os.Stat(running); err == nil && fingerprint(running) == 0 {
		t.Errorf("the number of the running program is 0, want another")
	}
}
