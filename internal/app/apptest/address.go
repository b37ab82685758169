package apptest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// handedOut holds the ports that FreeAddress has returned in this process.
var handedOut sync.Map

// FreeAddress returns a loopback address on which no process listened a moment ago. It returns no address twice, and none
// whose port the system may give to an outgoing connection before the caller listens on it: on Linux those start at 32768.
func FreeAddress(t testing.TB) string {
	t.Helper()
	const first, end = 10_000, 32_768
	for range 1000 {
		port := first + rand.IntN(end-first)
		if _, taken := handedOut.LoadOrStore(port, true); taken {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue // a process listens there
		}
		l.Close()
		return l.Addr().String()
	}
	t.Fatal("no free port was found")
	return ""
}
