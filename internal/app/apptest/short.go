package apptest

import (
	"flag"
	"fmt"
	"testing"
)

// RunLong runs the tests of a package that takes long or needs more than Go; run is its m.Run with its setup. With
// -short it runs nothing, and prints what the tests need. TestMain exits with its result.
func RunLong(needs string, run func() int) (code int) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("-short leaves out these tests, which need", needs)
		return 0
	}
	defer removeProgram()
	return run()
}
