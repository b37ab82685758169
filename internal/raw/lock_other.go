//go:build !unix

package raw

import (
	"fmt"
	"os"
	"runtime"
)

// lockExclusively fails: without flock two processes could write to the same folder.
func lockExclusively(*os.File) error {
	return fmt.Errorf("Gonebox keeps no data on %s: it needs the file locks of Unix", runtime.GOOS)
}
