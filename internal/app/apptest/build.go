package apptest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// programVariable names the environment variable with the path of a built gonebox. make test sets it, so that the
// program is linked once for all packages. It does not begin with GONEBOX_, since the program refuses unknown variables that do.
const programVariable = "TEST_PROGRAM"

// Program returns the path of the program under test: the one that TEST_PROGRAM names, or else one that is built
// from this checkout, once for each test binary. TestMain of the package must call RunLong, which removes it.
func Program(t testing.TB) string {
	t.Helper()
	path := os.Getenv(programVariable)
	if path == "" {
		var err error
		if path, err = builtProgram(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err != nil { // go test runs the tests again when a file that they looked at has changed
		t.Fatalf("the program under test: %v", err)
	}
	return path
}

// programDir is the folder of builtProgram, or "".
var programDir string

// builtProgram builds the program as it is released (see the Makefile), so that all builds of a run share what the build
// cache holds, and returns its path.
var builtProgram = sync.OnceValues(func() (path string, err error) {
	if programDir, err = os.MkdirTemp("", "gonebox-program-"); err != nil {
		return "", err
	}
	path = filepath.Join(programDir, "gonebox")
	build := exec.Command("go", "build", "-trimpath", "-o", path, "github.com/gonebox/gonebox/cmd/gonebox")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

// removeProgram removes what builtProgram built.
func removeProgram() {
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
}
