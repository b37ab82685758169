package apptest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// handedOut holds the ports that FreeAddress has returned in this process, and what reserves them.
var handedOut sync.Map

// FreeAddress returns a loopback address on which no process listened a moment ago. It returns no address twice, none that it has
// returned in another process that still runs, and none whose port the system may give to an outgoing connection before the caller listens
// on it: on Linux those start at 32768.
func FreeAddress(t testing.TB) string {
	t.Helper()
	const first, end = 10_000, 32_768
	for range 1000 {
		port := first + rand.IntN(end-first)
		if _, taken := handedOut.LoadOrStore(port, true); taken || !reserve(port) {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue // a process listens there
		}
		l.Close()
		return l.Addr().String()
	}
	t.Fatal("no free port was found in 1000 tries")
	return ""
}

// reserve keeps other test programs from handing out a port until this process ends, and reports whether none of them has. On Linux the name
// of a socket in the abstract namespace belongs to one process and leaves no file; elsewhere nothing is reserved.
func reserve(port int) bool {
	if runtime.GOOS != "linux" {
		return true
	}
	l, err := net.Listen("unix", fmt.Sprintf("@gonebox-test-port-%d", port))
	if err == nil {
		handedOut.Store(port, l) // the garbage collector would close it
	}
	return err == nil
}
